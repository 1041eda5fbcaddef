"""Conditions on a node's own fields: numbers, dates and keywords, with the words that ask for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from search.domain.filtering import meets
from search.domain.graph import Field, FieldValue, Node
from search.domain.plan import Filter
from search.language.quantities import FIRST_YEAR, LAST_YEAR
from training.data.synthesis.base import READ_AT_ONCE, Base
from training.data.synthesis.reading import SynthesisReader
from training.data.synthesis.tools import SynthesisTools

SCANNED = 2_000
"""Most nodes of a type of which all are looked at for a condition on fields alone."""
LONGEST_KEYWORD = 40
_DISTINCT = 0.5
"""Share of different values above which a keyword is an identifier, which nobody asks for."""
_TARGET = "T"


@dataclass(frozen=True, eq=False)
class MadeFields:
    """Draws conditions on fields, and finds the nodes that meet them."""

    tools: SynthesisTools
    base: Base
    reader: SynthesisReader
    _scanned: dict[int, tuple[Node, ...]] = field(default_factory=dict, init=False)

    def draw(self, node: Node, chance: np.random.Generator) -> tuple[Filter, ...]:
        """Return a condition on one field that the node meets; nothing if it has no field to ask about."""
        known = self.by_type.get(node.type, ())
        there = [one for one in known if node.fields.get(one.name) not in (None, "", [])]
        if not there:
            return ()
        chosen = there[int(chance.integers(len(there)))]
        value = node.fields[chosen.name]
        item = value[int(chance.integers(len(value)))] if isinstance(value, list) else value
        if chosen.kind == "keyword" and isinstance(item, str):
            return (Filter(_TARGET, chosen.name, "=", item),) if 0 < len(item) <= LONGEST_KEYWORD else ()
        if chosen.kind == "number" and not isinstance(item, str):
            return _of_number(chosen.name, item, chance)
        return _of_date(chosen.name, str(item), chance) if chosen.kind == "date" else ()

    def meeting(self, filters: Sequence[Filter], keys: Iterable[int]) -> list[int]:
        """Return those of the nodes that meet every filter, sorted."""
        return sorted(node.key for node in self.reader.nodes(keys) if meets(node, filters))

    def found(self, answer_type: int, filters: Sequence[Filter]) -> list[int] | None:
        """Return all nodes of a type that meet every filter, sorted; None if the type has too many nodes to look."""
        keys = self.base.of_type(answer_type)
        if len(keys) > SCANNED:
            return None
        if answer_type not in self._scanned:
            named = {one.name for one in self.by_type.get(self.base.schema.node_types[answer_type].name, ())}
            # Their texts may be long, so only the fields that may be asked about are kept.
            self._scanned[answer_type] = tuple(
                replace(node, aliases=(), fields=_only(node.fields, named))
                for first in range(0, len(keys), READ_AT_ONCE)
                for node in self.tools.nodes.nodes(keys[first : first + READ_AT_ONCE].tolist())
            )
        return [node.key for node in self._scanned[answer_type] if meets(node, filters)]

    @cached_property
    def by_type(self) -> dict[str, tuple[Field, ...]]:
        """Node type → its fields that may be asked about: numbers, dates, and keywords that several nodes share."""
        allowed = [self.base.schema.node_types[code] for code in self.base.types]
        return {
            kind.name: tuple(
                one for one in kind.fields if one.kind in ("number", "date") or self._shared(kind.name, one)
            )
            for kind in allowed
        }

    def _shared(self, label: str, one: Field) -> bool:
        if one.kind != "keyword":
            return False
        values = [str(item) for value in self.tools.nodes.values(label, one.name, 200) for item in _items(value)]
        return bool(values) and (len(set(values)) <= _DISTINCT * len(values) or len(values) < 3)


def _of_number(name: str, value: float, chance: np.random.Generator) -> tuple[Filter, ...]:
    """Return a comparison of a number with a round one."""
    if isinstance(value, int) and FIRST_YEAR <= value <= LAST_YEAR:
        return _of_year(name, value, chance)
    way = chance.random()
    if way < 0.2:
        return (Filter(_TARGET, name, "=", value),)
    low, high = _round(value, math.floor), _round(value, math.ceil)
    if way < 0.5:
        return (Filter(_TARGET, name, ">=" if low == value else ">", low),)
    if way < 0.8:
        return (Filter(_TARGET, name, "<=" if high == value else "<", high),)
    return (Filter(_TARGET, name, "between", [low, high if high > low else high + 1]),)


def _of_year(name: str, year: int, chance: np.random.Generator) -> tuple[Filter, ...]:
    """Return a comparison of a number that is a year: that year, since, before, or the decade."""
    shift = int(chance.integers(1, 6))
    return (
        (Filter(_TARGET, name, "=", year),),
        (Filter(_TARGET, name, ">=", year - shift),),
        (Filter(_TARGET, name, "<", year + shift),),
        (Filter(_TARGET, name, "between", [year // 10 * 10, year // 10 * 10 + 9]),),
    )[int(chance.integers(4))]


def _of_date(name: str, date: str, chance: np.random.Generator) -> tuple[Filter, ...]:
    """Return a comparison of a date's year. Dates are texts that sort by time: the year is `>= 2004` and `< 2005`."""
    if not date[:4].isdecimal() or not FIRST_YEAR <= int(date[:4]) <= LAST_YEAR:
        return ()
    year, shift = int(date[:4]), int(chance.integers(1, 4))
    return (
        (Filter(_TARGET, name, ">=", f"{year:04}"), Filter(_TARGET, name, "<", f"{year + 1:04}")),
        (Filter(_TARGET, name, ">=", f"{year - shift + 1:04}"),),
        (Filter(_TARGET, name, "<", f"{year + shift:04}"),),
    )[int(chance.integers(3))]


def _round(value: float, towards: Callable[[float], int]) -> int | float:
    """Return a number with two digits that lies on the side of a value that `towards` (floor or ceil) says."""
    if not value or not math.isfinite(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    bound = towards(round(value / unit, 6)) * unit
    rounded = round(bound, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def _items(value: FieldValue) -> Sequence[FieldValue]:
    return value if isinstance(value, list) else [value]


def _only(fields: Mapping[str, FieldValue], named: set[str]) -> dict[str, FieldValue]:
    return {name: value for name, value in fields.items() if name in named}
