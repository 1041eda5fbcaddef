"""Reads the cells of mapped files: their values, lists, numbers and dates."""

from __future__ import annotations

from typing import Any

import orjson

from search.ingest.fields import MISSING_HINT, is_missing, number_hint, scalar, to_number, value_fault
from search.ingest.formats import number_reader, read_date
from search.ingest.mapping.amounts import number_in, unit_word
from search.ingest.mapping.mapping import ColumnMapping

SHOWN = 60
"""Most characters of a cell that a message shows."""


def shown_value(cell: Any, column: ColumnMapping) -> str:
    """Return a cell as a field holds it, for people: `27.808` → `27,808`; a sentence if it does not fit."""
    try:
        value = value_of(cell, column)
    except ValueError as error:
        return f"{error}."
    items = value if isinstance(value, list) else [value]
    return " · ".join(_for_people(item, str(cell), column.unit) for item in items)


def _for_people(value: Any, cell: str, unit: str) -> str:
    if not isinstance(value, int | float):
        return str(value)
    # A year has no comma: digits alone stay as they are.
    digits = cell if cell.isdecimal() else f"{value:,}"
    return f"{digits} {unit_word(unit)}" if unit else digits


def value_of(cell: Any, column: ColumnMapping) -> Any:
    """Return the value, or the list of values, in a cell of a field; ValueError with what is wrong."""
    if type(cell) is str and not column.separator and cell[:1] != "[":
        return _one(cell, column)
    items = items_of(cell, column)
    if column.separator or isinstance(cell, list) or len(items) != 1 or items[0] != cell:
        return [_one(item, column) for item in items]
    return _one(items[0], column)


def _one(item: Any, column: ColumnMapping) -> Any:
    """Return a value as a field holds it; ValueError with what is wrong."""
    value = scalar(item)
    if value is None:
        raise ValueError(f"expected a text or a number, found {shown(item)}")
    use = column.use
    if use == "number" and isinstance(value, str):
        return _number(number_in(value, column.unit) if column.unit else value, column.numbers)
    if use == "date":
        if column.dates and isinstance(value, str):
            return read_date(value, column.dates)
        if wrong := value_fault(value, "date"):
            raise ValueError(wrong)
    return str(value) if use in ("text", "keyword", "date") else value


def _number(value: str, written: str) -> int | float:
    try:
        return number_reader(written)(value) if written else to_number(value)
    except ValueError:
        if written:
            as_in = f"{shown(value)} is not a number as in {written}"
            raise ValueError(as_in + (MISSING_HINT if is_missing(value) else "")) from None
        raise ValueError(f"{shown(value)} is not a number{number_hint(value)}") from None


def items_of(cell: Any, column: ColumnMapping) -> list[Any]:
    """Return the values in a cell; empty ones are left out."""
    if isinstance(cell, str):
        if column.separator:
            cell = [part.strip() for part in cell.split(column.separator)]
        elif cell[:1] == "[" and cell[-1:] == "]":
            try:
                cell = orjson.loads(cell)
            except orjson.JSONDecodeError:
                return [cell]
    if isinstance(cell, list):
        words = frozenset(column.missing)
        return [item for item in cell if item is not None and item != "" and not is_one_of(item, words)]
    return [] if cell is None or cell == "" else [cell]


def texts_of(cell: Any, column: ColumnMapping) -> list[str]:
    """Return the values in a cell as texts, without empty ones."""
    return [text for item in items_of(cell, column) if (text := text_of(item))]


def text_of(cell: Any) -> str:
    """Return a cell as a text, an empty one if it holds no value."""
    value = scalar(cell)
    return "" if value is None else str(value).strip()


def shown(value: Any) -> str:
    """Return a cell as a message shows it."""
    return "the cell is empty" if value is None or value == "" else repr(value)[:SHOWN]


def is_one_of(cell: Any, words: frozenset[str]) -> bool:
    """Whether a cell holds one of the words."""
    return type(cell) is str and (cell in words or cell.strip() in words)
