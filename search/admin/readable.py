"""readable: JSON values as tables for people, in the place of brackets and quotation marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from search.admin.job_values import text_of
from search.admin.parts import table
from search.glossary import plain_name

MOST_ROWS = 30
MOST_COLUMNS = 8
DEEPEST = 3
"""Tables inside of one another; what lies deeper is counted."""


def readable(value: Any, deep: int = DEEPEST) -> SafeString | str:
    """Return a value as text, or as a table if it holds others: a row for each entry, a column for each shared name."""
    if isinstance(value, Mapping) and value:
        if _same_shape(value.values()):
            return _records(list(value.items()), deep)
        return table(("Name", "Value"), _cut([(named(key), _inner(inner, deep)) for key, inner in value.items()]))
    if isinstance(value, list | tuple) and any(isinstance(one, Mapping | list | tuple) for one in value):
        if all(isinstance(one, Mapping) for one in value) and _same_shape(value, fewest=1):
            return _records([("", one) for one in value], deep)
        return table(("", "Value"), _cut([(str(at), _inner(one, deep)) for at, one in enumerate(value, 1)]))
    return text_of(value)


def named(key: Any) -> str:
    """Return a key as plain words; names with a point, such as `fuse.k`, and capitals, such as `MRR`, stay."""
    return plain_name(str(key).replace("_", " "))


def _records(rows: Sequence[tuple[str, Mapping[str, Any]]], deep: int) -> SafeString:
    columns = list(dict.fromkeys(key for _, one in rows for key in one))
    keyed = any(name for name, _ in rows)
    head = (*(("Name",) if keyed else ()), *map(named, columns))
    cells = [
        (*((named(name),) if keyed else ()), *(_inner(one.get(key), deep) for key in columns)) for name, one in rows
    ]
    return table(head, _cut(cells))


def _inner(value: Any, deep: int) -> SafeString | str:
    holds = isinstance(value, Mapping | list | tuple) and bool(value)
    if holds and isinstance(value, list | tuple) and not any(isinstance(one, Mapping | list | tuple) for one in value):
        return text_of(value)
    if not holds:
        return text_of(value)
    if deep <= 1:
        return f"{len(value)} values"
    return format_html("<details><summary>{} values</summary>{}</details>", len(value), readable(value, deep - 1))


def _same_shape(values: Iterable[Any], fewest: int = 2) -> bool:
    """Whether the values are objects with few names in all, so that these can be the columns of one table."""
    found = list(values)
    if len(found) < fewest or not all(isinstance(one, Mapping) and one for one in found):
        return False
    return len({key for one in found for key in one}) <= MOST_COLUMNS


def _cut(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    more = len(rows) - MOST_ROWS
    return rows if more <= 0 else [*rows[:MOST_ROWS], (f"and {more:,} more",)]
