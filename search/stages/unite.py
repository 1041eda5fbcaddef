"""A list and the neighbours of its first nodes → one list: seeds, neighbours, then the rest (SAGE, section 2.2 B)."""

from __future__ import annotations

from dataclasses import dataclass

from search.cosines import QuestionCosines
from search.domain.fusion import Fusion
from search.domain.neighbours import Neighbours
from search.domain.precedence import K, behind
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.interfaces import Encoder, VectorIndex

SEEDS, NEIGHBOURS, REST = "seeds", "neighbours", "rest"


@dataclass(frozen=True)
class Unite:
    """Puts neighbours behind the seeds: the paper returns both, seeds first, and we let the rest of the list follow.

    The three lists have no node in common and are fused by reciprocal ranks. The weights are chosen so that the first
    node of each list stands behind the last one of the list before.
    """

    encoder: Encoder
    vectors: VectorIndex

    def __call__(self, question: Question, listed: Ranking, neighbours: Neighbours, limit: Limit) -> Fusion:
        """Return the united list; without neighbours the list as it is, as the only list `seeds`."""
        if not len(neighbours.ranking):
            return Fusion.single(SEEDS, listed)
        added = set(neighbours.ranking.keys)
        first = listed.candidates[: neighbours.seeds]
        rest = [one for one in listed.candidates[neighbours.seeds :] if one.key not in added]
        behind_seeds = behind(1.0, len(first))
        weights = {SEEDS: 1.0, NEIGHBOURS: behind_seeds, REST: behind(behind_seeds, len(neighbours.ranking))}
        lists: dict[str, Ranking | Fusion] = {
            SEEDS: Ranking.in_order(first),
            NEIGHBOURS: neighbours,
            REST: Ranking.in_order(rest),
        }
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, "unite")
        return Fusion.of(lists, weights, K, cosines)
