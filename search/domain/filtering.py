"""Checks a plan's filters on single nodes, with the same result as the engines' queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from search.domain.graph import Node
from search.domain.ordering import Value
from search.domain.plan.parts import NEGATED, FieldOf, Filter

NAME = "name"
"""Name of the field that every node has."""


def meets(node: Node, filters: Iterable[Filter]) -> bool:
    """Return whether a node, with all its fields, meets every filter (`var` is ignored).

    A list meets a filter if any of its items does; a missing field never does. `=`, `in` and `contains` ignore the case
    of text. The other operators compare text bytewise, so that ISO dates are in the order of time. A number never
    equals a text. `!=`, `not in`, `not contains` and `missing` are met exactly where `=`, `in`, `contains` and `exists`
    are not: also by a node without the field. A comparison with another node's field and a count are not checked here.
    """
    own = (one for one in filters if not isinstance(one.value, FieldOf) and one.count is None)
    return all(_holds(node, condition) for condition in own)


def counts_fit(condition: Filter, number: Value | None) -> bool:
    """Return whether a number of neighbours, or what is computed from them, meets a filter on a count.

    Where nothing can be computed, None, no filter is met.
    """
    if number is None:
        return False
    op = NEGATED.get(condition.op, condition.op)
    return _meets(number, op, condition.value) != (condition.op in NEGATED)


def _holds(node: Node, condition: Filter) -> bool:
    value = node.name if condition.field == NAME else node.fields.get(condition.field)
    return holds_of_any([] if value is None else value if isinstance(value, list) else [value], condition)


def holds_of_any(items: Sequence[Any], condition: Filter) -> bool:
    """Return whether the values of a field, none if it is missing, meet a filter that has a value of its own."""
    op = NEGATED.get(condition.op, condition.op)
    found = bool(items) if op == "exists" else any(_meets(item, op, condition.value) for item in items)
    return found != (condition.op in NEGATED)


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
