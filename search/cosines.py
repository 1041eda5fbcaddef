"""The cosine of the question and a node's document. It orders equal scores in every list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import Encoder, VectorIndex


@dataclass(frozen=True, slots=True)
class QuestionCosines:
    """A callable that returns the cosines of keys when a list needs them (`search.domain.ranking.Cosines`).

    The question is encoded only when cosines are requested. The encoder of a search caches its vectors, so that all
    stages together encode the question once.
    """

    question: Question
    encoder: Encoder
    vectors: VectorIndex
    limit: Limit
    stage: str

    def __call__(self, keys: Sequence[int]) -> Mapping[int, float]:
        """Return the cosine of each key that has a document.

        Raises DeadlineExceeded if the time ran out, and SearchCancelled if the search was cancelled.
        """
        if not keys:
            return {}
        self.limit.check(self.stage)
        return self.vectors.cosines(self.encoder.encode([self.question.text])[0], keys)
