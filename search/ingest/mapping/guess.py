"""Guesses a mapping from the first rows of the files, and says for each use why.

The guess is a proposal for a person: nothing is imported with it unless the person says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from search.ingest.manifest import BASE_NAME
from search.ingest.mapping.guess_columns import Guessed, guess_fields
from search.ingest.mapping.guess_roles import (
    END_NAMES,
    NAMES_AS_IDS,
    ends_of,
    id_column,
    name_column,
    relation_column,
    type_column,
)
from search.ingest.mapping.mapping import ColumnMapping, FileMapping, SourceMapping
from search.ingest.mapping.sniff import Sniffed, split_suffix

SINGULARS = {"movies": "movie", "people": "person", "persons": "person", "children": "child", "series": "series"}
"""Plurals that the rules for endings get wrong."""
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


def guess_mapping(called: str, files: Sequence[Sniffed]) -> tuple[SourceMapping, list[Reason]]:
    """Return the guessed mapping of the files, and the reasons in the order of the files' columns."""
    reasons: list[Reason] = []
    ends = {sniffed.file.path: ends_of(sniffed) for sniffed in files}
    nodes = [sniffed for sniffed in files if ends[sniffed.file.path] is None]
    known = {kind_of(sniffed.file.path): sniffed for sniffed in nodes}
    guessed = []
    for sniffed in files:
        found = ends[sniffed.file.path]
        guessed.append(_nodes(sniffed, known, reasons) if found is None else _edges(sniffed, found, reasons))
    return SourceMapping(base_name(called), tuple(_with_prefixes(guessed, files, reasons))), reasons


def base_name(called: str) -> str:
    """Return a valid name of a knowledge base made from the name of a folder or an upload."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", called).strip("-._")[:100]
    return name if BASE_NAME.fullmatch(name) else "imported"


def kind_of(path: str) -> str:
    """Return the name of the things in a file, from the file's name: `Movies.csv` holds `movie`."""
    stem = split_suffix(PurePosixPath(path).name)[0]
    word = re.sub(r"[^0-9a-z]+", "_", stem.lower()).strip("_") or "node"
    word = re.sub(r"_?(nodes?|vertices|entities|table|list|data)$", "", word) or "node"
    if word in SINGULARS:
        return SINGULARS[word]
    for plural, singular in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if word.endswith(plural) and len(word) > len(plural) + 1:
            return word.removesuffix(plural) + singular
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def _nodes(sniffed: Sniffed, known: dict[str, Sniffed], reasons: list[Reason]) -> FileMapping:
    path, kind = sniffed.file.path, kind_of(sniffed.file.path)
    columns: dict[str, ColumnMapping] = {}
    id_, because = id_column(sniffed, kind)
    is_name = because == NAMES_AS_IDS
    found: list[tuple[str, Guessed]] = []
    if id_:
        found.append((id_, Guessed(ColumnMapping("id"), because)))
    else:
        reasons.append(Reason(path, "", NUMBERED, because))
    type_, because = type_column(sniffed, id_)
    if type_:
        found.append((type_, Guessed(ColumnMapping("type"), because)))
    # A node without a name is called by its id, so a column of names that is the id is both.
    name, because = ("", "") if is_name else name_column(sniffed, kind, {id_, type_})
    if name:
        found.append((name, Guessed(ColumnMapping("name"), because)))
    reasons.append(Reason(path, "", "nodes", "no two of its columns look like the ends of edges"))
    if not type_:
        reasons.append(Reason(path, "", f"type '{kind}'", "the file's name says so"))
    taken = dict(found)
    for column in sniffed.columns:
        guess = taken.get(column) or guess_fields(sniffed, column, known, own=kind)
        columns[column] = guess.column
        reasons.append(Reason(path, column, guess.column.use, guess.because, guess.told))
    return replace(sniffed.file, role="nodes", type="" if type_ else kind, numbered=not id_, columns=columns)


def _edges(sniffed: Sniffed, ends: tuple[str, str, str], reasons: list[Reason]) -> FileMapping:
    path = sniffed.file.path
    source, target, because = ends
    reasons.append(Reason(path, "", "edges", because))
    relation, why = relation_column(sniffed, {source, target}, RELATION_LABELS)
    constant = ""
    if not relation:
        constant = re.sub(r"[^0-9a-z]+", "_", split_suffix(PurePosixPath(path).name)[0].lower()).strip("_") or "edge"
        constant = re.sub(r"_?(edges?|links?|relationships?|rels?)$", "", constant) or "related_to"
        reasons.append(Reason(path, "", f"relation '{constant}'", "the file's name says so"))
    taken = {
        source: Guessed(ColumnMapping("source"), because),
        target: Guessed(ColumnMapping("target"), because),
        relation: Guessed(ColumnMapping("relation"), why),
    }
    columns = {}
    for column in sniffed.columns:
        guess = taken.get(column) or guess_fields(sniffed, column, {}, own="")
        columns[column] = guess.column
        reasons.append(Reason(path, column, guess.column.use, guess.because, guess.told))
    return replace(sniffed.file, role="edges", relation=constant, columns=columns)


def _with_prefixes(files: list[FileMapping], sniffed: Sequence[Sniffed], reasons: list[Reason]) -> list[FileMapping]:
    """Give the ids of each file of nodes a prefix if the samples of two files share an id.

    The ends of edges get the prefix of the file whose kind their column names (`movie_id`); others are left to the
    person, and the reason says so.
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
    prefixes = {kind_of(path): f"{kind_of(path)}:" for path in samples}
    return [_prefixed(file, prefixes, reasons) for file in files]


def _prefixed(file: FileMapping, prefixes: dict[str, str], reasons: list[Reason]) -> FileMapping:
    columns = dict(file.columns)
    for name, column in columns.items():
        kind = kind_of(file.path) if column.use == "id" else _named_kind(name)
        if column.use not in ("id", "source", "target", "edge"):
            continue
        if prefix := prefixes.get(kind):
            columns[name] = replace(column, prefix=prefix)
            because = "two files of nodes share ids, so each file's ids get its own prefix"
        else:
            because = "two files of nodes share ids, and nothing says to which of them this column's ids belong: choose"
        reasons.append(Reason(file.path, name, f"prefix '{columns[name].prefix}'", because))
    return replace(file, columns=columns)


def _named_kind(column: str) -> str:
    """Return the kind of thing whose ids a column holds, from the column's name: `movieId` and `from_movie` → movie."""
    word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column).lower()
    word = re.sub(r"_?(ids?|key|ref|uuid)$", "", word)
    for ends in END_NAMES:
        for begin in ends:
            word = word.removeprefix(f"{begin}_")
    return kind_of(word) if word else ""
