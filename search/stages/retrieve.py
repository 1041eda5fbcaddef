"""Question → the list of text retrieval: by words (BM25), by vectors, or by both, fused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking, rrf
from search.domain.trace import Limit
from search.interfaces import Encoder, TextIndex, VectorIndex, VectorKind, Vectors

DOCUMENTS: VectorKind = "document+relations"
DEPTH_HELP = "How many documents the list holds."
OVERFETCH = 1.5
"""Equal scores at the end of a list are put in order by cosine, so more is fetched than the list holds."""


@dataclass(frozen=True)
class Bm25:
    """Ranks documents by the words they share with the question; equal scores by cosine, then id."""

    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        """Return the best documents that share a word with the question."""
        limit.check("retrieve")
        found = self.text.search(question.text, _more(self.depth))
        ties: dict[int, float] = {}
        if tied := _tied(found):
            ties = self.vectors.cosines(_embed(self.encoder, question), tied)
        return Ranking.of({candidate.key: candidate.score for candidate in found}, ties, self.depth)


@dataclass(frozen=True)
class Dense:
    """Ranks documents by the cosine of their vector and the question's; equal scores by id."""

    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        """Return the nearest documents."""
        limit.check("retrieve")
        found = self.vectors.nearest(DOCUMENTS, _embed(self.encoder, question), self.depth, limit=limit)
        return Ranking.of({candidate.key: candidate.score for candidate in found}, depth=self.depth)


@dataclass(frozen=True)
class Hybrid:
    """Fuses the lists of words and of vectors by reciprocal ranks; equal sums by cosine, then id."""

    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)
    k: float = option(60.0, "The k of 1 / (k + rank): the larger, the less the first places count.", low=0, high=1000)

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        """Return the best documents of both lists, each as deep as the result."""
        limit.check("retrieve")
        vector = _embed(self.encoder, question)
        found = self.text.search(question.text, _more(self.depth))
        scores = {candidate.key: candidate.score for candidate in found}
        words = Ranking.of(scores, self.vectors.cosines(vector, _tied(found)), self.depth)
        near = self.vectors.nearest(DOCUMENTS, vector, self.depth, limit=limit)
        cosines = {candidate.key: candidate.score for candidate in near}
        sums = rrf({"bm25": words, "vss": Ranking.of(cosines)}, {"bm25": 1.0, "vss": 1.0}, self.k)
        unknown = [key for key in _tied(Candidate(*pair) for pair in sums.items()) if key not in cosines]
        return Ranking.of(sums, cosines | self.vectors.cosines(vector, unknown), self.depth)


def _embed(encoder: Encoder, question: Question) -> Vectors:
    vector: Vectors = encoder.encode([question.text])[0]
    return vector


def _more(depth: int) -> int:
    return int(depth * OVERFETCH) + 1


def _tied(found: Iterable[Candidate]) -> list[int]:
    """Return the keys of candidates whose score another one has too."""
    holders: dict[float, list[int]] = {}
    for candidate in found:
        holders.setdefault(candidate.score, []).append(candidate.key)
    return [key for keys in holders.values() if len(keys) > 1 for key in keys]
