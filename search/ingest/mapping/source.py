"""A folder of plain files with a mapping, as a source of an import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from search.ingest.faults import BundleError, RowFault
from search.ingest.manifest import DeclaredField, parse_manifest
from search.ingest.mapping.convert import (
    KeysByValue,
    edge_converter,
    identifier,
    node_converter,
    node_edges_converter,
    value_nodes_converter,
)
from search.ingest.mapping.mapping import FileMapping, SourceMapping
from search.ingest.mapping.uses import FIELD_USES
from search.ingest.readers import BundleFile, columns_of, rows
from search.ingest.source import Converter, Source, Table
from search.ingest.text_formats import BadRow, Dialect


def mapped_source(folder: Path, mapping: SourceMapping) -> Source:
    """Return the source that the mapping describes.

    Raises BundleError with every fault if a file is missing or lacks a column that the mapping uses.
    """
    faults = [fault for file in mapping.files if file.role != "ignore" for fault in _faults(folder, file)]
    if faults:
        raise BundleError(f"The mapping does not fit the files: {faults[0]}", faults)
    content = orjson.dumps(mapping.to_json(), option=orjson.OPT_SORT_KEYS)
    manifest = parse_manifest({**mapping.about, "name": mapping.name}, content, open_types=True)
    nodes, edges = [], []
    keys = _keys_by_value(folder, mapping)
    for file in mapping.files:
        if file.role == "nodes":
            nodes.append(Table(
                opened(folder, file), convert=node_converter(file, mapping.types), declared=_declared(file),
                numbered=file.numbered, id_column=(file.used("id") or ("",))[0],
            ))  # fmt: skip
            if any(file.columns[name].makes for name in file.used("edge")):
                convert = value_nodes_converter(file)
                nodes.append(Table(opened(folder, file), convert=convert, numbered=file.numbered, of_values=True))
            if file.used("edge"):
                convert = node_edges_converter(file, mapping.relations, keys)
                edges.append(Table(
                    opened(folder, file), convert=convert, numbered=file.numbered, ends=_ends(file, mapping.relations),
                ))  # fmt: skip
        elif file.role == "edges":
            convert = edge_converter(file, mapping.relations, keys)
            edges.append(Table(opened(folder, file), convert=convert, ends=_ends(file, mapping.relations)))
    return Source(manifest, tuple(nodes), tuple(edges), label=str(folder), mapping=mapping.to_json())


def opened(folder: Path, file: FileMapping) -> BundleFile:
    """Return the file as the mapping says it has to be read."""
    dialect = Dialect(file.delimiter, file.encoding, file.names, file.header, file.skip, file.below)
    format_ = "tsv" if file.format == "csv" and file.delimiter == "\t" else file.format
    return BundleFile(folder / file.path, format_, file.compression, dialect, name=file.path)


def _ends(file: FileMapping, relations: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return relation (empty: any) → the columns of source and target that faults of its edges name."""
    if file.role == "edges":
        return {"": (file.used("source")[0], file.used("target")[0])}
    found: dict[str, tuple[str, str]] = {}
    for name in file.used("edge"):
        column = file.columns[name]
        relation = relations.get(column.relation, column.relation)
        before = [one for one in found.get(relation, ("", "")) if one]
        called = "', '".join([*before, name])
        found[relation] = (called, "") if column.reverse else ("", called)
    return found


def _keys_by_value(folder: Path, mapping: SourceMapping) -> KeysByValue:
    """Return the function that gives the ids of a file's rows by their values in a column; each file is read once."""

    @cache
    def keys(path: str, column: str) -> dict[str, str]:
        file = mapping.file(path)
        found: dict[str, str] = {}
        if file is None or file.role != "nodes":
            return found
        numbered = Table(opened(folder, file), numbered=file.numbered, convert=_identified(file, column))
        for _, row in numbered.rows(lambda done: None):
            if isinstance(row, dict):
                found.setdefault(row["value"], row["id"])
        return found

    return keys


def _identified(file: FileMapping, column: str) -> Converter:
    """Return the function that gives the id of a row with its value in a column."""
    node = node_converter(file, {})

    def convert(row: dict[str, Any]) -> Iterator[dict[str, Any] | BadRow]:
        made, value = next(node(row)), identifier(row.get(column), "")
        if not isinstance(made, BadRow) and value:
            yield {"id": made["id"], "value": value.strip()}

    return convert


def _faults(folder: Path, file: FileMapping) -> Iterator[RowFault]:
    path = folder / file.path
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        yield RowFault(file.path, 0, "no_file", "There is no such file in the folder.")
        return
    try:
        _, first = next(rows(opened(folder, file), lambda done: None), (0, None))
    except BundleError as error:
        yield RowFault(file.path, 0, "unreadable", str(error))
        return
    left_out = columns_of(opened(folder, file)).left_out
    for name, sentence in left_out.items():
        if name in file.columns and file.columns[name].use != "ignore":
            yield RowFault(file.path, 0, "left_out_column", sentence)
    # A row of JSON lines may lack a column that a later row has; the columns of other formats are the same in all rows.
    if file.format != "jsonl" and first is not None and not isinstance(first, BadRow):
        for name, column in file.columns.items():
            if name not in first and name not in left_out and column.use != "ignore":
                has = ", ".join(list(first)[:20])
                yield RowFault(file.path, 1, "no_column", f"There is no column '{name}'; the file has {has}.")


def _declared(file: FileMapping) -> dict[str, DeclaredField]:
    """Return the kinds of the fields that the mapping sets; columns with the use `field` are inferred."""
    used = {name: column for name, column in file.columns.items() if column.use in FIELD_USES}
    return {
        column.name or name: DeclaredField(None if column.use == "field" else column.use, bool(column.separator))  # type: ignore[arg-type]
        for name, column in used.items()
    }
