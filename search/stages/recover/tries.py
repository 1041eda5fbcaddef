"""The attempts for plans that found nothing; each is a step of the trace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, ParamSpec, TypeVar

from search.domain.errors import DeadlineExceeded, StageError
from search.domain.graph import ANY
from search.domain.linking import Binding, LinkedPlan, Reach, Traversal
from search.domain.plan import RISKS, Anchor, Hop, Plan, ScoredPlan
from search.domain.trace import Limit, Trace
from search.interfaces import LinkStage, TraverseStage
from search.stages.recover.attempt import AnchorCounts, Attempt
from search.stages.recover.weaken import (
    DroppableCondition,
    conditions,
    loosened,
    relation_words,
    smallest_first,
    without,
)

STEP: Final = "recover"
"""Name and role of the steps."""
FURTHER = Reach(k=2.0)
"""Reach of the first look-up: up to twice K nodes for each anchor, with the same τ."""
_MOST_INSTEAD = 2
"""Most names without which the plan is tried instead."""
_NO_TIME = "nothing was found, and the time for further attempts ran out"

P = ParamSpec("P")
Made = TypeVar("Made", bound=Attempt)


@dataclass(frozen=True)
class Attempts:
    """The attempts of one search, each made when it is requested.

    `wide` is the reach of the last look-up, `plans` the number of plans of the search.
    """

    link: LinkStage
    traverse: TraverseStage
    trace: Trace
    limit: Limit
    wide: Reach
    plans: int

    def at(self, linked: LinkedPlan) -> Iterator[Attempt]:
        """Yield one attempt after another for a plan, from the smallest change to the largest.

        Raises DeadlineExceeded if the time ran out, and SearchCancelled.
        """
        if looked_up := [anchor for anchor in linked.plan.anchors if _is_looked_up(anchor, linked)]:
            yield self._step(linked, self._look_further, linked, looked_up, FURTHER, "further matches")
            yield self._step(linked, self._look_further, linked, looked_up, self.wide, "less similar matches")
        parts = conditions(linked.plan)
        hopeless: list[DroppableCondition] = []
        if len(linked.plan.anchors) > 1:
            judgement = self._step(linked, self._judge, linked, parts)
            yield judgement
            hopeless, parts = _in_order(parts, judgement, linked)
        for dropped in smallest_first(hopeless, parts, self.limit):
            yield self._step(linked, self._drop, linked, dropped, _instead(dropped, hopeless, parts))
        for hop in linked.plan.hops:
            if hop.rel != ANY:
                yield self._step(linked, self._loosen, linked, hop)

    def _step(self, linked: LinkedPlan, make: Callable[P, Attempt], *args: P.args, **kwargs: P.kwargs) -> Attempt:
        """Make an attempt as a step of the trace.

        A failed attempt does not prevent the next one, unless no time is left.
        """

        def attempt() -> Attempt:
            if not self.limit.remaining():
                raise DeadlineExceeded(STEP, _NO_TIME)
            try:
                made = make(*args, **kwargs)
            except StageError as error:
                if not self.limit.remaining():
                    raise DeadlineExceeded(STEP, _NO_TIME) from error
                made = Attempt(f"An attempt failed: {error.reason}.")
            return replace(made, detail=f"Plan {linked.index + 1}: {made.detail}") if linked.index else made

        return self.trace.step(STEP, STEP, attempt)

    def _look_further(self, linked: LinkedPlan, looked_up: Sequence[Anchor], reach: Reach, what: str) -> Attempt:
        """Bind anchors to more nodes than before, by their texts, execute the plan again, and return the attempt."""
        plan = _without_ids(linked.plan, looked_up)
        [again] = self.link([ScoredPlan(plan, linked.source, linked.probability)], self.limit, reach)
        again = replace(again, plan=linked.plan, index=linked.index)
        gained = [a for a in looked_up if len(again.bindings_of(a.var)) > len(linked.bindings_of(a.var))]
        if not gained:
            return Attempt(f"There are no {what} for {_quoted(looked_up)}.")
        traversal = self._traversed(again)
        if not traversal.candidates:
            return Attempt(f"Nothing with {what} for {_quoted(gained)}.")
        return Attempt(f"Found with {what} for {_quoted(gained)}.", linked.plan, again, traversal)

    def _judge(self, linked: LinkedPlan, parts: Sequence[DroppableCondition]) -> AnchorCounts:
        """Return how many nodes each anchor finds alone, without the plan's other conditions."""
        sizes: dict[str, int] = {}
        empty: list[DroppableCondition] = []
        for condition in reversed(parts):
            if isinstance(condition.part, Anchor):
                alone = self._traversed(_weaker(linked, [other for other in parts if other is not condition]))
                if alone.candidates or not alone.truncated:
                    sizes[condition.part.var] = alone.total
                empty += [] if alone.candidates or alone.truncated else [condition]
        if not empty:
            return AnchorCounts(
                "Each entity of the plan finds something by itself, but nothing meets every condition.", sizes=sizes
            )
        finds = "finds" if len(empty) == 1 else "find"
        return AnchorCounts(f"By itself, {_listed(empty)} {finds} nothing.", sizes=sizes)

    def _drop(
        self, linked: LinkedPlan, dropped: Sequence[DroppableCondition], instead: Sequence[DroppableCondition]
    ) -> Attempt:
        """Drop some conditions, execute the plan without them, and return the attempt.

        What is found without one of `instead` in their place is as near, and stands beside it.
        """
        weaker = _weaker(linked, dropped)
        traversal = self._traversed(weaker)
        if not traversal.candidates:
            return Attempt(f"Nothing without {_listed(dropped)}.")
        sentence = (
            f"Found after dropping {_listed(dropped)}, which {'counts' if len(dropped) == 1 else 'count'} as text now."
        )
        told = tuple(condition.words for condition in dropped)
        others = self._others(linked, instead)
        if others:
            named = " or ".join(one.shown for one in instead if any(one.words in other.dropped for other in others))
            sentence = f"{sentence} What is found without {named} instead is as near."
        return Attempt(sentence, linked.plan, weaker, traversal, told, others=others)

    def _loosen(self, linked: LinkedPlan, hop: Hop) -> Attempt:
        """Follow any relation instead of one, execute the plan again, and return the attempt."""
        said = relation_words(hop)
        weaker = _less_sure(linked, loosened(linked.plan, hop), kept=1 - 1 / (len(linked.plan.hops) + 1))
        traversal = self._traversed(weaker)
        if not traversal.candidates:
            return Attempt(f"Nothing with another relation instead of “{said}”.")
        sentence = f"Found with any relation instead of “{said}”, which counts as text now."
        return Attempt(sentence, linked.plan, weaker, traversal, (said,))

    def _others(self, linked: LinkedPlan, instead: Sequence[DroppableCondition]) -> tuple[Attempt, ...]:
        """Return what is found without each of some conditions, as further plans."""
        found: list[Attempt] = []
        for condition in instead:
            weaker = replace(_weaker(linked, [condition]), index=self.plans + len(found))
            traversal = self._traversed(weaker)
            if traversal.candidates:
                found.append(Attempt("", linked.plan, weaker, traversal, (condition.words,)))
        return tuple(found)

    def _traversed(self, linked: LinkedPlan) -> Traversal:
        [traversal] = self.traverse([linked], self.limit)
        return traversal


def _instead(
    dropped: Sequence[DroppableCondition], hopeless: Sequence[DroppableCondition], parts: Sequence[DroppableCondition]
) -> list[DroppableCondition]:
    """Return the names that could as well be dropped, where a single name is dropped that finds something alone."""
    if hopeless or len(dropped) != 1 or not isinstance(dropped[0].part, Anchor):
        return []
    return [one for one in parts if isinstance(one.part, Anchor) and one is not dropped[0]][:_MOST_INSTEAD]


def _is_looked_up(anchor: Anchor, linked: LinkedPlan) -> bool:
    """Whether an anchor may be looked up by its text: not if its ids exist, because the plan means exactly them.

    The text of an anchor with a plan inside is only its wording.
    """
    return bool(anchor.text) and anchor.plan is None and not (anchor.ids and linked.bindings_of(anchor.var))


def _without_ids(plan: Plan, looked_up: Sequence[Anchor]) -> Plan:
    anchors = tuple(replace(anchor, ids=()) if anchor in looked_up else anchor for anchor in plan.anchors)
    return replace(plan, anchors=anchors)


def _weaker(linked: LinkedPlan, dropped: Sequence[DroppableCondition]) -> LinkedPlan:
    """Return a plan without some conditions."""
    plan = without(linked.plan, dropped)
    return _less_sure(linked, plan, len(conditions(plan)) / len(conditions(linked.plan)))


def _less_sure(linked: LinkedPlan, plan: Plan, kept: float) -> LinkedPlan:
    """Return a weaker plan with lower risk level and probability, because it keeps only a share of what was said."""
    level = RISKS.index(plan.risk_level)
    bound = {anchor.var for anchor in plan.anchors}
    return replace(
        linked,
        plan=replace(plan, risk_level=RISKS[min(level, max(1, level - 1))]),
        bindings=tuple(_kept(linked, plan, bound)),
        probability=linked.probability * kept,
    )


def _kept(linked: LinkedPlan, plan: Plan, bound: Collection[str]) -> Iterator[Binding]:
    """Yield the bindings of a plan that kept some anchors and some exclusions of a linked plan."""
    places = {linked.plan.exclude.index(one): place for place, one in enumerate(plan.exclude)}
    for binding in linked.bindings:
        if binding.exclusion is None:
            if binding.var in bound:
                yield binding
        elif binding.exclusion in places:
            yield replace(binding, exclusion=places[binding.exclusion])


def _in_order(
    parts: Sequence[DroppableCondition], judgement: Attempt, linked: LinkedPlan
) -> tuple[list[DroppableCondition], list[DroppableCondition]]:
    """Return the anchors that find nothing alone, and all other conditions in the order in which to drop them.

    Anchors come last: those with the least certain binding first, and among equals those that find the most nodes.
    """
    sizes = judgement.sizes if isinstance(judgement, AnchorCounts) else {}
    hopeless: list[DroppableCondition] = []
    others: list[DroppableCondition] = []
    anchors: list[tuple[float, int, DroppableCondition]] = []
    for condition in parts:
        if not isinstance(condition.part, Anchor):
            others.append(condition)
        elif sizes.get(condition.part.var) == 0:
            hopeless.insert(0, condition)
        else:
            best = max((binding.score for binding in linked.bindings_of(condition.part.var)), default=0.0)
            anchors.append((best, -sizes.get(condition.part.var, 0), condition))
    anchors.sort(key=lambda entry: entry[:2])
    return hopeless, [*others, *(condition for _, _, condition in anchors)]


def _quoted(anchors: Sequence[Anchor]) -> str:
    return " and ".join(f"“{anchor.text}”" for anchor in anchors)


def _listed(dropped: Sequence[DroppableCondition]) -> str:
    return " and ".join(condition.shown for condition in dropped)
