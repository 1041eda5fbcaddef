"""Conditions on fields in English words: comparisons with units, years, and keywords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from search.domain.graph import NodeType
from search.domain.plan import Filter
from search.language.quantities import FIRST_YEAR, LAST_YEAR, UNITS
from search.text import words
from training.data.synthesis import english, english_words


def filters_said(filters: Sequence[Filter], kind: NodeType, chance: np.random.Generator) -> list[str]:
    """Return what follows a noun for the conditions on each field of a node type."""
    by_field: dict[str, list[Filter]] = {}
    for one in filters:
        by_field.setdefault(one.field, []).append(one)
    kinds = {one.name: one.kind for one in kind.fields}
    return [_said(name, own, kinds.get(name, "text"), chance) for name, own in by_field.items()]


def _said(name: str, filters: Sequence[Filter], kind: str, chance: np.random.Generator) -> str:
    noun, unit = _unit_taken(words(name))
    op, value = filters[0].op, filters[0].value
    if kind == "keyword":
        return _one(english_words.VALUED, chance).format(f=noun, v=value)
    if kind == "date":
        # A year is two conditions: from its beginning, and before the next year's.
        return _timed(noun, "=" if len(filters) == 2 else op, value, value, chance)
    low, high = (value if isinstance(value, list) else (value, value))[:2]
    if not unit and all(isinstance(end, int) and FIRST_YEAR <= end <= LAST_YEAR for end in (low, high)):
        return _timed(noun, op, low, high, chance)
    shape = _one(english_words.COMPARED[op], chance)
    return shape.format(f=noun, v=_amount(low, unit), w=_amount(high, unit))


def _timed(noun: str, op: str, low: Any, high: Any, chance: np.random.Generator) -> str:
    shapes = english_words.TIMED.get(op, english_words.TIMED["="])
    participle = english.is_participle(noun.rpartition(" ")[2])
    # "founded in 1950" is English, "year in 1950" is not.
    fitting = [shape for shape in shapes if participle or not shape.startswith("{f} ")]
    fitting = [shape for shape in fitting if not (participle and "with {f}" in shape)]
    return _one(fitting or shapes, chance).format(f=noun, v=low, w=high)


def _unit_taken(noun: str) -> tuple[str, str]:
    """Return a field's words without the unit at their end, and the unit."""
    head, _, last = noun.rpartition(" ")
    return (head, last) if head and last in UNITS else (noun, "")


def _amount(value: Any, unit: str) -> str:
    return f"{value} {unit}".strip()


def _one(texts: Sequence[str], chance: np.random.Generator) -> str:
    return texts[int(chance.integers(len(texts)))]
