"""Filters on a node's fields as SQL, and the parameters of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

from search.domain.plan import FieldOf, Filter
from search.domain.plan.parts import NEGATED

Column = Literal["fields", "properties"]
"""The column with the fields of a node, and that with the fields of an edge."""
NAME = "name"
"""The field that every node has, stored in a column of its own."""


class SqlParameters:
    """Collects the values of a statement, each under its own name."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any, cast: str = "") -> str:
        """Add a value and return its placeholder, with a cast to the given type if there is one."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"%({name})s::{cast}" if cast else f"%({name})s"


def field_conditions(
    filters: Sequence[Filter], node: str, parameters: SqlParameters, column: Column = "fields"
) -> list[str]:
    """Return one SQL condition for each filter that has a value of its own, on the row `node` of the table of nodes.

    With the column `properties` the row is one of the table of edges.

    A list matches if any of its items does; a missing field never matches. `=`, `in` and `contains` ignore the case of
    text. The other operators compare text bytewise, so that ISO dates are in the order of time. A number never equals a
    text. A negated operator holds exactly where the operator that it negates does not.
    """
    conditions = []
    for condition in filters:
        if isinstance(condition.value, FieldOf):
            continue
        op = NEGATED.get(condition.op, condition.op)
        if op == "exists":
            test = "jsonb_typeof(item.value) IN ('string', 'number')"
        else:
            test = _item(op, condition.value, "item.value", parameters)
        found = f"EXISTS (SELECT FROM {_items(condition.field, node, parameters, 'item', column)} WHERE {test})"
        conditions.append(f"NOT {found}" if condition.op in NEGATED else found)
    return conditions


def comparison(condition: Filter, node: str, other: str, parameters: SqlParameters) -> str:
    """Return the SQL condition of a filter that compares a field of the row `node` with one of the row `other`.

    It holds if any item of the one compares so with any item of the other; `!=` holds exactly where `=` does not.
    """
    op = NEGATED.get(condition.op, condition.op)
    one, two = (_items(condition.field, node, parameters, "one"),
                _items(condition.value.field, other, parameters, "two"))  # fmt: skip
    texts = ("(one.value #>> '{}')", "(two.value #>> '{}')")
    compared = f'{texts[0]} COLLATE "C" {op} {texts[1]}' if op != "=" else f"lower({texts[0]}) = lower({texts[1]})"
    kinds = "jsonb_typeof(one.value) || jsonb_typeof(two.value)"
    test = (
        f"CASE {kinds} WHEN 'numbernumber' THEN (one.value)::numeric {op} (two.value)::numeric "
        f"WHEN 'stringstring' THEN {compared} ELSE false END"
    )
    found = f"EXISTS (SELECT FROM {one}, {two} WHERE {test})"
    return f"NOT {found}" if condition.op in NEGATED else found


def _items(field: str, node: str, parameters: SqlParameters, alias: str, column: Column = "fields") -> str:
    """Return the FROM item that holds the items of a node's field, as jsonb scalars in the column `value`."""
    if field == NAME and column == "fields":
        return f"(VALUES (to_jsonb({node}.name))) AS {alias}(value)"
    value = f"{node}.{column} -> {parameters.add(field, 'text')}"
    items = f"CASE jsonb_typeof({value}) WHEN 'array' THEN {value} ELSE jsonb_build_array({value}) END"
    return f"jsonb_array_elements({items}) AS {alias}(value)"


def _item(op: str, value: Any, item: str, parameters: SqlParameters) -> str:
    """Return the condition on one item, a jsonb scalar given as an SQL expression."""
    if op == "in":
        tests = [_compare("=", one, item, parameters) for one in value]
        return f"({' OR '.join(tests)})" if tests else "false"
    if op == "between":
        low, high = value
        return f"({_compare('>=', low, item, parameters)} AND {_compare('<=', high, item, parameters)})"
    return _compare(op, value, item, parameters)


def _compare(op: str, value: Any, item: str, parameters: SqlParameters) -> str:
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
