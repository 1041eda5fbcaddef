"""How well each candidate plan answers to the wording of a question (docs/planning.md, point 4), nothing learned.

A few features (`features`) and a cosine are weighed by constants and summed; a softmax over the sums, of all mentions
and plans together, gives the probabilities. The constants are round numbers that say what counts for more, not a fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.domain.plan import PlanSource
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge.vectors import TextVectors
from search.stages.plan.knowledge.wording import Wording
from search.stages.plan.scoring.features import SPOKEN, Features

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts for; those of `features.SPOKEN` bear their names.

    `cosine`: masked question and wording of the plan, above the mean of all plans. `text`: the sum of the plan without
    hops.
    """

    cosine: float = 15.0
    hops: float = 3.0
    words: float = 3.0
    order: float = 3.0
    target: float = 2.0
    sharing: float = 1.0
    surplus: float = -2.0
    missed: float = -6.0
    plain: float = -3.0
    size: float = -0.3
    text: float = 5.0

    def spoken(self) -> Scores:
        """Return the weights of the columns `SPOKEN`, in their order."""
        return np.array([getattr(self, name) for name in SPOKEN])


EVIDENCE: dict[str, Weights] = {
    "both": Weights(),
    "words": Weights(cosine=0.0),
    "wording": Weights(
        hops=0.0, words=0.0, order=0.0, target=0.0, sharing=0.0, surplus=0.0, missed=0.0, plain=0.0, size=0.0, text=0.0
    ),
}
"""What plans are scored by: single words and the wording as a whole, or one of the two."""


@dataclass(frozen=True)
class Scored:
    """Candidates with their sums, best first, and the sum of the plan without hops.

    `source` says what scored them, `note` is a sentence for the trace, `degraded` whether what should have scored them
    could not.
    """

    candidates: Sequence[tuple[PlanCandidate, float]]
    text: float
    source: PlanSource = "schema"
    note: str = ""
    degraded: bool = False


@dataclass(frozen=True)
class Scorer:
    """Scores candidates. `encoded` is the most plans whose wording is held against the question by the encoder."""

    features: Features
    wording: Wording
    vectors: TextVectors
    weights: Weights = Weights()
    encoded: int = 48

    def __call__(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Scored:
        """Return the candidates whose words fit best, at most `encoded` of them."""
        if not candidates:
            return Scored((), self.weights.text)
        sums = self.features.of(question, candidates)[:, : len(SPOKEN)] @ self.weights.spoken()
        order = np.argsort(-sums, kind="stable")[: self.encoded]
        chosen = [candidates[at] for at in order]
        total = sums[order]
        if self.weights.cosine:
            total = total + self.weights.cosine * self._cosines(question, chosen)
        ranked = np.argsort(-total, kind="stable")
        return Scored([(chosen[at], float(total[at])) for at in ranked], self.weights.text)

    def _cosines(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Scores:
        """Return the cosine of the question, mentions masked by the types they play, and each plan's wording.

        Less its mean over the plans: where cosines of unrelated texts lie differs from encoder to encoder.
        """
        asked = [
            question.masked([(b.start.mention, self.wording.types[b.path.start]) for b in candidate.branches])
            for candidate in candidates
        ]
        told = [self.wording.plan(candidate.paths) for candidate in candidates]
        # Every later stage asks for the question's own vector: in this batch it costs a fraction of a call.
        self.vectors.learn([question.text, *asked, *told])
        cosines: Scores = np.einsum("ij,ij->i", self.vectors.of(asked), self.vectors.of(told)).astype(np.float64)
        cosines -= cosines.mean()
        return cosines
