"""Score how well each candidate plan fits the wording of a question, without learning (docs/planning.md, point 4).

Constants weigh a few features (`features`) and a cosine; the weighted values are summed. The planner turns the sums of
all plans of a question into probabilities by a softmax. The constants are round numbers, not fitted to data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.domain.plan import PlanSource
from search.language.question import AnalysedQuestion
from search.language.words import BARE_WORDS
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge.vectors import TextVectors
from search.stages.plan.knowledge.wording import Wording
from search.stages.plan.scoring.features import SPOKEN, Features

Scores = NDArray[np.float64]

_LONGER = -0.1
"""What each hop beyond the first counts, on the scale of cosines, where no word of the question is left."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each feature; the features of `features.SPOKEN` have the same names here.

    `cosine`: weight of the cosine between the masked question and the wording of the plan, less the mean of all plans.
    `text`: the sum of the plan without hops.
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
"""Weights for each choice of evidence: single words of the question, the wording of the plan, or both."""


@dataclass(frozen=True)
class Scored:
    """Candidates with their sums, best first, and the sum of the plan without hops.

    `source` names the kind of scorer, `note` is a sentence for the trace, `degraded` is true when the intended scorer
    could not be used.
    """

    candidates: Sequence[tuple[PlanCandidate, float]]
    text: float
    source: PlanSource = "schema"
    note: str = ""
    degraded: bool = False


@dataclass(frozen=True)
class Scorer:
    """Scores candidates with constant weights. The encoder compares the wording of at most `encoded` plans.

    Of these it compares only plans whose other features sum to at most `within` less than the best plan's: no cosine
    makes up for more. Schemas with many relations have many plans whose wording nobody has encoded before.
    """

    features: Features
    wording: Wording
    vectors: TextVectors
    weights: Weights = Weights()
    encoded: int = 16
    within: float = 4.0

    def __call__(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Scored:
        """Return the candidates, best first: those chosen by their features before the cosine is added."""
        if not candidates:
            return Scored((), self.weights.text)
        sums = self.features.spoken(question, candidates) @ self.weights.spoken()
        order = np.argsort(-sums, kind="stable")[: self.encoded]
        order = order[sums[order] >= sums[order[0]] - self.within]
        chosen = [candidates[at] for at in order]
        total = sums[order]
        if self.weights.cosine:
            total = total + self.weights.cosine * self._cosines(question, chosen)
        ranked = np.argsort(-total, kind="stable")
        return Scored([(chosen[at], float(total[at])) for at in ranked], self.weights.text)

    def _cosines(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Scores:
        """Return for each plan the cosine between the masked question and the wording of the plan, less the mean.

        Each mention is masked by the type that the plan gives it. The mean over the plans is subtracted, because the
        typical cosine of unrelated texts differs between encoders.
        """
        asked = [
            question.masked([(b.start.mention, self.wording.types[b.path.start]) for b in candidate.branches])
            for candidate in candidates
        ]
        told = [self.wording.plan(candidate.paths) for candidate in candidates]
        # Later stages need the question's own vector. In this batch it costs less than in a call of its own.
        self.vectors.learn([question.text, *asked, *told])
        cosines: Scores = np.einsum("ij,ij->i", self.vectors.of(asked), self.vectors.of(told)).astype(np.float64)
        cosines -= cosines.mean()
        # Where no word is left, nothing says how answers and names are connected: the nearer, the likelier.
        said = [any(w.text not in BARE_WORDS for w in question.without(one.mentions).words) for one in candidates]
        longer = [sum(len(path.steps) - 1 for path in candidate.paths) for candidate in candidates]
        return np.where(said, cosines, _LONGER * np.array(longer))
