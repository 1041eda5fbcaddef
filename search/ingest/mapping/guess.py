"""Guesses a mapping from the first rows of the files, and says for each use why.

The guess is a proposal for a person: nothing is imported with it unless the person says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from search.ingest.manifest import BASE_NAME
from search.ingest.mapping.guess_columns import Guessed, guess_fields, is_text, refers
from search.ingest.mapping.guess_roles import (
    END_NAMES,
    NAMES_AS_IDS,
    ends_of,
    id_column,
    name_columns,
    relation_column,
    says_name,
    type_column,
)
from search.ingest.mapping.mapping import ColumnMapping, FileMapping, SourceMapping
from search.ingest.mapping.names_of_things import NO_NAME, kind_of, stem_word
from search.ingest.mapping.references import Key, Place, Reference, find_references, stem_of
from search.ingest.mapping.settle import settled
from search.ingest.mapping.sniff import Sniffed

NUMBERED = "numbered rows"
"""The use of a file whose rows are numbered, in its reason."""
RELATION_LABELS = 200
"""Most different values of a column that is taken for the relation of edges."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a column (empty: the file) got its use; `told` is what the report of an import says of the column."""

    file: str
    column: str
    use: str
    because: str
    told: str = ""

    def __str__(self) -> str:
        where = f"{self.file}, column '{self.column}'" if self.column else self.file
        return f"{where}: {self.use}, because {self.because}."


def guess_mapping(called: str, given: Sequence[Sniffed]) -> tuple[SourceMapping, list[Reason]]:
    """Return the guessed mapping of the files, and the reasons in the order of the files' columns."""
    reasons: list[Reason] = []
    files = settled(given)
    keys, references = find_references(files)
    guessed = []
    for sniffed in files:
        path = sniffed.file.path
        found = {column: one for (where, column), one in references.items() if where == path}
        ends = ends_of(sniffed) or (None if path in keys else joined(sniffed, found))
        if ends is None:
            guessed.append(_nodes(sniffed, keys.get(path), found, reasons))
        else:
            guessed.append(_edges(sniffed, ends, found, reasons))
    return SourceMapping(base_name(called), tuple(_with_prefixes(guessed, files, references, reasons))), reasons


def joined(sniffed: Sniffed, found: Mapping[str, Reference]) -> tuple[str, str, str] | None:
    """Return the ends of a table that only joins rows of others: two references, no key, no names, no long texts."""
    if (
        len(found) != 2
        or says_name(sniffed)
        or any(is_text(sniffed, column) for column in sniffed.columns if column not in found)
    ):
        return None
    source, target = found
    return (
        source,
        target,
        f"'{source}' and '{target}' refer to rows of other tables, and the file has no own key",
    )


def base_name(called: str) -> str:
    """Return a valid name of a knowledge base made from the name of a folder or an upload."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", called).strip("-._")[:100]
    return name if BASE_NAME.fullmatch(name) else "imported"


def _nodes(
    sniffed: Sniffed, key: Key | None, references: Mapping[str, Reference], reasons: list[Reason]
) -> FileMapping:
    path, kind = sniffed.file.path, kind_of(sniffed.file.path)
    columns: dict[str, ColumnMapping] = {}
    others = {column for column, one in references.items() if one.key.sniffed.file.path != path}
    id_, because = id_column(sniffed, kind, others if key is None or key.id not in others else others - {key.id})
    is_name = because == NAMES_AS_IDS
    found: list[tuple[str, Guessed]] = []
    if id_:
        found.append((id_, Guessed(ColumnMapping("id"), because)))
    else:
        reasons.append(Reason(path, "", NUMBERED, because))
    type_, because = type_column(sniffed, id_, mixed=kind == NO_NAME)
    if type_:
        found.append((type_, Guessed(ColumnMapping("type"), because)))
    # A node without a name is called by its id, so a column of names that is the id is both.
    names, because = ((), "") if is_name else name_columns(sniffed, kind, {id_, type_, *others})
    found += [(name, Guessed(ColumnMapping("name"), because)) for name in names]
    reasons.append(Reason(path, "", "nodes", "each row looks like one thing"))
    if not type_:
        reasons.append(Reason(path, "", f"type '{kind}'", "the file's name says so"))
    taken = dict(found)
    for column in sniffed.columns:
        guess = taken.get(column) or guess_fields(sniffed, column, kind, references.get(column))
        columns[column] = guess.column
        reasons.append(Reason(path, column, guess.column.use, guess.because, guess.told))
    return replace(sniffed.file, role="nodes", type="" if type_ else kind, numbered=not id_, columns=columns)


def _edges(
    sniffed: Sniffed, ends: tuple[str, str, str], references: Mapping[str, Reference], reasons: list[Reason]
) -> FileMapping:
    path = sniffed.file.path
    source, target, because = ends
    reasons.append(Reason(path, "", "edges", because))
    joins = source in references and target in references
    relation, why = relation_column(sniffed, {source, target}, RELATION_LABELS, named=joins)
    constant = ""
    if not relation:
        constant = re.sub(r"_?(edges?|links?|relationships?|rels?)$", "", stem_word(path)) or "related_to"
        reasons.append(Reason(path, "", f"relation '{constant}'", "the file's name says so"))
    taken = {relation: Guessed(ColumnMapping("relation"), why)}
    for column, use in ((source, "source"), (target, "target")):
        used = ColumnMapping(use)
        taken[column] = Guessed(refers(used, references[column]) if column in references else used, because)
    columns = {}
    for column in sniffed.columns:
        guess = taken.get(column) or guess_fields(sniffed, column, own="")
        columns[column] = guess.column
        reasons.append(Reason(path, column, guess.column.use, guess.because, guess.told))
    return replace(sniffed.file, role="edges", relation=constant, columns=columns)


def _with_prefixes(
    files: list[FileMapping], sniffed: Sequence[Sniffed], references: Mapping[Place, Reference], reasons: list[Reason]
) -> list[FileMapping]:
    """Give the ids of each file of nodes a prefix if the samples of two files share an id.

    References get the prefix of the file to whose rows they refer; others are left to the person, and the reason says
    so.
    """
    samples = {
        file.path: {str(value) for value in one.values(file.used("id")[0])}
        for file, one in zip(files, sniffed, strict=True)
        if file.role == "nodes" and file.used("id")
    }
    seen: set[str] = set()
    shared = False
    for ids in samples.values():
        shared = shared or bool(seen & ids)
        seen |= ids
    if not shared:
        return files
    prefixes = {path: f"{kind_of(path)}:" for path in samples}
    return [_prefixed(file, prefixes, references, reasons) for file in files]


def _prefixed(
    file: FileMapping, prefixes: Mapping[str, str], references: Mapping[Place, Reference], reasons: list[Reason]
) -> FileMapping:
    columns = dict(file.columns)
    for name, column in columns.items():
        if column.use not in ("id", "source", "target", "edge") or column.by:
            continue
        reference = references.get((file.path, name))
        path = file.path if column.use == "id" else reference.key.sniffed.file.path if reference else ""
        named = [one for one in prefixes if kind_of(one) == _named_kind(name)]
        if prefix := prefixes.get(path or (named[0] if named else "")):
            columns[name] = replace(column, prefix=prefix)
            because = "two files of entities share ids, so each file's ids get its own prefix"
        else:
            because = "two files of entities share ids, and nothing says which of them this column's ids mean: choose"
        reasons.append(Reason(file.path, name, f"prefix '{columns[name].prefix}'", because))
    return replace(file, columns=columns)


def _named_kind(column: str) -> str:
    """Return the kind of thing whose ids the end of an edge holds, from its name: `from_movie` → movie."""
    word = stem_of(column)
    for ends in END_NAMES:
        for begin in ends:
            word = word.removeprefix(f"{begin}_")
    return kind_of(word) if word else ""
