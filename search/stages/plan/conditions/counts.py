"""What a number of things compares: how many nodes an answer is joined with (`materials of more than ten products`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from search.domain.plan import Count, Filter
from search.domain.plan.parts import DENIED
from search.language.cues import Span, Superlative
from search.language.quantities import Quantity
from search.language.question import counted_by
from search.stages.plan.conditions.condition import Condition, Core, best
from search.stages.plan.conditions.denied import is_turned
from search.stages.plan.conditions.orders import Orders
from search.stages.plan.write import TARGET

_MOST = 2
_BARE = 0.7
"""Factor of a number without a comparing word: `papers with two authors`."""


@dataclass(frozen=True)
class Counts:
    """Binds numbers of things to an answer type."""

    orders: Orders

    def of(self, core: Core) -> Iterator[list[Condition]]:
        """Yield the possible meanings of each number of things."""
        for cue in core.question.cues.quantities:
            if (counted := counted_by(core.question, cue)) is not None and not _in_superlative(core, cue):
                yield best(list(self._meanings(core, cue, counted)), _MOST)

    def _meanings(self, core: Core, cue: Quantity, counted: Span) -> Iterator[Condition]:
        turned = is_turned(cue, core.question)
        op = DENIED.get(cue.op) if turned else cue.op
        said = core.question.text[cue.start : cue.end].strip()
        if op is None or not (core.question.names_in(counted) or _named(core, counted, surely=said.isalnum())):
            return
        low, high = int(cue.low), int(cue.high)
        # To count is what a superlative does as well; only the comparison is another.
        as_order = Superlative(cue.start, cue.end, "", "desc", counted=counted)
        for one in self.orders.by_count(core, as_order):
            assert one.order is not None
            if not isinstance(one.order.by, Count):
                continue
            value = [low, high] if op == "between" else low
            condition = Filter(TARGET, "", op, value, one.order.by)
            fit = one.score * (_BARE if said.isalnum() else 1.0)
            yield Condition(
                (cue.start, cue.end), fit, filters=(condition,), spans=one.spans, columns=one.columns, turning=turned
            )


def _named(core: Core, counted: Span, *, surely: bool) -> bool:
    """Whether the counted words name a type or relation; `surely`: by their letters, not merely by their vectors."""
    lexicon = core.knowledge.lexicon
    words = core.question.content_in(counted, names=True)
    texts = [*(word.text for word in words), core.question.text[counted[0] : counted[1]].casefold()]
    every = range(lexicon.elements)
    return any(lexicon.explains(every, text) and (lexicon.says(text) or not surely) for text in texts)


def _in_superlative(core: Core, cue: Quantity) -> bool:
    return any(one.start <= cue.start < one.end for one in core.question.cues.superlatives)
