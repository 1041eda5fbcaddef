"""Names of the schema, values with their units, orders and numbers in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from search.domain.graph import ANY
from search.language.reader import number, value_words
from search.plan_words import (
    AGGREGATE_WORDS,
    Relations,
    exclusion_words,
    field_words,
    is_dated,
    of_each_words,
    plural,
    relation_words,
    variables_of,
    verb_words,
)
from search.text import words

Json = Mapping[str, Any]

_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


def type_words(label: str) -> str:
    """Return a node type as words; any type is `anything`."""
    return "anything" if label in (ANY, "") else words(label)


def amount_words(field: str, value: Any, relations: Relations | None = None) -> tuple[str, str]:
    """Return a field in words and its value with its unit: `weight_g`, 2180 → `weight`, `2.18 kg`."""
    name, unit = field_words(field, relations)
    return name, value_words(value, unit, year=is_dated(name))


def shown_number(value: int | float) -> int | float:
    """Return a computed number with as many digits as a reader needs: six, and all of its whole part."""
    if isinstance(value, int) or value.is_integer():
        return int(value)
    return round(value) if abs(value) >= 1e6 else float(f"{value:.6g}")


def measured(field: str, value: Any, relations: Relations | None = None) -> str:
    """Return a field with its value: `weight 2.18 kg`, `price not known`."""
    if value is None:
        return f"{field_words(field)[0]} not known"
    return " ".join(amount_words(field, value, relations))


def order_value(order: Json, value: Any, relations: Relations) -> str:
    """Return the value that orders an answer, in words: `founded 1836`, `is cited by 14`, `price not known`."""
    by = order["by"]
    if "field" in by:
        return measured(by["field"], value, relations)
    count = by["count"]
    if count.get("function"):
        of, shown = count["of"], None if value is None else shown_number(value)
        if isinstance(of, str):
            return f"{AGGREGATE_WORDS[count['function']]} {measured(of, shown, relations)}"
        return f"{of_each_words(count, relations)} {'not known' if shown is None else number(shown)}"
    if count["rel"] == ANY:
        return f"relations {number(value or 0)}"
    said = relation_words(count["rel"], count.get("direction"), relations)
    if verb_words(count, relations) != said:
        return f"{number(value or 0)} {types_words([count['to_label']], value or 0)}"
    return f"{said} {number(value or 0)}"


def values_of(plan: Json, evidence: Json, relations: Relations) -> list[str]:
    """Return the values of a result that its plan orders by, shows and compares: `weight 2.18 kg`, `is cited by 14`."""
    order, placed, said = plan.get("order"), evidence.get("order"), {}
    if order and placed:
        said[order["by"].get("field", "")] = order_value(order, placed.get("value"), relations)
    elif plan.get("show") and evidence.get("value") is not None:
        said[plan["show"]] = measured(plan["show"], evidence["value"], relations)
    for field, value in evidence.get("values", {}).items():
        said.setdefault(field, measured(field, value, relations))
    return list(said.values())


def more_conditions(
    plan: Json, evidence: Json, relations: Relations | None = None
) -> Iterator[tuple[str, str, str, str]]:
    """Yield (kind, words, status, note) for the exclusions and the order of a plan, as a result's evidence has them."""
    variables = variables_of(plan)
    for checked in evidence.get("exclude", ()):
        pattern = plan["exclude"][checked["index"]]
        note = "checked: there is none" if checked["status"] == "met" else ""
        yield "exclude", f"not {exclusion_words(pattern, variables, relations)}", checked["status"], note
    placed = evidence.get("order")
    if placed and plan.get("order"):
        place = f"place {number(placed['place'])}" if placed["place"] else ""
        yield "order", order_value(plan["order"], placed["value"], relations or {}), placed["status"], place


def types_words(labels: Sequence[str], count: int) -> str:
    """Return the types of an answer in words, in the plural unless there is one: `products`, `paper or author`."""
    if not labels or ANY in labels:
        return "thing" if count == 1 else "things"
    return " or ".join(type_words(label) if count == 1 else plural(type_words(label)) for label in labels)


def counted(count: int, noun: str) -> str:
    """Return a number of things as a sentence begins with it: `Two tents`, `1,200 papers`."""
    return f"{_NUMBERS[count] if count < len(_NUMBERS) else number(count)} {noun}"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: `A, B and C`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
