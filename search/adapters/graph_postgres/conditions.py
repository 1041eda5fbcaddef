"""Filters on a node's fields as SQL, and the parameters of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from search.domain.plan import Filter

NAME = "name"
"""The field that every node has, stored in a column of its own."""


class Parameters:
    """Collects the values of a statement, each under its own name."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any, cast: str = "") -> str:
        """Add a value and return its placeholder, with a cast to the given type if there is one."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"%({name})s::{cast}" if cast else f"%({name})s"


def field_conditions(filters: Sequence[Filter], node: str, parameters: Parameters) -> list[str]:
    """Return one SQL condition for each filter, on the row `node` of the table of nodes.

    A list matches if any of its items does; a missing field never matches. `=`, `in` and `contains` ignore the case of
    text. The other operators compare text bytewise, so that ISO dates are in the order of time. A number never equals a
    text.
    """
    conditions = []
    for condition in filters:
        if condition.field == NAME:
            conditions.append(_item(condition, f"to_jsonb({node}.name)", parameters))
            continue
        value = f"{node}.fields -> {parameters.add(condition.field, 'text')}"
        items = f"CASE jsonb_typeof({value}) WHEN 'array' THEN {value} ELSE jsonb_build_array({value}) END"
        test = _item(condition, "item.value", parameters)
        conditions.append(f"EXISTS (SELECT FROM jsonb_array_elements({items}) AS item(value) WHERE {test})")
    return conditions


def _item(condition: Filter, item: str, parameters: Parameters) -> str:
    """Return the condition on one item, a jsonb scalar given as an SQL expression."""
    if condition.op == "in":
        tests = [_compare("=", value, item, parameters) for value in condition.value]
        return f"({' OR '.join(tests)})" if tests else "false"
    if condition.op == "between":
        low, high = condition.value
        return f"({_compare('>=', low, item, parameters)} AND {_compare('<=', high, item, parameters)})"
    return _compare(condition.op, condition.value, item, parameters)


def _compare(op: str, value: Any, item: str, parameters: Parameters) -> str:
    if isinstance(value, int | float):
        number = parameters.add(Decimal(repr(value)), "numeric")
        return f"CASE jsonb_typeof({item}) WHEN 'number' THEN ({item})::numeric {op} {number} ELSE false END"
    text = parameters.add(value, "text")
    stored = f"({item} #>> '{{}}')"
    if op == "contains":
        test = f"strpos(lower({stored}), lower({text})) > 0"
    elif op == "=":
        test = f"lower({stored}) = lower({text})"
    else:
        test = f'{stored} COLLATE "C" {op} {text}'
    return f"(jsonb_typeof({item}) = 'string' AND {test})"
