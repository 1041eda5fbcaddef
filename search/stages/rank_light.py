"""Reorders the candidates by a learned ranker over what the search knows of them (docs/ranking.md).

The idea is LambdaMART's (Burges 2010) over many signals; which signals are read is ours. Milliseconds a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.cosines import QuestionCosines
from search.domain.conditions import CheckedConditions
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.linking import LinkedPlan
from search.domain.options import option
from search.domain.precedence import without_reordering
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.signals import SHOWN_SIGNALS, Reranked, SignalShare
from search.domain.trace import Limit
from search.interfaces import Adjacency, Encoder, MentionIndex, Ranker, Rankers, TextIndex, VectorIndex
from search.signals.answer_types import type_signals
from search.signals.first_result import first_inputs
from search.signals.gather import Signals
from search.signals.table import SignalTable

LIGHT, GIVEN = "light", "fused"
"""Names of the ranker's list and of the given list, in the fusion of both."""
K = 3.0
"""Constant of 1 / (k + rank) in that fusion."""


@dataclass(frozen=True)
class LightRank:
    """Orders the union of the lists' first candidates by a learned ranker; the other candidates follow unchanged.

    If the ranker cannot be used, the order stays as it is, and the trace says why.
    """

    rankers: Rankers
    encoder: Encoder
    vectors: VectorIndex
    adjacency: Adjacency
    mentions: MentionIndex
    text: TextIndex
    light_artifact: str = option(
        "", "Name of the trained ranker (made by `train ranker`) that orders the possible answers.", staff_only=True
    )
    light_fold: int = option(
        -1,
        "Rank with the ranker that was fitted without this fold of its questions; -1 for all questions. "
        "For measuring on questions that it has learned from.",
        low=-1,
        high=19,
        staff_only=True,
    )
    light_depth: int = option(
        100, "Number of possible answers that each list gives to the ranker.", low=1, high=1_000, public_high=200
    )

    def load(self) -> None:
        """Load the ranker before the search's clock starts, if there is one; the stage says why there is none."""
        if self.light_artifact:
            with suppress(StageError):
                self.rankers.get(self.light_artifact, self.light_fold)

    def __call__(
        self,
        question: Question,
        fusion: Fusion,
        plans: Sequence[LinkedPlan],
        checked: CheckedConditions,
        limit: Limit,
    ) -> Reranked:
        """Return the candidates in the ranker's order, with the signals that moved the first `question.k` most.

        A ranker that has learned to tell it says how probable it is that the first one is an answer.
        """
        if not self.light_artifact:
            return unchanged(fusion, "No ranker has been trained for this knowledge base; the order before it stands.")
        try:
            ranker = self.rankers.get(self.light_artifact, self.light_fold)
        except StageError as error:
            return unchanged(fusion, f"The ranker cannot be used: {error.reason}. The order before it stands.")
        if ranker.encoder != self.encoder.name:
            why = f"it was trained with {ranker.encoder}, and this release has vectors of {self.encoder.name}"
            return unchanged(fusion, f"The ranker cannot be used: {why}. The order before it stands.")
        limit.check("rerank")
        table = Signals(self.adjacency, self.mentions, self.text, self.light_depth)(question, fusion, plans, checked)
        if not len(table.keys):
            return unchanged(fusion)
        vector = self.encoder.encode([question.text])[0]
        names = [kind.name for kind in self.adjacency.schema.node_types]
        types = type_signals(ranker.answer_types(question.text, vector), names, self.adjacency.types, table.keys)
        matrix = SignalTable(table.keys, {**table.columns, **types}).matrix(ranker.signals)
        scores = ranker.scores(matrix)
        ranked = in_order(table, matrix, scores, fusion)
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "rerank")
        fused = Fusion.of({LIGHT: ranked.ranking, GIVEN: fusion}, _weights(len(ranked.ranking)), K, cosines)
        probability = None
        if ranker.calibration is not None:
            probability = ranker.calibration.probability(first_inputs(table, scores, ranked.first))
        told = {"trust": fusion.trust, "probability": probability}
        return Reranked(**{**vars(fused), **told}, signals=_moved(ranked, ranker, question.k))


class LightRanked(NamedTuple):
    """The ranker's list, the signals of its candidates in the order of the list, and the first one's row before."""

    ranking: Ranking
    signals: NDArray[np.float32]
    first: int


def in_order(
    table: SignalTable, matrix: NDArray[np.float32], scores: NDArray[np.float64], fusion: Fusion
) -> LightRanked:
    """Return the candidates by falling score; equal scores keep the order of the fused list, then that of keys."""
    ranks = fusion.ranking.ranks
    last = len(ranks) + 1
    given = np.array([ranks.get(key, last) for key in table.keys.tolist()])
    order = np.lexsort((table.keys, given, -scores))
    pairs = zip(table.keys[order].tolist(), scores[order].tolist(), strict=True)
    return LightRanked(
        Ranking(tuple(Candidate(key, score) for key, score in pairs), len(order)), matrix[order], int(order[0])
    )


def unchanged(fusion: Fusion, why: str = "") -> Reranked:
    """Return the given list in its order; `why` is a sentence for people."""
    single = Fusion.single(GIVEN, fusion)
    return Reranked(**{**vars(single), "trust": fusion.trust, "cosines": fusion.cosines, "detail": why})


def _weights(ranked: int) -> dict[str, float]:
    """Return the weights of both lists: the given one is too weak to change the ranker's order of its candidates.

    The smallest difference of two neighbours among the ranker's list is 1 / (k + n - 1) - 1 / (k + n).
    """
    return {LIGHT: 1.0, GIVEN: without_reordering(0.5, ranked, K)}


def _moved(ranked: LightRanked, ranker: Ranker, first: int) -> dict[int, tuple[SignalShare, ...]]:
    """Return, for the first candidates, the signals with the largest contributions, the largest first."""
    matrix = ranked.signals[:first]
    contributions = ranker.contributions(matrix)
    strongest = np.argsort(-np.abs(contributions), axis=1, kind="stable")[:, :SHOWN_SIGNALS]
    return {
        candidate.key: tuple(
            SignalShare(ranker.signals[at], _number(values[at]), float(parts[at])) for at in places if parts[at]
        )
        for candidate, places, values, parts in zip(
            ranked.ranking.candidates[:first], strongest.tolist(), matrix, contributions, strict=True
        )
    }


def _number(value: np.float32) -> float | None:
    return None if np.isnan(value) else float(value)
