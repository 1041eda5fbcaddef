"""Text retrieval: ranks documents for a question by words (BM25), by vectors, or by both lists fused."""

from __future__ import annotations

from dataclasses import dataclass

from search.cosines import QuestionCosines
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking, by_key
from search.domain.trace import Limit
from search.interfaces import Encoder, TextIndex, VectorIndex, VectorKind

DOCUMENTS: VectorKind = "document+relations"
DEPTH_HELP = "Length of the list, in documents."
NO_VECTORS = "This release has no vectors: documents are found by their words alone, until it is indexed with vectors"
OVERFETCH = 1.5
"""Number of fetched documents per listed one: documents with equal scores at the end are ordered by cosine."""
MOST_TIED_DOCUMENTS = 10_000
"""Number of fetched documents after which no more are fetched to complete a group of equal scores."""


@dataclass(frozen=True)
class Bm25:
    """Ranks documents by the words that they share with the question; equal scores by cosine, then by id."""

    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        """Return the best documents that share a word with the question."""
        limit.check("retrieve")
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "retrieve")
        return Ranking.of(_scores(_whole_ties(self.text, question.text, self.depth)), cosines, self.depth)


@dataclass(frozen=True)
class Dense:
    """Ranks documents by the cosine of their vector and the question's vector; equal scores by id."""

    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)

    def __call__(self, question: Question, limit: Limit) -> Ranking:
        """Return the `depth` nearest documents. Raises a permanent StageError if the release has no vectors."""
        limit.check("retrieve")
        if not self.vectors.kinds:
            raise StageError("retrieve", NO_VECTORS, permanent=True)
        vector = self.encoder.encode([question.text])[0]
        found = self.vectors.nearest(DOCUMENTS, vector, self.depth, limit=limit)
        return Ranking.of(_scores(found), by_key, self.depth)


@dataclass(frozen=True)
class Hybrid:
    """Fuses the lists of `Bm25` and `Dense` by reciprocal ranks; equal sums are ordered by cosine, then by id."""

    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)
    k: float = option(
        60.0, "Constant of 1 / (k + rank). The larger it is, the less the first places count.", low=0, high=1000
    )

    def __call__(self, question: Question, limit: Limit) -> Fusion:
        """Return the `depth` best documents of both lists; each list holds `depth` documents, too.

        If the release has no vectors, the words alone count, and the fusion says so.
        """
        rankings = {"bm25": Bm25(self.text, self.encoder, self.vectors, self.depth)(question, limit)}
        if self.vectors.kinds:
            rankings["vss"] = Dense(self.encoder, self.vectors, self.depth)(question, limit)
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "retrieve")
        weights, missing = dict.fromkeys(rankings, 1.0), "" if self.vectors.kinds else NO_VECTORS
        return Fusion.of(rankings, weights, self.k, cosines, self.depth, detail=missing)


def _scores(found: list[Candidate]) -> dict[int, float]:
    return {candidate.key: candidate.score for candidate in found}


def _whole_ties(index: TextIndex, text: str, depth: int) -> list[Candidate]:
    """Return the best `depth` documents, and all others with the same score as the last of them.

    An index orders documents of equal score by id, but here they are ordered by cosine. More than
    `MOST_TIED_DOCUMENTS` documents are fetched only once.
    """
    wanted = int(depth * OVERFETCH) + 1
    while True:
        found = index.search(text, wanted)
        if len(found) < wanted or found[depth - 1].score > found[-1].score or wanted > MOST_TIED_DOCUMENTS:
            return found
        wanted *= 8
