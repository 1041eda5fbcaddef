"""Converts the rows of a mapped file into nodes and edges as a bundle in JSON lines has them.

A cell of a text file is text; it is empty where there is no value, and so is one that holds a word of `missing`. A cell
with a separator is split into a list, and a cell without one is a list if it is written as a JSON list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from search.ingest.faults import BAD_VALUE
from search.ingest.mapping.cells import is_one_of, items_of, shown, text_of, texts_of, value_of
from search.ingest.mapping.mapping import ColumnMapping, FileMapping
from search.ingest.mapping.uses import FIELD_USES
from search.ingest.rows import number_or_text
from search.ingest.source import ROW_NUMBER
from search.ingest.text_formats import BadRow, PartRow, ValueRow

Row = dict[str, Any]
FieldsReader = Callable[[Row], tuple[Row, list[str], list[str]]]
KeysByValue = Callable[[str, str], Mapping[str, str]]
"""A function: path of a file and one of its columns → the ids of its rows by their values there."""
LABEL_SEPARATOR = ";"
"""Separates the labels of a node where the mapping gives no separator, as in neo4j-admin's files."""


def node_converter(file: FileMapping, types: Mapping[str, str]) -> Callable[[Row], Iterator[Row | BadRow]]:
    """Return the function that turns a row into one node, or into one BadRow with all faults of its cells."""
    if file.numbered:
        id_column, prefix, unnamed = ROW_NUMBER, f"{file.stem}/", ""
    else:
        (id_column,) = file.used("id")
        prefix = unnamed = file.columns[id_column].prefix
    type_of = _type_reader(file, types)
    names, aliases, urls = file.used("name"), file.used("aliases"), file.used("url")
    fields = _fields_reader(file)
    emptied = _missing_reader(file)

    def convert(row: Row) -> Iterator[Row | BadRow]:
        row = emptied(row)
        id_ = identifier(row.get(id_column), prefix)
        if id_ is None:
            yield BadRow("no_id", f"Column '{id_column}' holds no id: {shown(row.get(id_column))}.")
            return
        type_ = type_of(row)
        if not type_:
            yield BadRow("no_type", f"Column '{', '.join(file.used('type'))}' is empty, so it has no type.", id_)
            return
        values, faults, lost = fields(row)
        if faults:
            yield BadRow(BAD_VALUE, " ".join(faults), id_)
            return
        name = " ".join(text for column in names if (text := text_of(row.get(column))))
        node = {"id": id_, "type": type_, "name": name or id_.removeprefix(unnamed), "fields": values}
        if aliases and (listed := [a for column in aliases for a in texts_of(row.get(column), file.columns[column])]):
            node["aliases"] = listed
        if urls and (url := text_of(row.get(urls[0]))):
            node["url"] = url
        yield PartRow(node, lost) if lost else node

    return convert


def edge_converter(
    file: FileMapping, relations: Mapping[str, str], keys: KeysByValue
) -> Callable[[Row], Iterator[Row | BadRow]]:
    """Return the function that turns a row of a file of edges into one edge, or into one BadRow."""
    (source,), (target,) = file.used("source"), file.used("target")
    readers = [(column, _end_reader(file.columns[column], keys)) for column in (source, target)]
    relation_column = (file.used("relation") or ("",))[0]
    fields = _fields_reader(file)
    plain = not any(column.use in FIELD_USES for column in file.columns.values())
    emptied = _missing_reader(file)

    def convert(row: Row) -> Iterator[Row | BadRow]:
        row = emptied(row)
        ends = [read(row.get(column)) for column, read in readers]
        if None in ends:
            empty = source if ends[0] is None else target
            yield BadRow("no_end", f"Column '{empty}' holds no id: {shown(row.get(empty))}.")
            return
        relation = text_of(row.get(relation_column)) or file.relation
        if not relation:
            yield BadRow("no_relation", f"Column '{relation_column}' is empty, so the relation has no name.")
            return
        edge: Row = {"source": ends[0], "relation": relations.get(relation, relation), "target": ends[1]}
        if not plain:
            values, faults, lost = fields(row)
            if faults:
                yield BadRow(BAD_VALUE, " ".join(faults))
                return
            if values:
                edge["properties"] = values
            if lost:
                edge = PartRow(edge, lost)
        yield edge

    return convert


def node_edges_converter(
    file: FileMapping, relations: Mapping[str, str], keys: KeysByValue
) -> Callable[[Row], Iterator[Row | BadRow]]:
    """Return the function that turns a row of a file of nodes into the edges that its columns hold.

    A row that gives no node gives no edge either: the reading of the nodes tells its fault.
    """
    node = node_converter(file, {})
    used = [(name, file.columns[name], _end_reader(file.columns[name], keys)) for name in file.used("edge")]
    emptied = _missing_reader(file)

    def convert(row: Row) -> Iterator[Row | BadRow]:
        row = emptied(row)
        made = next(node(row))
        if isinstance(made, BadRow):
            return
        id_ = made["id"]
        for name, column, end in used:
            relation = relations.get(column.relation, column.relation)
            for item in items_of(row.get(name), column):
                other = end(item)
                if other is None:
                    yield BadRow("no_end", f"Column '{name}' holds no id: {shown(item)}.")
                else:
                    source, target = (other, id_) if column.reverse else (id_, other)
                    yield {"source": source, "relation": relation, "target": target}

    return convert


def value_nodes_converter(file: FileMapping) -> Callable[[Row], Iterator[Row | BadRow]]:
    """Return the function that turns a row of a file of nodes into the nodes for which its values stand.

    A row that gives no node gives none of these either: the reading of the nodes tells its fault.
    """
    node = node_converter(file, {})
    used = [(name, file.columns[name]) for name in file.used("edge") if file.columns[name].makes]
    emptied = _missing_reader(file)

    def convert(row: Row) -> Iterator[Row | BadRow]:
        row = emptied(row)
        if isinstance(next(node(row)), BadRow):
            return
        for name, column in used:
            for item in items_of(row.get(name), column):
                if id_ := identifier(item, column.prefix):
                    yield ValueRow(id=id_, type=column.makes, name=text_of(item), fields={})

    return convert


def _end_reader(column: ColumnMapping, keys: KeysByValue) -> Callable[[Any], str | None]:
    """Return the function that gives the id that a cell of references means, None for a cell that holds none."""
    if not column.by:
        return lambda value: identifier(value, column.prefix)

    def read(value: Any) -> str | None:
        text = identifier(value, "")
        return None if text is None else keys(column.of, column.by).get(text.strip(), text)

    return read


def identifier(value: Any, prefix: str) -> str | None:
    """Return an id with its prefix, or None if the cell is empty or holds neither a text nor a whole number."""
    if type(value) is str:
        return prefix + value if value else None
    if type(value) is int:
        return f"{prefix}{value}"
    if isinstance(value, float) and value.is_integer():
        return f"{prefix}{int(value)}"
    return None


def labels_of(value: Any, separator: str) -> list[str]:
    """Return the labels in a cell of types."""
    if isinstance(value, list):
        return [str(label).strip() for label in value if label is not None and str(label).strip()]
    return [label for part in text_of(value).split(separator) if (label := part.strip())]


def _missing_reader(file: FileMapping) -> Callable[[Row], Row]:
    """Return the function that empties the cells of a row that hold a word for no value."""
    words = {name: frozenset(column.missing) for name, column in file.columns.items() if column.missing}
    if not words:
        return lambda row: row

    def read(row: Row) -> Row:
        empty = [name for name, column in words.items() if is_one_of(row.get(name), column)]
        return {**row, **dict.fromkeys(empty)} if empty else row

    return read


def _type_reader(file: FileMapping, types: Mapping[str, str]) -> Callable[[Row], str]:
    """Return the function that gives the type of a row; see `SourceMapping.types` for rows with several labels."""
    columns = file.used("type")
    default = types.get(file.type, file.type)
    if not columns:
        return lambda row: default
    (column,) = columns
    separator = file.columns[column].separator or LABEL_SEPARATOR
    order = {label: position for position, label in enumerate(types)}
    known: dict[str, str] = {}

    def read(row: Row) -> str:
        cell = row.get(column)
        if type(cell) is str and cell in known:
            return known[cell]
        labels = labels_of(cell, separator)
        chosen = min(labels, key=lambda label: order.get(label, len(order)), default="")
        found = types.get(chosen, chosen) or default
        if type(cell) is str and len(known) < 1_000:
            known[cell] = found
        return found

    return read


def _fields_reader(file: FileMapping) -> FieldsReader:
    """Return the function that gives the fields of a row, and sentences on the cells that do not fit their use.

    The first sentences make the row bad, the others are of cells that may be left empty.
    """
    used = [(name, column.name or name, column) for name, column in file.columns.items() if column.use in FIELD_USES]
    # Edges have no schema of fields, so the cells of tables become numbers here, as in a bundle.
    numbers = file.role == "edges" and file.format != "jsonl"

    def read(row: Row) -> tuple[Row, list[str], list[str]]:
        values: Row = {}
        faults: list[str] = []
        lost: list[str] = []
        for name, called, column in used:
            cell = row.get(name)
            if cell is None or cell == "":
                continue
            try:
                value = value_of(cell, column)
            except ValueError as error:
                (lost if column.lenient else faults).append(f"Column '{name}': {error}.")
                continue
            if value is not None and value != []:
                values[called] = number_or_text(value) if numbers and column.use == "field" else value
        return values, faults, lost

    return read
