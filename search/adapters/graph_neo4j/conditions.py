"""Filters on a node's fields as Cypher, and the parameters of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from search.adapters.graph_neo4j.names import Names, folded, is_number, number, ordered
from search.domain.plan import FieldOf, Filter
from search.domain.plan.parts import NEGATED


class CypherParameters:
    """Collects the values of a statement, each under its own name."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any) -> str:
        """Add a value and return its placeholder."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"${name}"


def field_conditions(filters: Sequence[Filter], node: str, names: Names, parameters: CypherParameters) -> list[str]:
    """Return one Cypher condition for each filter that has a value of its own, on the node of the variable `node`.

    A list matches if any of its items does; a missing field never matches. `=`, `in` and `contains` ignore the case of
    text. The other operators compare text by code point. A number never equals a text. A negated operator holds exactly
    where the operator that it negates does not.
    """
    conditions = []
    for condition in filters:
        if isinstance(condition.value, FieldOf):
            continue
        prefix = names.field(condition.field)
        positive = Filter(condition.var, condition.field, NEGATED.get(condition.op, condition.op), condition.value)
        found = "false" if prefix is None else _condition(positive, f"{node}.{prefix}", parameters)
        conditions.append(_not(found) if condition.op in NEGATED else found)
    return conditions


def comparison(condition: Filter, node: str, other: str, names: Names) -> str:
    """Return the Cypher condition of a filter that compares a field of `node` with one of `other`.

    It holds if any item of the one compares so with any item of the other; `!=` holds exactly where `=` does not.
    """
    op = NEGATED.get(condition.op, condition.op)
    one, two = names.field(condition.field), names.field(condition.value.field)
    found = "false"
    if one is not None and two is not None:
        text = "t" if op == "=" else "s"
        tests = [
            f"any(one IN {node}.{one}{kind} WHERE any(two IN {other}.{two}{kind} WHERE one {op} two))"
            for kind in ("n", text)
        ]
        found = f"({' OR '.join(tests)})"
    return _not(found) if condition.op in NEGATED else found


def _not(found: str) -> str:
    """Return the negation of a condition that is null where the node lacks the field."""
    return f"NOT coalesce({found}, false)"


def _condition(condition: Filter, field: str, parameters: CypherParameters) -> str:
    if condition.op == "exists":
        return f"({field}s IS NOT NULL OR {field}n IS NOT NULL)"
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


def _both(field: str, low: Any, high: Any, parameters: CypherParameters) -> tuple[str, str]:
    kind = "n" if is_number(low) else "s"
    first, last = (number(low), number(high)) if kind == "n" else (ordered(low), ordered(high))
    return f"{field}{kind}", f"item >= {parameters.add(first)} AND item <= {parameters.add(last)}"


def _any(items: str, test: str) -> str:
    return f"any(item IN {items} WHERE {test})"
