"""The candidate plans of many questions with the F1 of their results, small enough to keep in memory
(docs/planning.md, "Learned").

The plans of each question are enumerated as in a search. The label of a plan is the F1 of the nodes that it finds
against the answers, and a plan is the walk with the question's conditions: filters, orders, counts and exclusions. Of
plans that are equally good, those that leave over more of the question's words are worth less, because they find the
answers by accident. Only features, branches and labels are kept; the nodes that the plans find are discarded at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from search.bindings import own_bindings
from search.domain.linking import LinkedPlan
from search.domain.plan import Plan
from search.domain.trace import Limit
from search.interfaces import Keys, PlanTable, Vectors
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.listing import Lister
from search.stages.plan.rules import RulePlanner
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.scoring.learned import branches, masked
from search.stages.plan.scoring.score import Scored, Weights
from training.evaluation.plan_answers import AnswerFilter, f1

Floats = NDArray[np.float32]
Values = NDArray[np.float64]

QUESTIONS_A_BLOCK = 64
"""Questions in one block. The nodes found by the plans of two blocks are in memory at the same time."""
QUESTIONS_A_CALL = 16
"""Questions of a block whose texts are sent to the encoder in one call."""
_OTHERS = 3
"""Plans without a walk that are listed for a question."""
MOST_PLANS = 400
"""Most plans of a question to learn from. Plans that find answers come first, then the first (shorter) plans listed."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanList:
    """One question's candidate plans: the features, the F1 (`labels`) and the branches of each.

    A branch holds the index of a plan, the index of its mention in `masked`, and the index of a path. `masked` holds
    one vector for each mention, or the vector of the question itself when it has no mentions. `spans` holds the start
    and end of each mention in the question. `teaches` is false if a plan without a walk, such as the named node itself
    or the nodes of a type in an order, answers the question better than every walk: then neither a walk nor the text
    is right.
    """

    features: Floats
    labels: Floats
    branches: NDArray[np.int64]
    masked: Vectors
    spans: tuple[tuple[int, int], ...]
    teaches: bool = True


@dataclass(frozen=True, eq=False)
class PlanLists:
    """The plan lists of many questions, and the shared table of paths in the order of their first use."""

    lists: Sequence[PlanList]
    paths: Sequence[Metapath]

    def __len__(self) -> int:
        return len(self.lists)

    def table(self, chosen: Sequence[int] | NDArray[np.int64]) -> PlanTable:
        """Return the plans of the chosen questions as one table."""
        lists = [self.lists[at] for at in chosen]
        plans = np.cumsum([0, *(len(one.features) for one in lists)])
        mentions = np.cumsum([0, *(len(one.masked) for one in lists)])
        return PlanTable(
            features=np.concatenate([one.features for one in lists]),
            question=np.repeat(np.arange(len(lists)), np.diff(plans)),
            owner=np.repeat(np.arange(len(lists)), np.diff(mentions)),
            asked=np.concatenate([one.masked for one in lists]),
            branches=np.concatenate([
                one.branches + np.array([plans[at], mentions[at], 0]) for at, one in enumerate(lists)
            ]),
        )  # fmt: skip

    def labels(self, chosen: Sequence[int] | NDArray[np.int64]) -> Floats:
        """Return the labels of the plans of the chosen questions, in the order of `table`."""
        return np.concatenate([self.lists[at].labels for at in chosen])

    def teaching(self, chosen: Sequence[int] | NDArray[np.int64]) -> Floats:
        """Return for each chosen question 1 if it teaches something about walks, else 0."""
        return np.array([self.lists[at].teaches for at in chosen], dtype=np.float32)

    @cached_property
    def reach(self) -> Floats:
        """The highest label of each question; 0 when no plan finds an answer."""
        return np.array([one.labels.max(initial=0.0) for one in self.lists], dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A question with its labelled plans, and its masked texts that are not encoded yet."""

    question: AnalysedQuestion
    masked: list[str]
    plans: list[PlanCandidate]
    labels: Floats
    teaches: bool


@dataclass(frozen=True)
class Collector:
    """Collects the plan lists of questions with the planner of searches. Memory grows by about 10 KB per question."""

    planner: RulePlanner
    _places: dict[Metapath, int] = field(default_factory=dict, init=False)

    def collect(
        self, texts: Sequence[str], answers: Sequence[Keys], progress: Callable[[int], None], limit: Limit
    ) -> PlanLists:
        """Return the lists of these questions.

        `answers` holds sorted keys. `progress` receives the number of finished questions.
        """
        lists: list[PlanList] = []
        before: tuple[list[_Asked], Future[None]] | None = None
        # The encoder works on one block while the next is enumerated: torch releases the interpreter lock meanwhile.
        with ThreadPoolExecutor(1) as pool:
            for first in range(0, len(texts), QUESTIONS_A_BLOCK):
                block = slice(first, first + QUESTIONS_A_BLOCK)
                asked = [self._asked(*pair, limit) for pair in zip(texts[block], answers[block], strict=True)]
                limit.check("training")
                encoding = pool.submit(self._encode, asked, limit)
                if before is not None:
                    lists += self._finished(*before)
                    progress(len(lists))
                before = asked, encoding
            if before is not None:
                lists += self._finished(*before)
                progress(len(lists))
        return PlanLists(lists, list(self._places))

    def _asked(self, text: str, answers: Keys, limit: Limit) -> _Asked:
        limit.check("training")
        question = self.planner.proposer.read(text)
        return _Asked(question, masked(question), *self._labelled(question, answers, limit))

    def _encode(self, asked: Sequence[_Asked], limit: Limit) -> None:
        """Compute all vectors of a block, several questions in one call: encoding single texts is many times slower.

        A cancelled training waits for one call, not for the whole block.
        """
        for first in range(0, len(asked), QUESTIONS_A_CALL):
            limit.check("training")
            part = asked[first : first + QUESTIONS_A_CALL]
            self.planner.features.learn(
                one.question.without(used) for one in part for used in {plan.mentions for plan in one.plans}
            )
            self.planner.features.lexicon.vectors.learn(text for one in part for text in one.masked)

    def _finished(self, asked: Sequence[_Asked], encoding: Future[None]) -> list[PlanList]:
        encoding.result()
        return [self._listed(one) for one in asked]

    def _listed(self, asked: _Asked) -> PlanList:
        for plan in asked.plans:
            for path in plan.paths:
                self._places.setdefault(path, len(self._places))
        features = self.planner.features.of(asked.question, asked.plans)
        return PlanList(
            features=features.astype(np.float32).reshape(-1, len(FEATURES)),
            labels=asked.labels,
            branches=branches(asked.plans, self._places),
            masked=self.planner.features.lexicon.vectors.of(asked.masked),
            spans=tuple((name.mention.start, name.mention.end) for name in asked.question.names),
            teaches=asked.teaches,
        )

    def _labelled(
        self, question: AnalysedQuestion, answers: Keys, limit: Limit
    ) -> tuple[list[PlanCandidate], Floats, bool]:
        """Return the plans of a question with their labels, and whether it teaches (`PlanList.teaches`)."""
        plans = self.planner.proposer.candidates(question, limit)
        known = AnswerFilter(self.planner.adjacency, answers)
        lister = self.planner.lister(question, limit)
        found, shares = np.zeros(len(plans)), np.zeros(len(plans))
        for at, plan in enumerate(plans):
            if not known.misses(plan):
                limit.check("training")
                found[at], shares[at] = self._worth(plan, lister, answers, limit)
        labels = without_accidents(found, shares).astype(np.float32)
        best = float(labels.max(initial=0.0))
        teaches = best == 1.0 or not plans or self._elsewhere(question, lister, answers, limit) <= best
        if len(plans) > MOST_PLANS:
            kept = np.sort(np.argsort(labels <= 0, kind="stable")[:MOST_PLANS])
            return [plans[at] for at in kept], labels[kept], teaches
        return plans, labels, teaches

    def _worth(self, walk: PlanCandidate, lister: Lister, answers: Keys, limit: Limit) -> tuple[float, float]:
        """Return the F1 of what a walk finds with the question's conditions, and the share of words it explains."""
        settled = self.planner.proposer.enumerator.settle(walk)
        if settled is None:
            return 0.0, 0.0
        plan, share = lister.of_walk(settled)
        if not _has_conditions(plan, settled):
            return f1(self.planner.proposer.enumerator.found(settled), answers), share
        return f1(self._executed(plan, limit), answers), share

    def _elsewhere(self, question: AnalysedQuestion, lister: Lister, answers: Keys, limit: Limit) -> float:
        """Return the F1 of the likeliest plan that no walk from a name makes; 0 if there is none but text alone."""
        listed = lister((), Scored((), Weights().text), question.text, _OTHERS, 0.0, 1.0)
        plan = next((one.plan for one in listed if one.plan.anchors or one.plan.runs_over_type), None)
        return 0.0 if plan is None else f1(self._executed(plan, limit), answers)

    def _executed(self, plan: Plan, limit: Limit) -> Keys:
        """Return the sorted keys that the engine finds for a plan."""
        assert self.planner.graph is not None
        linked = LinkedPlan(plan, own_bindings(plan, self.planner.nodes))
        found = self.planner.graph.execute(linked, limit).candidates
        return np.array(sorted({one.key for one in found}), dtype=np.int32)


def without_accidents(found: Values, shares: Values) -> Values:
    """Return the labels of a question's plans: their F1, less where they leave over words that others explain.

    `found` has the F1 of each plan and `shares` the share of the question's words that it explains, shapes (plans,).
    The F1 is multiplied by the share, divided by the largest share of a plan with the same or a higher F1.
    """
    order = np.argsort(-found, kind="stable")
    best = np.maximum.accumulate(shares[order]) if len(order) else shares
    # Plans of the same F1 are compared with each other, whatever their order.
    most = np.array([best[np.flatnonzero(found[order] >= own)[-1]] for own in found])
    return found * np.divide(shares, most, out=np.ones_like(shares), where=most > 0)


def _has_conditions(plan: Plan, walk: PlanCandidate) -> bool:
    """Whether a plan holds more than a walk."""
    hops = sum(len(path.steps) for path in walk.paths)
    more = len(plan.hops) > hops or len(plan.anchors) > len(walk.branches)
    return bool(more or plan.filters or plan.exclude or plan.order is not None)
