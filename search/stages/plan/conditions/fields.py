"""The field of a node type that words of a question mean: by its name, its unit, its values, or the nearest vector."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from search.domain.graph import Field, NodeType
from search.language.cues import Span
from search.language.quantities import UNITS
from search.language.words import stem
from search.stages.plan.conditions.condition import Core
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.measures import field_stems, is_against, measures, name_words, unit_in, verb_says
from search.stages.plan.years import YearFields

_WORD = re.compile(r"[^\W\d_]+")
_MONEY = frozenset(stem(word) for word in ["price", "cost", "fee"])
_UNIT_FITS = 0.85
"""Fit of a field whose unit has the dimension that the word means."""
_UNIT_SAID = 0.95
"""Fit of a field whose unit is just what is counted: *fewest minutes*."""
_YEAR_FITS = 0.8
_LATER = 0.03
"""How much less each further word of a scale fits than the word before it."""
_NEAR = 0.6
"""Largest fit of a field that only vectors say."""
_CLOSE = 2.0
"""Number of standard deviations above the mean of unrelated words from which a cosine says something."""


@dataclass(frozen=True)
class FieldMeanings:
    """Says how well words fit the fields of a node type that hold numbers or dates."""

    knowledge: Knowledge
    years: YearFields

    def measured(self, kind: NodeType) -> list[Field]:
        """Return the fields of a type that have an order."""
        return [field for field in kind.fields if field.kind in ("number", "date") and field.coverage]

    def dated(self, kind: NodeType) -> list[Field]:
        """Return the keyword fields whose values are dates: they can be compared, but a plan cannot order by them."""
        return [field for field in kind.fields if field.kind == "keyword" and self.years(kind, field)]

    def fits(self, kind: NodeType, said: Sequence[str], unit: str, keywords: bool = False) -> list[tuple[Field, float]]:
        """Return the fields with an order and how well each fits, in [0, 1], the best first; without those of fit 0.

        `said` are words for the property, the usual first, `unit` is the dimension of its values or empty.
        `keywords` includes keyword fields of dates.
        """
        fields = [*self.measured(kind), *(self.dated(kind) if unit == "date" and keywords else [])]
        found = [(one, max(self._named(one, said), self._of_unit(kind, one, unit))) for one in fields]
        if not unit and not any(fit for _, fit in found):
            # *Longest* has no dimension of its own: it may be a length, a duration, or a number of pages.
            found = [(one, _UNIT_FITS if unit_in(one) and measures(one, said) else 0.0) for one in fields]
        if said and not any(fit for _, fit in found):
            found = list(zip(fields, self._near(fields, said), strict=True))
        # A unit alone does not tell two fields apart.
        alike = sum(fit in (_UNIT_FITS, _YEAR_FITS) for _, fit in found)
        found = [(one, fit / 1.5 if alike > 1 and fit in (_UNIT_FITS, _YEAR_FITS) else fit) for one, fit in found]
        return sorted(((one, fit) for one, fit in found if fit > 0), key=lambda pair: (-pair[1], -pair[0].coverage))

    def counted(self, kind: NodeType, said: Sequence[str]) -> list[tuple[Field, float]]:
        """Return the fields that hold the number of what is counted, and how well each fits, the best first.

        *Most pages* is said of a field of pages, *fewest minutes* of one whose unit is a time.
        """
        if not said:
            return []
        head, fields = said[-1], self.measured(kind)
        if named := [one for one in fields if stem(head) in field_stems(one)]:
            return [(one, 1.0) for one in named]
        alike = [one for one in fields if head in UNITS and (own := unit_in(one)) and UNITS[own] == UNITS[head]]
        alike = alike or [
            one for one in fields if head in UNITS and (own := unit_in(one)) and UNITS[own].converts_to(UNITS[head])
        ]
        # A unit alone does not tell two fields apart.
        return [(one, _UNIT_SAID if len(alike) == 1 else _UNIT_SAID / 1.5) for one in alike]

    def against(self, kind: NodeType, names: Sequence[str], against: Sequence[str]) -> list[tuple[Field, float]]:
        """Return the fields that measure the opposite of a scale, and how well each fits: *fast* is little time."""
        found = [one for one in self.measured(kind) if one.kind == "number" and is_against(one, names, against)]
        return [(one, _UNIT_FITS if len(found) == 1 else _UNIT_FITS / 1.5) for one in found]

    def _named(self, one: Field, said: Sequence[str]) -> float:
        own = field_stems(one)
        return next((1.0 - _LATER * at for at, word in enumerate(said) if stem(word) in own), 0.0)

    def _of_unit(self, kind: NodeType, one: Field, unit: str) -> float:
        if not unit:
            return 0.0
        if unit == "date":
            return _YEAR_FITS if self.years(kind, one) else 0.0
        if unit == "money":
            return _UNIT_FITS if field_stems(one) & _MONEY else 0.0
        own = unit_in(one)
        return _UNIT_FITS if own and UNITS[own].dimension == unit else 0.0

    def _near(self, fields: Sequence[Field], said: Sequence[str]) -> list[float]:
        """Return the fit of each field by the cosine of its name and the words."""
        fields = list(fields)
        if not fields:
            return []
        vectors = self.knowledge.vectors
        rows = vectors.of([" ".join(name_words(one.name)) for one in fields]) @ vectors.of(list(said[:3])).T
        mean, deviation = self.knowledge.lexicon.unrelated
        above = (rows.max(axis=1) - mean) / deviation - _CLOSE
        return [float(_NEAR * min(1.0, value / _CLOSE)) if value > 0 else 0.0 for value in np.asarray(above)]


def naming(core: Core, one: Field) -> Iterator[Span]:
    """Yield the spans of the question's words that only name a field: `weighs`, `approved`."""
    own = field_stems(one)
    for match in _WORD.finditer(core.question.text):
        said = match.group().lower()
        if stem(said) in own or verb_says(said, one):
            yield match.span()
