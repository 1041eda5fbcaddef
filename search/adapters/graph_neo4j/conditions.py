"""Filters on a node's fields as Cypher, and the parameters of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from search.adapters.graph_neo4j.names import Names, folded, is_number, number, ordered
from search.domain.plan import Filter


class Parameters:
    """Collects the values of a statement, each under its own name."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any) -> str:
        """Add a value and return its placeholder."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"${name}"


def field_conditions(filters: Sequence[Filter], node: str, names: Names, parameters: Parameters) -> list[str]:
    """Return one Cypher condition for each filter, on the node that the variable `node` holds.

    A list matches if any of its items does; a missing field never matches. `=`, `in` and `contains` ignore the case of
    text. The other operators compare text by code point. A number never equals a text.
    """
    conditions = []
    for condition in filters:
        prefix = names.field(condition.field)
        conditions.append("false" if prefix is None else _condition(condition, f"{node}.{prefix}", parameters))
    return conditions


def _condition(condition: Filter, field: str, parameters: Parameters) -> str:
    if condition.op == "in":
        texts = [folded(value) for value in condition.value if isinstance(value, str)]
        numbers = [number(value) for value in condition.value if is_number(value)]
        tests = [_any(f"{field}t", f"item IN {parameters.add(texts)}")] if texts else []
        tests += [_any(f"{field}n", f"item IN {parameters.add(numbers)}")] if numbers else []
        return f"({' OR '.join(tests)})" if tests else "false"
    if condition.op == "between":
        low, high = condition.value
        if is_number(low) != is_number(high):
            return "false"
        return _any(*_both(field, low, high, parameters))
    value = condition.value
    if is_number(value):
        return _any(f"{field}n", f"item {condition.op} {parameters.add(number(value))}")
    if condition.op == "contains":
        return _any(f"{field}t", f"item CONTAINS {parameters.add(folded(value))}")
    if condition.op == "=":
        return _any(f"{field}t", f"item = {parameters.add(folded(value))}")
    return _any(f"{field}s", f"item {condition.op} {parameters.add(ordered(value))}")


def _both(field: str, low: Any, high: Any, parameters: Parameters) -> tuple[str, str]:
    kind = "n" if is_number(low) else "s"
    first, last = (number(low), number(high)) if kind == "n" else (ordered(low), ordered(high))
    return f"{field}{kind}", f"item >= {parameters.add(first)} AND item <= {parameters.add(last)}"


def _any(items: str, test: str) -> str:
    return f"any(item IN {items} WHERE {test})"
