"""Text retrieval: ranks documents for a question by words (BM25), by vectors, or by both lists fused."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from search.cosines import QuestionCosines, likeness, squared_coverage
from search.domain.errors import StageError, by_words_alone
from search.domain.expansion import BETWEEN
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Candidate, NotedRanking, Ranking, Scores, by_key
from search.domain.trace import Limit
from search.domain.vector_kinds import DOCUMENT, WHOLE
from search.interfaces import Encoder, TextIndex, VectorIndex, VectorKind, Vectors

DOCUMENTS: VectorKind = WHOLE
DEPTH_HELP = "Length of the list, in documents."
NO_VECTORS = "This release has no vectors: documents are found by their words alone, until it is indexed with vectors"
NO_PLAIN_DOCUMENTS = (
    f"This release has no vectors of documents without relations, so those with relations were searched; "
    f"`index_kb NAME --kind {DOCUMENT}` makes them"
)
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
    """Ranks documents by the cosine of their vector and the question's vector; equal scores by id.

    The text of a document ends with the names of its neighbours by relation, unless `relations` is off. Vectors
    without relations are built on request; a release that lacks them is searched with relations, and the list says so.
    """

    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)
    relations: bool = option(True, "Whether the names of neighbours are part of a document's text.")

    def __call__(self, question: Question, limit: Limit) -> Ranking | Fusion:
        """Return the `depth` nearest documents. Raises a permanent StageError if the release has no vectors."""
        limit.check("retrieve")
        if not self.vectors.kinds:
            raise StageError("retrieve", NO_VECTORS, permanent=True)
        there = self.relations or DOCUMENT in self.vectors.kinds
        kind: VectorKind = DOCUMENT if there and not self.relations else DOCUMENTS
        vector = self.encoder.encode([question.text])[0]
        found = self.vectors.nearest(kind, vector, self.depth, limit=limit)
        ranking = Ranking.of(_scores(found), by_key, self.depth)
        return ranking if there else replace(Fusion.single("vss", ranking), detail=NO_PLAIN_DOCUMENTS)


@dataclass(frozen=True)
class Expanded:
    """Ranks documents for an expanded question by cosines; a release without vectors is searched by words instead.

    With `whole` the text is encoded as one, as in KAR (Xia et al. 2025), whose encoder reads 8,191 tokens. Other
    encoders read less: with `mean` the question and each part that was added to it are encoded on their own, and the
    mean of their vectors is compared (HyDE, Gao et al. 2023, equation 8).
    """

    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)
    vector: str = option("whole", "How the parts of the text become one vector.", choices=("whole", "mean"))

    def __call__(self, question: Question, limit: Limit) -> Ranking | Fusion:
        """Return the `depth` nearest documents, or the best by words; then the list says so.

        It also says so if the encoder does not read the whole text.
        """
        limit.check("retrieve")
        if not self.vectors.kinds:
            words = Bm25(self.text, self.encoder, self.vectors, self.depth)(question, limit)
            return replace(Fusion.single("bm25", words), detail=NO_VECTORS)
        try:
            found = self.vectors.nearest(DOCUMENTS, self._vector(question.text), self.depth, limit=limit)
        except StageError as error:
            words = Bm25(self.text, self.encoder, self.vectors, self.depth)(question, limit)
            return replace(Fusion.single("bm25", words), detail=by_words_alone(error))
        ranking = Ranking.of(_scores(found), by_key, self.depth)
        return NotedRanking(ranking.candidates, ranking.total, self._unread(question.text))

    def _unread(self, text: str) -> str:
        most = getattr(self.encoder, "characters_read", 0)
        if self.vector == "mean" or not 0 < most < len(text):
            return ""
        return f"The encoder reads about {most:,} of the {len(text):,} characters."

    def _vector(self, text: str) -> Vectors:
        """Return the vector of a text, of unit length."""
        # One call a part: texts of one call are padded to one length, which changes the last digits of their vectors.
        # The ranking would then depend on which parts the encoder already knows.
        rows = [self.encoder.encode([part])[0] for part in (text.split(BETWEEN) if self.vector == "mean" else [text])]
        mean: Vectors = np.mean(rows, axis=0)
        return mean / max(float(np.linalg.norm(mean)), float(np.finfo(np.float32).tiny))


@dataclass(frozen=True)
class Hybrid:
    """Fuses the lists of `Bm25` and `Dense`; equal sums are ordered by cosine, then by id.

    Method `scores` adds the likeness and `words` × squared coverage (`search.cosines`), both exact for every document
    of either list. A sum of scores keeps how much better the first document is than the second, which ranks forget
    (Bruch et al. 2023, who divide by the best score of the question). Method `ranks` adds reciprocal ranks (Cormack et
    al. 2009).
    """

    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    depth: int = option(100, DEPTH_HELP, low=1, high=1000)
    k: float = option(
        60.0,
        "Method ranks: constant of 1 / (k + rank). The larger it is, the less the first places count.",
        low=0,
        high=1000,
    )
    method: str = option("ranks", "What is added up: reciprocal ranks or scores.", choices=("ranks", "scores"))
    words: float = option(8.0, "Method scores: weight of the squared coverage; the likeness has 1.", low=0, high=100)

    def __call__(self, question: Question, limit: Limit) -> Fusion:
        """Return the `depth` best documents of both lists; each list holds `depth` documents, too.

        If the release has no vectors, or their engine does not answer, the words alone count, and the fusion says so.
        """
        words = Bm25(self.text, self.encoder, self.vectors, self.depth)(question, limit)
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "retrieve")
        if not self.vectors.kinds:
            return Fusion.of({"bm25": words}, {"bm25": 1.0}, self.k, cosines, self.depth, detail=NO_VECTORS)
        try:
            near = Dense(self.encoder, self.vectors, self.depth)(question, limit).ranking
        except StageError as error:
            told = by_words_alone(error)
            return Fusion.of({"bm25": words}, {"bm25": 1.0}, self.k, cosines, self.depth, detail=told)
        if self.method == "ranks":
            rankings = {"bm25": words, "vss": near}
            return Fusion.of(rankings, dict.fromkeys(rankings, 1.0), self.k, cosines, self.depth)
        return self._summed(question, words, near, cosines)

    def _summed(self, question: Question, words: Ranking, near: Ranking, cosines: QuestionCosines) -> Fusion:
        """Return the sum of both scores over the documents of both lists."""
        keys = np.union1d(near.arrays.node_keys, words.arrays.node_keys)
        covered = squared_coverage(self.text, question.text, keys)
        known = likeness(self.vectors, self.encoder.encode([question.text])[0], keys.tolist())
        shared = covered > 0
        words = Ranking.of(Scores(keys[shared], covered[shared]), cosines)
        rankings = {"bm25": words, "vss": Ranking.of(known, by_key)}
        return Fusion.added(rankings, {"bm25": self.words, "vss": 1.0}, cosines, self.depth)


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
