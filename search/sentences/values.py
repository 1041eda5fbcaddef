"""Names of the schema, values with their units, orders and numbers in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from search.domain.graph import ANY, Relation
from search.language.units import unit_of_name, written_unit
from search.plan_words import AGGREGATE_WORDS, count_words, of_each_words, order_words, plural, value_words
from search.text import words

Json = Mapping[str, Any]
Relations = Mapping[str, Relation]

GROUPED = 10_000
"""From this number on, thousands are set apart: smaller ones may be years."""
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


def type_words(label: str) -> str:
    """Return a node type as words; any type is `anything`."""
    return "anything" if label in (ANY, "") else words(label)


def relation_words(name: str) -> str:
    """Return a relation as words; any relation is `any relation`."""
    return "any relation" if name in (ANY, "") else words(name)


def relation_wording(relation: Relation, direction: str) -> str:
    """Return a relation as seen from one of its ends, in the schema's wording if it has one."""
    return relation.wording(direction) or words(relation.name)


def value_text(value: Any) -> str:
    """Return a filter's value as text; nothing for a filter without a value."""
    return "" if value is None else value_words(value)


def amount_words(field: str, value: Any) -> tuple[str, str]:
    """Return a field in words and its value, which has the unit of the field: `weight_g`, 2180 → `weight`, `2180 g`."""
    name, unit = unit_of_name(field)
    is_amount = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_amount:
        return words(field), value_text(value)
    said = _grouped(value)
    return (name, f"{said} {written_unit(unit, one=value == 1)}") if unit else (words(field), said)


def shown_number(value: int | float) -> int | float:
    """Return a computed number with as many digits as a reader needs: six, and all of its whole part."""
    if isinstance(value, int) or value.is_integer():
        return int(value)
    return round(value) if abs(value) >= 1e6 else float(f"{value:.6g}")


def measured(field: str, value: Any) -> str:
    """Return a field with its value: `weight 2180 g`, `price not known`."""
    if value is None:
        return f"{unit_of_name(field)[0]} not known"
    return " ".join(amount_words(field, value))


def order_value(order: Json, value: Any, relations: Relations) -> str:
    """Return the value that orders an answer, in words: `founded 1836`, `is cited by 14`, `price not known`."""
    by = order["by"]
    if "field" in by:
        return measured(by["field"], value)
    count = by["count"]
    if count.get("function"):
        of = count["of"]
        if isinstance(of, str):
            said = measured(of, None if value is None else shown_number(value))
            return f"{AGGREGATE_WORDS[count['function']]} {said}"
        return f"{of_each_words(count, relations)} {'not known' if value is None else _grouped(shown_number(value))}"
    relation = relations.get(count["rel"])
    said = words(count["rel"]) if count["rel"] != "*" else "edges"
    if relation is not None:
        wording = relation.wording(count.get("direction"))
        said = wording or (f"{said} (incoming)" if count.get("direction") == "in" else said)
    return f"{said} {0 if value is None else _grouped(value)}"


def order_text(order: Json, relations: Relations) -> str:
    """Return an order in words: `founded, least first`, `number of products it makes, most first`."""
    said, count = order_words(order), order["by"].get("count")
    return ", ".join([count_words(count, relations), *said.split(", ")[1:]]) if count else said


def types_words(labels: Sequence[str], count: int) -> str:
    """Return the types of an answer in words, in the plural unless there is one: `products`, `paper or author`."""
    if not labels or ANY in labels:
        return "thing" if count == 1 else "things"
    return " or ".join(type_words(label) if count == 1 else plural(type_words(label)) for label in labels)


def counted(count: int, noun: str) -> str:
    """Return a number of things as a sentence begins with it: `Two tents`, `1,200 papers`."""
    return f"{_NUMBERS[count] if count < len(_NUMBERS) else f'{count:,}'} {noun}"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: `A, B and C`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _grouped(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and abs(value) >= GROUPED else f"{value}"
