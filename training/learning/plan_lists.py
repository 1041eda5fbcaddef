"""The candidate plans of many questions with the F1 of their results, small enough to keep in memory
(docs/planning.md, "Learned").

The plans of each question are enumerated as in a search. The label of a plan is the F1 of the nodes that it finds
against the answers. Only features, branches and labels are kept; the nodes that the plans find are discarded at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from search.domain.trace import Limit
from search.interfaces import Adjacency, Keys, PlanTable, Vectors
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.enumeration.propose import Proposer
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.scoring.features import FEATURES, Features
from search.stages.plan.scoring.learned import branches, masked
from training.evaluation.plan_answers import AnswerFilter, f1

Floats = NDArray[np.float32]

QUESTIONS_A_BLOCK = 64
"""Questions in one block. The nodes found by the plans of two blocks are in memory at the same time."""
QUESTIONS_A_CALL = 16
"""Questions of a block whose texts are sent to the encoder in one call."""
MOST_PLANS = 400
"""Most plans of a question to learn from. Plans that find answers come first, then the first (shorter) plans listed."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanList:
    """One question's candidate plans: the features, the F1 (`labels`) and the branches of each.

    A branch holds the index of a plan, the index of its mention in `masked`, and the index of a path. `masked` holds
    one vector for each mention, or the vector of the question itself when it has no mentions. `spans` holds the start
    and end of each mention in the question.
    """

    features: Floats
    labels: Floats
    branches: NDArray[np.int64]
    masked: Vectors
    spans: tuple[tuple[int, int], ...]


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


@dataclass(frozen=True)
class Collector:
    """Collects the plan lists of questions. Memory grows by about 10 KB per question."""

    proposer: Proposer
    features: Features
    adjacency: Adjacency
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
        question = self.proposer.read(text)
        return _Asked(question, masked(question), *self._labelled(question, answers, limit))

    def _encode(self, asked: Sequence[_Asked], limit: Limit) -> None:
        """Compute all vectors of a block, several questions in one call: encoding single texts is many times slower.

        A cancelled training waits for one call, not for the whole block.
        """
        for first in range(0, len(asked), QUESTIONS_A_CALL):
            limit.check("training")
            part = asked[first : first + QUESTIONS_A_CALL]
            self.features.learn(
                one.question.without(used) for one in part for used in {plan.mentions for plan in one.plans}
            )
            self.features.lexicon.vectors.learn(text for one in part for text in one.masked)

    def _finished(self, asked: Sequence[_Asked], encoding: Future[None]) -> list[PlanList]:
        encoding.result()
        return [self._listed(one) for one in asked]

    def _listed(self, asked: _Asked) -> PlanList:
        for plan in asked.plans:
            for path in plan.paths:
                self._places.setdefault(path, len(self._places))
        return PlanList(
            features=self.features.of(asked.question, asked.plans).astype(np.float32).reshape(-1, len(FEATURES)),
            labels=asked.labels,
            branches=branches(asked.plans, self._places),
            masked=self.features.lexicon.vectors.of(asked.masked),
            spans=tuple((name.mention.start, name.mention.end) for name in asked.question.names),
        )

    def _labelled(self, question: AnalysedQuestion, answers: Keys, limit: Limit) -> tuple[list[PlanCandidate], Floats]:
        plans = self.proposer.candidates(question, limit)
        known = AnswerFilter(self.adjacency, answers)
        found = self.proposer.enumerator.found
        labels = np.array([0.0 if known.misses(plan) else f1(found(plan), answers) for plan in plans], dtype=np.float32)
        if len(plans) > MOST_PLANS:
            kept = np.sort(np.argsort(labels <= 0, kind="stable")[:MOST_PLANS])
            return [plans[at] for at in kept], labels[kept]
        return plans, labels
