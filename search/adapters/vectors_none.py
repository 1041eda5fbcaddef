"""The vectors of a release that has none: nothing is near to anything, and no node has a cosine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.domain.errors import StageError
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.domain.vector_kinds import WHOLE
from search.interfaces import Keys, KindMatrix, VectorKind, Vectors


class NoVectors:
    """The vectors of a release that was made without any (interfaces.VectorIndex); such a release is searched by words
    and by the graph.
    """

    backend = "none"
    kinds: frozenset[VectorKind] = frozenset()

    def matrix(self, kind: VectorKind) -> KindMatrix:
        """Raise a permanent StageError: there is no such matrix."""
        raise StageError("vectors", "the release has no vectors; `index_kb` makes one with vectors", permanent=True)

    def nearest(
        self, kind: VectorKind, vector: Vectors, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        """Return nothing."""
        return []

    def cosines(self, vector: Vectors, keys: Sequence[int], kind: VectorKind = WHOLE) -> dict[int, float]:
        """Return nothing."""
        return {}

    def best_cosines(self, kind: VectorKind, vectors: Vectors) -> tuple[Keys, Vectors]:
        """Return nothing."""
        return np.empty(0, dtype=np.int32), np.empty((len(vectors), 0), dtype=np.float32)

    def sample(self, label: str, n: int = 1000, limit: Limit | None = None) -> list[int]:
        """Return nothing."""
        return []

    def background(self, vector: Vectors, label: str, n: int = 1000, limit: Limit | None = None) -> Vectors:
        """Return an empty array."""
        return np.empty(0, dtype=np.float32)
