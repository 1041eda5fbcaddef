"""Checks single rows: a row becomes a node, an edge, or an error with all its faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from search.domain.graph import FieldKind, FieldValue
from search.ingest.fields import scalar, value_fault

LONGEST_ID = 512
LONGEST_RELATION = 200
NODE_COLUMNS = frozenset(("id", "type", "name", "aliases", "url", "fields"))
EDGE_COLUMNS = frozenset(("source", "relation", "target", "properties"))
"""Columns of a bundle; in a table every other column is a field."""


class RowError(Exception):
    """All faults of a row, as (kind, message) pairs."""

    def __init__(self, *faults: tuple[str, str]) -> None:
        self.faults = faults
        super().__init__(" ".join(message for _, message in faults))


class NodeRow(NamedTuple):
    """A node as read from its row; `type` is the code of its node type."""

    id: str
    type: int
    name: str
    aliases: list[str]
    url: str
    fields: dict[str, FieldValue]


class EdgeRow(NamedTuple):
    """An edge as read from its row; `source` and `target` are node ids."""

    source: str
    relation: str
    target: str
    properties: dict[str, FieldValue] | None


@dataclass(frozen=True)
class RowChecker:
    """Reads nodes and edges from rows.

    `types` maps node types to codes. `declared` holds the declared kinds by type and field. `flat` is set for tables:
    every column except the standard ones is then a field, and a column `fields.price` is the field `price`. A cell of
    a table is text. It is empty if there is no value, and a JSON list if there are several.
    """

    types: dict[str, int]
    declared: Mapping[str, Mapping[str, FieldKind]]
    flat: bool = False

    def node(self, row: Mapping[str, Any]) -> NodeRow:
        """Return the node of a row; RowError with every fault of the row."""
        node = self._plain_node(row)
        return node if node is not None else self._checked_node(row)

    def _plain_node(self, row: Mapping[str, Any]) -> NodeRow | None:
        """Return the node of a simple row without any fault, or None if the full check is needed.

        Most rows are simple: id, type, name and text fields of undeclared kind. This fast path must accept a subset of
        the rows that `_checked_node` accepts, with the same result.
        """
        id_, type_, name, fields = row.get("id"), row.get("type"), row.get("name"), row.get("fields")
        if len(row) != 4 or type(id_) is not str or type(type_) is not str or type(name) is not str or self.flat:
            return None
        code = self.types.get(type_)
        if code is None or not id_ or len(id_) > LONGEST_ID // 4 or not name.strip() or "\0" in id_ or "\0" in name:
            return None
        if type(fields) is not dict or (fields and self.declared.get(type_)):
            return None
        for key, value in fields.items():
            if type(value) is not str or not value or "\0" in value or "\0" in key:
                return None
        return NodeRow(id_, code, name, [], "", fields)

    def _checked_node(self, row: Mapping[str, Any]) -> NodeRow:
        faults: list[tuple[str, str]] = []
        id_ = _identifier(row.get("id"), "id", faults)
        type_ = self._label(row, "type")
        code = self.types.get(type_) if isinstance(type_, str) else None
        if code is None:
            faults.append(("unknown_type", f"Unknown type {type_!r}; kb.json lists the known ones."))
        name = self._label(row, "name")
        if not isinstance(name, str) or not name.strip():
            faults.append(("no_name", f"The entity {id_!r} has no name."))
        elif "\0" in name:
            faults.append(("nul", "The name contains a NUL character, which Postgres cannot store."))
        aliases = self._aliases(row.get("aliases"), faults)
        url = row.get("url") or ""
        if not isinstance(url, str) or "\0" in url:
            faults.append(("bad_url", "'url' has to be a text."))
        fields = self._fields(row, faults)
        if code is not None:
            _check_kinds(fields, self.declared.get(type_ or "", {}), faults)
        if faults:
            raise RowError(*faults)
        assert code is not None
        return NodeRow(id_, code, str(name), aliases, str(url), fields)

    def edge(self, row: Mapping[str, Any]) -> EdgeRow:
        """Return the edge of a row; RowError with every fault. Whether the ends exist is checked elsewhere."""
        faults: list[tuple[str, str]] = []
        source = _identifier(row.get("source"), "source", faults)
        target = _identifier(row.get("target"), "target", faults)
        relation = self._label(row, "relation")
        if not isinstance(relation, str) or not relation.strip():
            faults.append(("no_relation", "The row names no relation."))
        elif "\0" in relation or len(relation.encode()) > LONGEST_RELATION:
            faults.append(("bad_relation", f"A relation has at most {LONGEST_RELATION} bytes and no NUL character."))
        properties = None
        if len(row) > 3:
            given = _object(row, "properties", faults)
            if self.flat:
                given |= {
                    column.removeprefix("properties."): number_or_text(_cell(row[column]))
                    for column in row if column not in EDGE_COLUMNS
                }  # fmt: skip
            else:
                given |= {column: row[column] for column in row if column not in EDGE_COLUMNS}
            properties = _values(given, "property", faults) or None
        if faults:
            raise RowError(*faults)
        return EdgeRow(source, str(relation), target, properties)

    def _label(self, row: Mapping[str, Any], column: str) -> Any:
        """Return the value of a column of texts; a table with typed columns may hold numbers there."""
        value = row.get(column)
        return str(value) if self.flat and type(value) in (int, float) else value

    def _aliases(self, value: Any, faults: list[tuple[str, str]]) -> list[str]:
        if not value:
            return []
        if isinstance(value, str):
            listed = _cell(value)
            value = listed if isinstance(listed, list) else [part.strip() for part in value.split("|")]
        if not isinstance(value, list) or not all(isinstance(alias, str) and "\0" not in alias for alias in value):
            faults.append(("bad_alias", "'aliases' has to be a list of texts."))
            return []
        return [alias for alias in dict.fromkeys(value) if alias.strip()]

    def _fields(self, row: Mapping[str, Any], faults: list[tuple[str, str]]) -> dict[str, FieldValue]:
        given = row.get("fields") or {}
        if type(given) is not dict:
            given = _object(row, "fields", faults)
        if self.flat:
            given = given | {
                column.removeprefix("fields."): _cell(row[column]) for column in row if column not in NODE_COLUMNS
            }
        return _values(given, "field", faults) if given else {}


def unread_columns(row: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of a JSON node that are ignored."""
    return frozenset(row) - NODE_COLUMNS


def _identifier(value: object, column: str, faults: list[tuple[str, str]]) -> str:
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str) or not value:
        faults.append((f"no_{column}", f"'{column}' has to be a text that is not empty, found {value!r}."))
        return ""
    if len(value) * 4 > LONGEST_ID and (size := len(value.encode())) > LONGEST_ID:
        faults.append(("long_id", f"'{column}' has {size} bytes, at most {LONGEST_ID} are allowed: {value[:60]!r}…"))
    if "\0" in value:
        faults.append(("nul", f"'{column}' contains a NUL character, which Postgres cannot store."))
    return value


def _object(row: Mapping[str, Any], column: str, faults: list[tuple[str, str]]) -> dict[str, Any]:
    value = row.get(column)
    if isinstance(value, str) and value:
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            value = None
    if not value and row.get(column) in (None, "", {}):
        return {}
    if isinstance(value, dict):
        return dict(value)
    faults.append((f"bad_{column}", f"'{column}' has to be an object."))
    return {}


def _cell(value: Any) -> Any:
    """Return the value of a table's cell: the list if the cell is a JSON list, otherwise the cell unchanged."""
    if isinstance(value, str) and value[:1] == "[" and value[-1:] == "]":
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def number_or_text(value: Any) -> Any:
    """Return the number if the value is the canonical spelling of one, otherwise the value unchanged."""
    if isinstance(value, str) and value_fault(value, "number") is None and str(_parsed(value)) == value:
        return _parsed(value)
    return value


def _parsed(value: str) -> int | float:
    return int(value) if value.lstrip("-").isdecimal() else float(value)


def _values(given: Mapping[str, Any], what: str, faults: list[tuple[str, str]]) -> dict[str, FieldValue]:
    values: dict[str, FieldValue] = {}
    for name, value in given.items():
        if type(value) is str:
            if "\0" in value or "\0" in name:
                faults.append(("nul", f"The {what} '{name}' contains a NUL character, which Postgres cannot store."))
            elif value:
                values[name] = value
            continue
        fitted: Any = _several(value) if isinstance(value, list) else scalar(value)
        if value is None or fitted == []:
            continue
        if fitted is None or "\0" in name or (isinstance(fitted, str | list) and "\0" in fitted):
            faults.append(
                (
                    "bad_value",
                    f"The {what} '{name}' has to be a text, a number or a list of these, found {value!r:.80}.",
                )
            )
        else:
            values[name] = fitted
    return values


def _several(items: list[Any]) -> list[Any] | None:
    """Return the non-empty items of a list, or None if an item is not a scalar or contains a NUL character."""
    kept = [scalar(item) for item in items if item is not None and item != ""]
    return None if any(item is None or (isinstance(item, str) and "\0" in item) for item in kept) else kept


def _check_kinds(
    fields: Mapping[str, FieldValue], declared: Mapping[str, FieldKind], faults: list[tuple[str, str]]
) -> None:
    for name, kind in declared.items():
        if kind in ("number", "date") and name in fields and (wrong := value_fault(fields[name], kind)):
            faults.append(("bad_value", f"The field '{name}' is declared as {kind}, but {wrong}."))
