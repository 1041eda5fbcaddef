"""Small in-memory implementations of the tools' protocols, for unit tests and for imports without a model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.interfaces import KindMatrix, VectorKind, Vectors


class HashEncoder:
    """Encodes each text as a fixed random direction, and remembers the encoded texts."""

    def __init__(self, name: str = "hash@1", dimensions: int = 16) -> None:
        self.name = name
        self.dimensions = dimensions
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        return np.array([self.vector(text) for text in texts], dtype=np.float32).reshape(-1, self.dimensions)

    def vector(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        drawn = np.random.default_rng(seed).normal(size=self.dimensions)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)


class MemoryVectors:
    """Vectors in dictionaries by kind and key (interfaces.VectorIndex, node types are ignored)."""

    def __init__(self, vectors: Mapping[str, Mapping[int, Vectors]]) -> None:
        self._vectors = vectors
        self.kinds = frozenset(vectors)

    def nearest(
        self, kind: VectorKind, vector: Vectors, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        found = [Candidate(key, float(other @ vector)) for key, other in self._vectors[kind].items()]
        return sorted(found, key=lambda candidate: (-candidate.score, candidate.key))[:k]

    def cosines(
        self, vector: Vectors, keys: Sequence[int], kind: VectorKind = "document+relations"
    ) -> dict[int, float]:
        documents = self._vectors[kind]
        return {key: float(documents[key] @ vector) for key in keys if key in documents}

    def matrix(self, kind: VectorKind) -> KindMatrix:
        rows = [self._vectors[kind][key] for key in sorted(self._vectors[kind])]
        return KindMatrix(np.array(sorted(self._vectors[kind]), dtype=np.int32), np.array(rows, dtype=np.float16))

    def sample(self, label: str, n: int = 1000, limit: Limit | None = None) -> list[int]:
        return sorted(self._vectors["name"])[:n]

    def background(self, vector: Vectors, label: str, n: int = 1000, limit: Limit | None = None) -> Vectors:
        return np.array(list(self.cosines(vector, self.sample(label, n, limit)).values()), dtype=np.float32)


class MemoryText:
    """Returns the same given scores for every text (interfaces.TextIndex)."""

    def __init__(self, scores: Mapping[int, float]) -> None:
        self._scores = scores

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Candidate]:
        order = sorted(self._scores, key=lambda key: (-self._scores[key], key))
        return [Candidate(key, self._scores[key]) for key in order[:k]]
