"""Readings of a named node with conditions: *is X heavier than Y*, *has X more than ten Y*, *which is older, X or Y*.

What is asked is about the named nodes themselves, so no walk leads away from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from search.language.names import Named
from search.stages.plan.conditions.condition import Condition
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.limits import Limits
from search.stages.plan.meaning import UNLIKE, Meaning
from search.stages.plan.named_itself import ITSELF, NamedItself

Binding = Callable[[PlanCandidate, Limits], Iterator[Meaning]]
"""Yields the readings of a candidate with conditions beside these filters of numbers."""


@dataclass(frozen=True)
class NamedWith:
    """Makes these readings; `limits` and `bound` are those of the walks' readings."""

    itself: NamedItself
    limits: Callable[[PlanCandidate], list[Limits]]
    bound: Binding

    def of(self, top: float) -> Iterator[Meaning]:
        """Yield the readings that leave no word and no cue over; `top` is the sum of the best walk."""
        read = self.itself.question
        asked = read.cues.asking is not None and read.cues.asking.ask == "whether"
        if not asked and not read.superlatives:
            return
        for at, (name, role) in enumerate(zip(read.names, read.roles, strict=True)):
            if role != "start":
                continue
            for code, keys in self.itself.by_type(name.mention.keys).items():
                if asked or name.any_of:
                    candidate = PlanCandidate((), (at,), (), (code,), len(keys))
                    yield from self._of(candidate, name, keys, top, asked=asked)

    def _of(
        self, candidate: PlanCandidate, name: Named, keys: list[int], top: float, *, asked: bool
    ) -> Iterator[Meaning]:  # fmt: skip
        span = (name.mention.start, name.mention.end)
        anchor = self.itself.anchor(name.mention.text, candidate.types[0], keys)
        own = Condition(
            span, 1.0, anchors=(anchor,), names=candidate.mentions, spans=(span,), ask="whether" if asked else "which"
        )  # fmt: skip
        base = top + ITSELF - UNLIKE * (1.0 - name.mention.similarity)
        for limits in self.limits(candidate):
            for meaning in self.bound(candidate, limits):
                ordered = any(one.order for one in meaning.bound.conditions)
                # Several named nodes are put in an order; whether one meets a condition needs no order.
                if asked == ordered or meaning.bound.unbound or meaning.bound.unsaid:
                    continue
                bound = replace(meaning.bound, conditions=(own, *meaning.bound.conditions))
                named = replace(meaning, total=base + meaning.total, bound=bound)
                if not self.itself.left(named):
                    yield named
