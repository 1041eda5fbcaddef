"""The rank of the first answer after fusion, for many weights at once; the results equal those of the fuse stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.domain.fusion import DIGITS
from search.domain.linking import GraphRanking
from search.domain.ranking import Ranking, in_order_of
from training.evaluation.measures import DEPTH

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class RankCase:
    """The graph's list and the text's list of one question, and its answers.

    `names` holds the ids of all listed nodes in bytewise order. A key in the lists is an index into `names`, so keys
    have the same order as in the release. `answers` holds the ids of all answers, listed or not. `known` holds the
    cosine of the question and the document for every listed key that has one.
    """

    question: str
    graph: GraphRanking
    text: Ranking
    names: tuple[str, ...]
    answers: tuple[str, ...]
    known: Mapping[int, float]

    def cosines(self, keys: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines that order equal scores (`search.domain.ranking.Cosines`)."""
        return self.known

    @property
    def gold(self) -> frozenset[int]:
        """The keys of the answers that at least one list holds."""
        wanted = set(self.answers)
        return frozenset(key for key, name in enumerate(self.names) if name in wanted)


@dataclass(frozen=True)
class CaseArrays:
    """One case as arrays over its candidates, in the order of candidates with equal scores."""

    graph: Numbers
    text: Numbers
    gold: NDArray[np.intp]

    @classmethod
    def of(cls, case: RankCase) -> CaseArrays:
        """Return the ranks (infinite when a list lacks the candidate) and the indexes of the answers."""
        in_graph, in_text = case.graph.ranking.ranks, case.text.ranks
        order = in_order_of(case.known, {*in_graph, *in_text})
        gold = case.gold
        return cls(
            np.array([in_graph.get(key, np.inf) for key in order]),
            np.array([in_text.get(key, np.inf) for key in order]),
            np.array([place for place, key in enumerate(order) if key in gold], dtype=np.intp),
        )


def reciprocal_ranks(places: CaseArrays, graph: Numbers, text: Numbers, k: Numbers) -> Numbers:
    """Return 1 / rank of the first answer for each row of weights; 0 when the first 100 candidates hold none.

    `graph` and `text` are the lists' weights and `k` the constant of reciprocal ranks, each of shape (rows,). A list of
    weight 0 is ignored; equal sums are in the order of the question's cosine, then of ids, as in `Ranking.of`.
    """
    if not len(places.gold):
        return np.zeros(len(k))
    scores = graph[:, None] / (k[:, None] + places.graph) + text[:, None] / (k[:, None] + places.text)
    scores = scores.round(DIGITS)
    answers = scores[:, places.gold]
    first = answers.argmax(axis=1)
    best = answers[np.arange(len(k)), first][:, None]
    place = places.gold[first][:, None]
    ahead = (scores > best) | ((scores == best) & (np.arange(scores.shape[1]) < place))
    ranks = 1 + ahead.sum(axis=1)
    return np.where((best[:, 0] > 0) & (ranks <= DEPTH), 1.0 / ranks, 0.0)
