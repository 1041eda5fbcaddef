"""Follow-ups that ask for something else of what was found: *who wrote them?*, *in which countries are they sold?*"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search.domain.graph import OPPOSITE
from search.domain.plan import Hop, Plan
from search.stages.plan.follow_up import edits
from search.stages.plan.follow_up.asked import Asked
from search.stages.plan.follow_up.change import Option
from search.stages.plan.follow_up.edits import Leg
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.follow_up.own import names_type
from search.stages.plan.knowledge.lexicon import Affinities
from search.stages.plan.knowledge.target import answer_types

_SURE = 0.5
"""Least affinity of words to a type or relation from which they name it."""
_PER_HOP = 1.5
_AGAINST = 2.0
"""Cost of a direction of which the words say the opposite."""
_SAME_TYPE = 2.0
"""Cost of answers of the same type as before, unless the words name the relation: *what do they cite?*"""
_MOST_PINNED = 50
"""Largest number of answers of an order that a further question may be about."""
_WH = re.compile(r"\b(?:who|whom|whose|what|which|where)\b(?!\s+of\b)", re.IGNORECASE)
_PASSIVE = re.compile(r"\w(?:ed|en)\s+by\b|\bby\s+(?:whom|which|what)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:their|its|his|her)\b", re.IGNORECASE)


def _turned(hop: Hop) -> str | None:
    """Return the direction of a hop as seen from its far end."""
    return None if hop.direction is None else OPPOSITE[hop.direction]


@dataclass(frozen=True)
class Onward:
    """The readings of words that ask for neighbours of the answers before."""

    asked: Asked
    ground: Ground

    def of(self, plan: Plan) -> Iterator[Option]:
        """Yield the plans whose answers are reached from the answers of the given plan."""
        if not self._asks or not plan.target.labels:
            return
        near = frozenset(plan.target.labels)
        options = []
        walks = list(self.ground.onward(near))
        fewest = {legs[-1].to_label: len(legs) for legs in reversed(walks)}
        for legs in walks:
            cost = self._cost(legs, near)
            if cost is not None:
                # A longer way round is seldom meant where a shorter one exists.
                options.append((cost + _PER_HOP * (len(legs) - fewest[legs[-1].to_label]), legs))
        for cost, legs in sorted(options, key=lambda one: one[0])[:6]:
            pinned = self._pinned(plan)
            yield Option(edits.beyond(plan, legs, pinned, "the answers before"), cost)
            # No other variable may take the node of an anchor, so a walk through an anchor begins at the anchor.
            for var in self._through(plan, legs):
                yield Option(edits.beyond(plan, legs[1:], pinned, "the answers before", var), cost)

    def _through(self, plan: Plan, legs: tuple[Leg, ...]) -> Iterator[str]:
        """Yield the anchors that the first leg of a walk of several leads to from the target."""
        bound = {anchor.var for anchor in plan.anchors}
        for hop in plan.hops if len(legs) > 1 else ():
            for here, there, way in ((hop.source, hop.to_var, hop.direction), (hop.to_var, hop.source, _turned(hop))):
                same = hop.rel == legs[0].relation and way in (None, legs[0].direction)
                if here == plan.target.var and there in bound and same:
                    yield there

    @cached_property
    def _asks(self) -> bool:
        """Whether the words ask for something of the answers: by a question word, *their*, or the name of a type."""
        words, text = self.asked.words, self.asked.text
        if words.says("sorted", text) or words.begins("back", text):
            return False
        opened = words.patterns["openers"].match(text)
        asks = _WH.search(text, opened.end() if opened else 0)
        bare = names_type(self.asked, self.ground) and not self.asked.further
        return bool(asks or _OWN.search(text) or bare)

    @cached_property
    def _types(self) -> Affinities:
        """How well each node type fits what is asked for, in [0, 1]."""
        names = tuple(range(len(self.asked.names)))
        return answer_types(self.asked.question.without(names), self.ground.knowledge.lexicon)

    @cached_property
    def _relations(self) -> Affinities:
        """How well the free words fit each relation, in [0, 1]."""
        lexicon = self.ground.knowledge.lexicon
        texts = [word.text for word in self.asked.free]
        if not texts:
            return np.zeros(lexicon.relations)
        best: Affinities = lexicon.of(texts)[:, : lexicon.relations].max(axis=0)
        return best

    def _cost(self, legs: tuple[Leg, ...], near: frozenset[str]) -> float | None:
        """Return the cost of a walk as what is asked for; None if the words name neither its end nor its relations."""
        schema = self.ground.schema
        kind = float(self._types[schema.type_codes[legs[-1].to_label]])
        told = sum(float(self._relations[schema.relation_codes[leg.relation]]) for leg in legs) / len(legs)
        points = self.asked.words.says("found", self.asked.text)
        if max(kind, told) < _SURE or (kind < _SURE and self.asked.names and not points):
            return None
        same = legs[-1].to_label in near
        if same and told < _SURE:
            return None
        return (
            2.0
            - kind
            - told
            + _PER_HOP * (len(legs) - 1)
            + (_SAME_TYPE * (1 - told) + self._turned(legs[0]) if same else 0.0)
        )

    def _turned(self, leg: Leg) -> float:
        """Return the cost of the direction of a relation within a type: *what do they cite?*, *what cites them?*

        The answers before do what the verb says if they stand before it, unless it is passive.
        """
        text = self.asked.text
        before = [end for _, end in self.asked.words.spans("found", text)]
        if not before or not self.asked.free:
            return 0.0
        out = before[0] <= self.asked.free[-1].start
        if _PASSIVE.search(text):
            out = not out
        return 0.0 if out == (leg.direction == "out") else _AGAINST

    def _pinned(self, plan: Plan) -> list[str]:
        """Return the ids of the answers of a plan whose order keeps only some of them, else an empty list."""
        if plan.order is None or plan.order.limit is None:
            return []
        return self.ground.found(plan, _MOST_PINNED) or []
