"""Two lists → one, the second after the first (AF-Retriever, algorithm 1, line 13)."""

from __future__ import annotations

from dataclasses import dataclass

from search.cosines import QuestionCosines
from search.domain.fusion import Fusion
from search.domain.precedence import K, behind
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.interfaces import Encoder, VectorIndex

STAGE = "join"
FIRST, SECOND = "grounded", "filled"


@dataclass(frozen=True)
class Join:
    """Puts one list after another.

    Written as a fusion by reciprocal ranks, so that every page can show its arithmetic: the lists share no candidate,
    and the second one has the weight (k + 1) / (k + n + 1), n being the length of the first. Its first candidate then
    gets what an (n+1)-th candidate of the first list would get, and all others less.
    """

    encoder: Encoder
    vectors: VectorIndex

    def __call__(self, question: Question, first: Ranking, second: Ranking, limit: Limit) -> Fusion:
        """Return both lists as one, in the order of each."""
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, STAGE)
        weights = {FIRST: 1.0, SECOND: behind(1.0, len(first))}
        return Fusion.of({FIRST: first, SECOND: second}, weights, K, cosines)
