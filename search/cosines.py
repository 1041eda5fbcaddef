"""The cosine of the question and a node's document: what equal scores are ordered by in every list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import Encoder, VectorIndex


@dataclass(frozen=True, slots=True)
class QuestionCosines:
    """Gives the cosines of keys when a list needs them (`search.domain.ranking.Cosines`).

    The question is encoded only when the first key is asked for; the encoder of a search remembers its vectors, so that
    all stages together encode it once.
    """

    question: Question
    encoder: Encoder
    vectors: VectorIndex
    limit: Limit
    stage: str

    def __call__(self, keys: Sequence[int]) -> Mapping[int, float]:
        """Return the cosine of each key that has a document. Raises DeadlineExceeded when the time ran out."""
        if not keys:
            return {}
        self.limit.check(self.stage)
        return self.vectors.cosines(self.encoder.encode([self.question.text])[0], keys)
