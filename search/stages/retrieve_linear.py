"""Words and vectors added up: the text retrieval that SPARK falls back to (SAGE, section 2.2 A and appendix E)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from search.cosines import QuestionCosines
from search.domain.errors import StageError, by_words_alone
from search.domain.fusion import Fusion
from search.domain.linear import linear
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.vector_kinds import WHOLE
from search.interfaces import Encoder, TextIndex, VectorIndex

NO_VECTORS = "This release has no vectors: documents are found by their words alone, until it is indexed with vectors"


@dataclass(frozen=True)
class Linear:
    """Fuses BM25 and cosine over the best documents of either, by a weighted sum of rescaled scores."""

    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, "Length of the list, in documents.", low=1, high=1000)
    bm25_weight: float = option(
        0.5, "Weight of BM25, rescaled to 0 … 1 over the documents; the likeness has the rest.", low=0, high=1
    )

    def __call__(self, question: Question, limit: Limit) -> Fusion:
        """Return the best documents; without vectors by their words alone, and the fusion says so."""
        limit.check("retrieve")
        found = {candidate.key: candidate.score for candidate in self.text.search(question.text, self.depth)}
        tied = QuestionCosines(question, self.encoder, self.vectors, limit, "retrieve")
        if not self.vectors.kinds:
            return linear(found, {}, self.bm25_weight, self.depth, tied, Fusion, detail=NO_VECTORS)
        vector = self.encoder.encode([question.text])[0]
        try:
            near = [one.key for one in self.vectors.nearest(WHOLE, vector, self.depth, limit=limit)]
        except StageError as error:
            told = by_words_alone(error)
            return linear(found, {}, self.bm25_weight, self.depth, tied, Fusion, detail=told)
        keys = sorted({*found, *near})
        _, scores = self.text.word_scores(question.text, np.array(keys, dtype=np.int32))
        words = dict(zip(keys, scores.sum(axis=0).tolist(), strict=True))
        cosines = self.vectors.cosines(vector, keys)
        return linear(words, cosines, self.bm25_weight, self.depth, tied, Fusion)
