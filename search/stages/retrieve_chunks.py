"""Retrieval by chunks: a document has several vectors, one for each stretch of its text (multi-VSS of STaRK, 2024)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking, by_key
from search.domain.trace import Limit
from search.domain.vector_kinds import CHUNK, PASSAGE, WHOLE
from search.interfaces import Encoder, Keys, VectorIndex, VectorKind, Vectors

STAGE = "retrieve"
NO_VECTORS = "This release has no vectors: index it with vectors, or ask with BM25"
ROWS_AT_ONCE = 65_536
"""Vectors that are compared at once: 100 MB in single precision for 384 dimensions."""


@dataclass(frozen=True)
class Chunks:
    """Ranks documents by the cosines of their chunks and the question: by the best one, or by the mean of all.

    Vectors of chunks are built on request. A release without them is searched by the vectors of whole documents, and
    the list says which command builds them.
    """

    encoder: Encoder
    vectors: VectorIndex
    pool: str = option("max", "Which likeness of a document's chunks counts.", choices=("max", "mean"))
    kind: str = option(
        CHUNK, "The vectors: stretches of 150 words (chunk), or one to a few sentences (passage).",
        choices=(CHUNK, PASSAGE),
    )  # fmt: skip
    depth: int = option(100, "Length of the list, in documents.", low=1, high=1000)

    def __call__(self, question: Question, limit: Limit) -> Ranking | Fusion:
        """Return the `depth` best documents; equal scores are ordered by key.

        Raises a permanent StageError if the release has no vectors, DeadlineExceeded and SearchCancelled.
        """
        limit.check(STAGE)
        if not self.vectors.kinds:
            raise StageError(STAGE, NO_VECTORS, permanent=True)
        vector: Vectors = self.encoder.encode([question.text])[0]
        there = self.kind in self.vectors.kinds
        if there and self.pool == "mean":
            return Ranking.of(self._means(vector, limit), by_key, self.depth)
        kind: VectorKind = self.kind if there else WHOLE
        found: list[Candidate] = self.vectors.nearest(kind, vector, self.depth, limit=limit)
        ranking = Ranking.of({candidate.key: candidate.score for candidate in found}, by_key, self.depth)
        return ranking if there else replace(Fusion.single("vss", ranking), detail=self._missing())

    def _means(self, vector: Vectors, limit: Limit) -> dict[int, float]:
        """Return key → mean cosine of its chunks."""
        matrix = self.vectors.matrix(self.kind)
        cosines = np.empty(len(matrix.keys), dtype=np.float32)
        for first in range(0, len(cosines), ROWS_AT_ONCE):
            limit.check(STAGE)
            block = slice(first, first + ROWS_AT_ONCE)
            cosines[block] = _cosines(np.asarray(matrix.rows[block], dtype=np.float32), vector)
        keys, means = _mean_of_equal(matrix.keys, cosines)
        best = (
            np.argpartition(-means, self.depth)[: self.depth + 1] if len(means) > self.depth else np.arange(len(keys))
        )
        # All that equal the last of the best, too: the list is cut by key among them.
        kept = means >= means[best].min(initial=np.inf)
        return dict(zip(keys[kept].tolist(), means[kept].tolist(), strict=True))

    def _missing(self) -> str:
        return (
            f"This release has no vectors of kind {self.kind}, so the vectors of whole documents were compared; "
            f"`index_kb NAME --kind {self.kind}` makes them"
        )


def _cosines(rows: Vectors, vector: Vectors) -> Vectors:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    cosines: Vectors = rows @ vector / np.maximum(lengths, np.finfo(np.float32).tiny)
    return cosines


def _mean_of_equal(keys: Keys, values: Vectors) -> tuple[Keys, NDArray[np.float64]]:
    """Return the distinct keys, which are sorted, and the mean value of each."""
    firsts = np.flatnonzero(np.append(True, np.diff(keys) != 0)[: len(keys)])
    if not len(firsts):
        return keys[:0], np.empty(0)
    counts = np.diff(np.append(firsts, len(keys)))
    return keys[firsts], np.add.reduceat(values.astype(np.float64), firsts) / counts
