"""Facets as the page offers them: each value is a button whose value is the change to the plan."""

from __future__ import annotations

import json
from dataclasses import dataclass

from search.domain.facets import Facet
from search.plan_words import Relations, field_words, relation_words
from search.services.searches.facets import AnswerFacets


@dataclass(frozen=True, slots=True)
class ShownFacetValue:
    """A value: its label, the number of answers that have it, and the action of its button."""

    label: str
    count: int
    action: str


@dataclass(frozen=True, slots=True)
class ShownFacet:
    """A facet; `more` is the number of values that are not offered."""

    title: str
    values: tuple[ShownFacetValue, ...]
    more: int


@dataclass(frozen=True, slots=True)
class ShownFacets:
    """The facets, and of how many answers they were counted if not of all.

    `awaited` says that they take longer than the results may wait: the page keeps their room, and asks for them.
    """

    facets: tuple[ShownFacet, ...] = ()
    looked_at: int = 0
    answers: int = 0
    awaited: bool = False

    @property
    def sampled(self) -> bool:
        """Whether only some of the answers were counted."""
        return self.looked_at < self.answers


def show_facets(found: AnswerFacets, relations: Relations) -> ShownFacets:
    """Return the facets ready to print; `relations` give the wordings of relations."""
    shown = tuple(
        ShownFacet(
            _title(facet, relations),
            tuple(
                ShownFacetValue(value.label, value.count, f"add {json.dumps(value.adds, ensure_ascii=False)}")
                for value in facet.values
            ),
            facet.more,
        )
        for facet in found.facets
    )
    return ShownFacets(shown, found.looked_at, found.answers)


def _title(facet: Facet, relations: Relations) -> str:
    if facet.kind == "relation":
        return relation_words(facet.name, facet.direction, relations)
    return field_words(facet.name, relations)[0]
