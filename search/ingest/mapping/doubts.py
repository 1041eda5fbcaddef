"""What an import would make that is hardly meant, each with the changes of the mapping that would mend it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search.ingest.ends import NO_NODE
from search.ingest.faults import BAD_VALUE, DUPLICATE, FaultGroup
from search.ingest.mapping.guess_columns import guess_fields, reference_column
from search.ingest.mapping.guess_lists import parts_of, separator_of
from search.ingest.mapping.guess_roles import NAMES_AS_IDS, id_column, name_columns, plain
from search.ingest.mapping.mapping import ColumnMapping, FileMapping, SourceMapping
from search.ingest.mapping.names_of_things import kind_of
from search.ingest.mapping.references import Reference, find_references
from search.ingest.mapping.settle import settled
from search.ingest.mapping.sniff import Sniffed
from search.ingest.sample import Sample

DANGLING = 0.5
"""Share of a column's references without a node, from which on it is said first."""
MOST_MENDS = 6
"""Most columns whose values are offered as nodes."""
RECURRING = 1.5
"""Rows that each different value of a column has on average, from which on its values may be nodes."""


@dataclass(frozen=True)
class Change:
    """A change of the mapping: of a column, or of a file where the column is empty."""

    file: str
    column: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Mend:
    """What would mend a doubt, in words of a button, and the changes of the mapping."""

    label: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class MappingDoubt:
    """Something that is hardly meant; `kind` is a short identifier for programs, `message` a sentence for people."""

    kind: str
    file: str
    column: str
    message: str
    mends: tuple[Mend, ...] = ()


def doubts(files: Sequence[Sniffed], mapping: SourceMapping, found: Sample) -> list[MappingDoubt]:
    """Return what is doubtful in the sample of files with a mapping, the gravest first."""
    read = {one.file.path: one for one in settled(files)}
    _, references = find_references(list(read.values()))
    listed = [(file, read[file.path]) for file in mapping.files if file.path in read and file.role != "ignore"]
    groups = found.log.groups.listed()
    dangling = list(_dangling(listed, mapping, references, groups, found))
    return [
        *(dangling or _unrelated(listed, mapping, references, found)),
        *_open(listed),
        *_unnamed(listed),
        *_bad_cells(listed, groups),
    ]


def changed(mapping: Mapping[str, Any], changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a mapping's JSON with changes, as the JSON of `Change` has them."""
    files = []
    for file in mapping["files"]:
        own = [change for change in changes if change["file"] == file["path"]]
        columns = {name: dict(column) for name, column in file["columns"].items()}
        whole: dict[str, Any] = {}
        for change in own:
            if change["column"]:
                columns[change["column"]] = dict(change["values"])
            else:
                whole |= change["values"]
        files.append({**file, **whole, "columns": columns})
    return {**mapping, "files": files}


Listed = Sequence[tuple[FileMapping, Sniffed]]
References = Mapping[tuple[str, str], Reference]


def _referring(column: str, reference: Reference, mapping: SourceMapping) -> ColumnMapping:
    """Return the use of a column that refers to the rows of a table, whose ids have their prefix."""
    used = reference_column(column, reference)
    target = mapping.file(reference.key.sniffed.file.path)
    key = target.columns.get(reference.key.id) if target else None
    return used if used.by or key is None else replace(used, prefix=key.prefix)


def _unrelated(listed: Listed, mapping: SourceMapping, references: References, found: Sample) -> Iterator[MappingDoubt]:
    """Yield that no row is related to another."""
    if found.edges or not found.nodes:
        return
    mends = []
    for file, sniffed in listed:
        if file.role != "nodes":
            continue
        for name in sniffed.columns:
            used = file.columns.get(name)
            if used is None or used.use not in ("text", "keyword", "field", "number", "ignore"):
                continue
            if reference := references.get((file.path, name)):
                target = reference.key.sniffed.file.path
                change = Change(file.path, name, _referring(name, reference, mapping).to_json())
                mends.append(Mend(f"'{name}' leads to {target}", (change,)))
            elif used.use == "keyword" and (count := _values_as_nodes(sniffed, name)):
                made = Change(file.path, name, _made(sniffed, name))
                mends.append(Mend(f"Make entities of the {count} values of '{name}'", (made,)))
    told = (
        "There is not one relation: nothing leads from one entity to another, so questions can only be answered by the "
        "entities' own words."
    )
    yield MappingDoubt("no_relations", "", "", told, tuple(mends[:MOST_MENDS]))


def _values_as_nodes(sniffed: Sniffed, column: str) -> int:
    """Return the number of different values of a column if they come again in other rows, else 0."""
    items = _items(sniffed, column)
    different = len(set(items))
    return different if different > 1 and len(items) >= RECURRING * different else 0


def _items(sniffed: Sniffed, column: str) -> list[str]:
    values = sniffed.values(column)
    separator, _ = separator_of(values, sniffed.file.format)
    return [str(part) for value in values for part in parts_of(value, separator)]


def _made(sniffed: Sniffed, column: str) -> dict[str, Any]:
    separator, _ = separator_of(sniffed.values(column), sniffed.file.format)
    made = kind_of(plain(column))
    missing = list(sniffed.decision(column).missing)
    given = {"use": "edge", "relation": f"has_{made}", "makes": made, "prefix": f"{made}:", "separator": separator}
    return {key: value for key, value in (given | {"missing": missing}).items() if value}


def _dangling(
    listed: Listed, mapping: SourceMapping, references: References, groups: Sequence[FaultGroup], found: Sample
) -> Iterator[MappingDoubt]:
    """Yield the columns most of whose references have no node."""
    for file, sniffed in listed:
        for group in groups:
            if group.kind != NO_NODE or group.file != file.path or group.column not in file.columns:
                continue
            column = group.column
            each = len(_items(sniffed, column)) / max(1, len(sniffed.sample))
            others = sum(one.rows for one in groups if one.file == file.path and one.kind in (DUPLICATE, BAD_VALUE))
            total = max(group.rows, round((found.rows.get(file.path, 0) - others) * each))
            if group.rows < DANGLING * total:
                continue
            shown = ", ".join(dict.fromkeys(str(value) for value in sniffed.values(column)[:3]))
            which = f"{total:,} references in the column '{column}' ({shown})"
            told = "None" if group.rows == total else f"Only {total - group.rows:,}"
            message = f"{told} of the {which} {'leads' if group.rows == total else 'lead'} to an entity."
            yield MappingDoubt(
                "dangling", file.path, column, message, tuple(_leading(file, column, mapping, references))
            )


def _leading(file: FileMapping, column: str, mapping: SourceMapping, references: References) -> Iterator[Mend]:
    """Yield what would let the references of a column lead to nodes, or be read as values."""
    reference = references.get((file.path, column))
    used = file.columns[column]
    if reference and reference.prefix:
        key = reference.key
        path, before = key.sniffed.file.path, {"use": "id", "prefix": reference.prefix}
        others = [
            Change(where, name, replace(there.columns[name], prefix=reference.prefix).to_json())
            for (where, name), other in references.items()
            if other.key is key
            and not other.prefix
            and not other.by
            and (there := mapping.file(where))
            and there.columns[name].use in ("edge", "source", "target")
        ]
        own = Change(file.path, column, replace(used, prefix="").to_json())
        yield Mend(f"Put '{reference.prefix}' before the ids of {path}", (Change(path, key.id, before), own, *others))
    elif reference and (reference.by, reference.share) != (used.by, 0.0):
        target = reference.key.sniffed.file.path
        change = Change(
            file.path,
            column,
            replace(_referring(column, reference, mapping), relation=used.relation, use=used.use).to_json(),
        )
        if change.values != used.to_json():
            yield Mend(f"'{column}' leads to {target} by '{reference.by or reference.key.id}'", (change,))
    if file.role == "nodes":
        yield Mend("Read it as a field, not as a reference", (Change(file.path, column, {"use": "keyword"}),))


def _open(listed: Listed) -> Iterator[MappingDoubt]:
    """Yield the columns whose numbers or dates can be read in two ways, unless the mapping says which."""
    for file, sniffed in listed:
        for column, used in file.columns.items():
            decision = sniffed.decision(column)
            if not decision.choices or used.use not in ("text", "keyword"):
                continue
            mends = [
                Mend(f"{choice.example} → {choice.read}", (Change(file.path, column, chosen(sniffed, column, at)),))
                for at, choice in enumerate(decision.choices)
            ]
            message = f"The column '{column}' stays a text: {decision.open.partition(':')[0]}."
            yield MappingDoubt("two_ways", file.path, column, message, tuple(mends))


def chosen(sniffed: Sniffed, column: str, at: int) -> dict[str, Any]:
    """Return the mapping of a column with one of the ways in which its values can be read."""
    decision = sniffed.decision(column)
    choice = decision.choices[at]
    written = "" if choice.format in ("1234.5", "iso") else choice.format
    settled_one = replace(decision, kind=choice.kind, format=written, open="", choices=())
    settled_file = replace(sniffed, decisions={**sniffed.decisions, column: settled_one})
    return guess_fields(settled_file, column, own=kind_of(sniffed.file.path)).column.to_json()


def _unnamed(listed: Listed) -> Iterator[MappingDoubt]:
    """Yield the files of nodes that are called by an id that is no name."""
    for file, sniffed in listed:
        if file.role != "nodes" or file.used("name"):
            continue
        ids = file.used("id")
        kind = kind_of(file.path)
        if ids and id_column(sniffed, kind) == (ids[0], NAMES_AS_IDS):
            continue
        shown = [str(value) for value in sniffed.values(ids[0])[:2]] if ids else [f"{file.stem}/2", f"{file.stem}/3"]
        if not shown or (ids and all(" " in one for one in shown)):
            continue
        what = f"their '{ids[0]}'" if ids else "the number of their row"
        names, _ = name_columns(sniffed, kind, set(ids))
        free = [name for name in names if file.columns[name].use in ("text", "keyword", "field", "ignore")]
        mends = [Mend(f"Call them by '{name}'", (Change(file.path, name, {"use": "name"}),)) for name in free]
        message = f"The entities of {file.path} have no name: pages call them by {what}, such as {' and '.join(shown)}."
        yield MappingDoubt("no_name", file.path, ids[0] if ids else "", message, tuple(mends))


def _bad_cells(listed: Listed, groups: Sequence[FaultGroup]) -> Iterator[MappingDoubt]:
    """Yield the columns with cells that do not fit, and what may be done with their rows."""
    for file, _ in listed:
        for group in groups:
            used = file.columns.get(group.column)
            if group.kind != BAD_VALUE or group.file != file.path or used is None:
                continue
            rows = "1 row" if group.rows == 1 else f"{group.rows:,} rows"
            message = f"{rows} would be left out, because the cell in the column '{group.column}' does not fit."
            kept = Change(file.path, group.column, replace(used, lenient=True).to_json())
            text = Change(file.path, group.column, {"use": "keyword"})
            mends = (
                Mend("Keep the rows, leave these cells empty", (kept,)),
                Mend("Keep the whole column as texts", (text,)),
            )
            yield MappingDoubt("bad_cells", file.path, group.column, message, mends)
