"""What words mean of the fields of edges: names, scales, units and dates, as `schema_index` knows those of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from search.domain.graph import Field, Schema
from search.language.reading.scales import WordScale
from search.language.units import UNITS
from search.language.words import words
from search.stages.plan.measures import measured_by, unit_in
from search.text import words as split_identifier

EdgeFieldAt = tuple[int, str]
"""The code of a relation, and a field of its edges."""


@dataclass(frozen=True, eq=False)
class EdgeFields:
    """The fields of the edges of a schema; longer texts are none that a question asks for."""

    schema: Schema
    stem: Callable[[str], str]

    @cached_property
    def all(self) -> dict[EdgeFieldAt, Field]:
        """All fields of edges."""
        return {
            (at, one.name): one
            for at, relation in enumerate(self.schema.relations)
            for one in relation.fields
            if one.kind != "text"
        }

    @cached_property
    def measured(self) -> frozenset[EdgeFieldAt]:
        """The fields of numbers and dates."""
        return frozenset(at for at, one in self.all.items() if one.kind in ("number", "date"))

    @cached_property
    def texts(self) -> frozenset[EdgeFieldAt]:
        """The fields of short texts."""
        return frozenset(at for at, one in self.all.items() if one.kind == "keyword")

    def called(self, said: Sequence[str]) -> tuple[EdgeFieldAt, ...]:
        """Return the fields with these words as their name."""
        return self._names.get(tuple(map(self.stem, said)), ())

    @cached_property
    def longest(self) -> int:
        """Number of words of the longest name."""
        return max(map(len, self._names), default=0)

    @cached_property
    def _names(self) -> dict[tuple[str, ...], tuple[EdgeFieldAt, ...]]:
        found: dict[tuple[str, ...], tuple[EdgeFieldAt, ...]] = {}
        for at in self.all:
            said = tuple(map(self.stem, words(split_identifier(at[1]))))
            found[said] = (*found.get(said, ()), at)
        return found

    def scaled(self, scale: WordScale) -> tuple[EdgeFieldAt, ...]:
        """Return the fields of numbers and dates that a scale is about, by the first of its names that any has."""
        for name in scale.names:
            wanted = {self.stem(word) for word in words(name)}
            if found := tuple(at for at in self.all if at in self.measured and wanted <= self._words(at)):
                return found
        return tuple(at for at in self.all if set(scale.names) & set(measured_by(self.all[at])))

    def dated(self, scale: WordScale) -> tuple[EdgeFieldAt, ...]:
        """Return the fields of dates, and those of numbers that are called like one; `scale` has these names."""
        called = {self.stem(word) for name in scale.names for word in words(name)}
        return tuple(at for at in self.all if self.is_date(at) or (at in self.measured and called & self._words(at)))

    def measuring(self, unit: str, names: Sequence[str]) -> tuple[EdgeFieldAt, ...]:
        """Return the fields that an amount in a unit may limit: by a name, or by their own unit."""
        found = [*self.scaled(WordScale(tuple(names))), *(at for at in self.all if unit_in(self.all[at]) is not None)]
        return tuple(at for at in dict.fromkeys(found) if self.factor(at, unit) is not None)

    def factor(self, at: EdgeFieldAt, unit: str) -> float | None:
        """Return by what an amount in a unit is multiplied for a field; None if the field is in no such unit."""
        own = unit_in(self.all[at]) if self.all[at].kind == "number" else None
        if not unit or own is None:
            return 1.0
        return UNITS[unit].factor / UNITS[own].factor if UNITS[unit].converts_to(UNITS[own]) else None

    def is_date(self, at: EdgeFieldAt) -> bool:
        """Whether a field holds dates."""
        return self.all[at].kind == "date"

    def _words(self, at: EdgeFieldAt) -> frozenset[str]:
        return frozenset(map(self.stem, words(split_identifier(at[1]))))
