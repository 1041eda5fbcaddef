"""The fields and relations that quantities, dates, superlatives and orders of a follow-up mean on a node type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from search.domain.graph import NodeType
from search.domain.plan import Count, Filter
from search.language.quantities import Quantity
from search.language.words import stems
from search.stages.plan.conditions.comparisons import Comparisons
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.dates import dates_of
from search.stages.plan.conditions.fields import FieldMeanings
from search.stages.plan.conditions.orders import Orders
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.follow_up.asked import Asked
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.limits import Limiter, Limits
from search.stages.plan.measures import field_stems
from search.stages.plan.years import YearFields

_SURE = 0.5
"""Least affinity of a word to a relation or type from which the word names it."""
_BETTER_HIGH = stems("rating score stars")
"""Stems of fields of which people want to see the largest value first."""


@dataclass(frozen=True)
class CuesOfType:
    """Says what the cues of a follow-up mean on a node type, as the planner says it of a question's."""

    asked: Asked
    ground: Ground

    def limits(self, quantity: Quantity, label: str) -> list[Limits]:
        """Return a quantity as filters on a node type, without any if it limits no field of the type."""
        return Limiter(self.ground.schema, self._years).of(
            self.asked.question, [quantity], self._core(label).candidate, lambda _: "some"
        )

    def dates(self, label: str) -> list[list[Condition]]:
        """Return the meanings of each date on a node type."""
        return list(dates_of(self._core(label), self._fields))

    def orders(self, label: str) -> list[list[Condition]]:
        """Return the meanings of each superlative on a node type, the best first."""
        return list(Orders(self._fields).of(self._core(label)))

    def comparisons(self, label: str) -> list[list[Condition]]:
        """Return the meanings of each comparison with another node on a node type."""
        return list(Comparisons(self._fields, self.ground.nodes).of(self._core(label)))

    def sorted_by(self, said: str, label: str) -> Iterator[tuple[str | Count, str]]:
        """Yield what *sorted by …* may mean on a node type, with the usual direction: a field named so, or a number."""
        kind = self.ground.schema.node_type(label)
        words = re.findall(r"[^\W\d_]+", said.lower())
        for one, fit in self._fields.fits(kind, words, "date" if stems(said) & stems("date year time age") else ""):
            if fit >= _SURE:
                yield one.name, "desc" if field_stems(one) & _BETTER_HIGH else "asc"
        for count in self._counts(words, label):
            yield count, "desc"

    def _counts(self, words: Sequence[str], label: str) -> Iterator[Count]:
        """Yield the numbers of neighbours that words name: *sorted by number of authors*."""
        schema, lexicon = self.ground.schema, self.ground.knowledge.lexicon
        if not words:
            return
        rows = lexicon.of(list(words)).max(axis=0)
        for kind in schema.relation_types:
            for near, far, way in kind.ways:
                told = max(
                    float(rows[schema.relation_codes[kind.relation]]),
                    float(rows[lexicon.relations + schema.type_codes[far]]),
                )
                if near == label and told >= 1.0:
                    yield Count(kind.relation, way, far)

    def _core(self, label: str) -> Core:
        candidate = PlanCandidate((), (), (), (self.ground.schema.type_codes[label],), 0)
        return Core(self.asked.whole, candidate, self.ground.knowledge)

    @cached_property
    def _fields(self) -> FieldMeanings:
        return FieldMeanings(self.ground.knowledge, self._years)

    @cached_property
    def _years(self) -> YearFields:
        return self.ground.knowledge.kept(YearFields, lambda: YearFields(self.ground.nodes))


def on(var: str, filters: Sequence[Filter]) -> tuple[Filter, ...]:
    """Return filters on another variable."""
    return tuple(replace(condition, var=var) for condition in filters)


def field_words(kind: NodeType) -> dict[str, frozenset[str]]:
    """Return the stems of the words of each field of a node type."""
    return {one.name: field_stems(one) for one in kind.fields}
