"""The words that pages use for risk levels, sources, types and relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search.domain.graph import ANY
from search.language.units import unit_of_name, written_unit
from search.plan_words import value_words
from search.text import words

RISK_WORDINGS: Mapping[str, str] = {
    "no_trade": "The graph is not trusted here: the text decides alone.",
    "weak": "The plan is doubtful: paths count little beside the text.",
    "normal": "The plan is plausible: paths count as much as their number suggests.",
    "aggressive": "The plan is clear: paths go first.",
}

RISK_NAMES: Mapping[str, str] = {"no_trade": "none", "weak": "little", "normal": "normal", "aggressive": "full"}
"""How far the graph is trusted, in one word for each risk level."""

SOURCES: Mapping[str, str] = {
    "schema": "found from the schema alone",
    "llm": "written by a language model",
    "learned": "chosen by the trained planner",
    "user": "given with the question",
    "follow-up": "changed from the plan of the question before",
}

GROUPED = 10_000
"""From this number on, thousands are set apart: smaller ones may be years."""


def type_words(label: str) -> str:
    """Return a node type as words; any type is `anything`."""
    return "anything" if label in (ANY, "") else words(label)


def relation_words(name: str) -> str:
    """Return a relation as words; any relation is `any relation`."""
    return "any relation" if name in (ANY, "") else words(name)


def value_text(value: Any) -> str:
    """Return a filter's value as text; nothing for a filter without a value."""
    return "" if value is None else value_words(value)


def amount_words(field: str, value: Any) -> tuple[str, str]:
    """Return a field in words and its value, which has the unit of the field: `weight_g`, 2180 → `weight`, `2180 g`."""
    name, unit = unit_of_name(field)
    is_amount = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_amount:
        return words(field), value_text(value)
    said = f"{value:,}" if isinstance(value, int) and abs(value) >= GROUPED else f"{value}"
    return (name, f"{said} {written_unit(unit, one=value == 1)}") if unit else (words(field), said)


def shown_number(value: int | float) -> int | float:
    """Return a computed number with as many digits as a reader needs: six, and all of its whole part."""
    if isinstance(value, int) or value.is_integer():
        return int(value)
    return round(value) if abs(value) >= 1e6 else float(f"{value:.6g}")
