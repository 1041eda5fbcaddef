"""Checks a plan's filters on single nodes, with the same result as the engines' queries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from search.domain.graph import Node
from search.domain.plan.parts import Filter

NAME = "name"
"""Name of the field that every node has."""


def meets(node: Node, filters: Iterable[Filter]) -> bool:
    """Return whether a node, with all its fields, meets every filter (`var` is ignored).

    A list meets a filter if any of its items does; a missing field never does. `=`, `in` and `contains` ignore the case
    of text. The other operators compare text bytewise, so that ISO dates are in the order of time. A number never
    equals a text.
    """
    return all(_any_meets(node.name if f.field == NAME else node.fields.get(f.field), f) for f in filters)


def _any_meets(value: Any, condition: Filter) -> bool:
    if value is None:
        return False
    items = value if isinstance(value, list) else [value]
    return any(_meets(item, condition.op, condition.value) for item in items)


def _meets(item: str | int | float, op: str, value: Any) -> bool:
    if op == "in":
        return any(_meets(item, "=", one) for one in value)
    if op == "between":
        return _meets(item, ">=", value[0]) and _meets(item, "<=", value[1])
    if isinstance(item, str) != isinstance(value, str):
        return False
    if isinstance(item, str) and op in ("=", "contains"):
        return item.lower() == value.lower() if op == "=" else value.lower() in item.lower()
    return _in_order(item, op, value)


def _in_order(item: Any, op: str, value: Any) -> bool:
    one, other = (item.encode(), value.encode()) if isinstance(item, str) else (item, value)
    if op == "=":
        return bool(one == other)
    if op in ("<", "<="):
        return bool(one < other or (op == "<=" and one == other))
    return bool(one > other or (op == ">=" and one == other))
