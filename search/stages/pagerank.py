"""Ranks nodes for a question by personalised PageRank (Haveliwala 2002; as a retriever: HippoRAG, 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from search.cosines import QuestionCosines
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.spread import Spread
from search.domain.trace import Limit
from search.domain.trust import Trust
from search.interfaces import Adjacency, Encoder, Keys, MentionIndex, NodeStore, TextIndex, VectorIndex
from search.language.entities import Entity, apart, entities
from search.spreading import DAMPING, EDGES, STEPS, Weights, degrees_of, spread

NAME = "pagerank"
_SURE = 0.7
"""Certainty of the surest name (0 to 1) from which the list has risk level `normal`; below it the level is `weak`.

Names that are quoted, capitalised or of several words reach it.
"""


@dataclass(frozen=True)
class Seeds:
    """The nodes at which the spread starts.

    `weights` maps keys to weights, which add up to 1. `named` are the keys of named entities, `sure` is the certainty
    of the surest name (0 to 1; 0 without names), `told` a sentence that describes the seeds.
    """

    weights: Mapping[int, float]
    named: frozenset[int]
    sure: float
    told: str


@dataclass(frozen=True)
class PageRank:
    """Ranks nodes by the weight that flows to them from the seeds: entities that the question names, and documents.

    The weight spreads over all relations in both directions. At each step a node keeps `1 - damping` of the weight that
    reached it, and divides the rest evenly among its edges. Weight on a node without edges goes no further. A node
    spreads its weight only if this weight is at least 1 / `edges` for each of its edges. A step therefore reads at most
    `edges` edges, whatever the size of the graph, and skips hubs that would give each neighbour almost nothing.
    """

    mentions: MentionIndex
    text: TextIndex
    adjacency: Adjacency
    nodes: NodeStore
    encoder: Encoder
    vectors: VectorIndex
    damping: float = option(
        DAMPING, "Fraction of its weight that an entity passes on to its neighbours.", low=0, high=0.99
    )
    steps: int = option(
        STEPS, "Largest number of steps that weight travels from a seed.", low=1, high=50, public_high=20
    )
    edges: int = option(
        EDGES, "Largest number of relations read in one step.", low=100, high=50_000_000, public_high=2_000_000
    )
    names: int = option(5, "Number of names in the question that become seeds.", low=0, high=20)
    least: float = option(0.2, "Smallest probability of a name that becomes a seed.", low=0, high=1)
    documents: int = option(5, "Number of the best documents (BM25) that become seeds.", low=0, high=100)
    share: float = option(
        0.1, "Fraction of the seeds' weight that the documents get when the question names an entity.", low=0, high=1
    )
    hubs: float = option(0.0, "An entity's score is divided by its number of relations to this power.", low=0, high=1)
    keep_named: bool = option(False, "Whether the list may contain the entities that the question names.")
    depth: int = option(100, "Length of the list.", low=1, high=1_000)

    def __call__(self, question: Question, limit: Limit) -> Spread:
        """Return the list, with a walk from a seed for each node. Raises DeadlineExceeded and SearchCancelled."""
        limit.check(NAME)
        seeds = self._seeds(question.text)
        if not seeds.weights:
            return Spread(Ranking(), Trust.of_nothing(), name=NAME, detail=seeds.told)
        reached = spread(
            self.adjacency, seeds.weights, damping=self.damping, steps=self.steps, edges=self.edges,
            named=seeds.named, check=lambda: limit.check(NAME),
        )  # fmt: skip
        listed = self._listed(reached.tree.keys, reached.scores, seeds)
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, NAME)
        ranking = Ranking.of(listed, cosines, self.depth)
        if not listed:
            return Spread(ranking, Trust.of_nothing(), name=NAME, detail=seeds.told)
        walks = {key: reached.tree.walk(key) for key in ranking.keys}
        return Spread(ranking, trust_of(ranking, seeds.sure), name=NAME, walks=walks, detail=seeds.told)

    def _seeds(self, text: str) -> Seeds:
        """Return the seeds.

        The weight of a name is proportional to its certainty and divided evenly among its nodes. The weight of a
        document is proportional to its score.
        """
        found = entities(text, self.mentions, self.adjacency.schema, self.names) if self.names else []
        named = [entity for entity in apart(found) if entity.sure >= self.least]
        best = self.text.search(text, self.documents) if self.documents else []
        from_names = {key: 0.0 for entity in named for key in entity.keys}
        for entity in named:
            for key in entity.keys:
                from_names[key] += entity.sure / len(entity.keys)
        from_documents = {candidate.key: candidate.score for candidate in best if candidate.score > 0}
        share = (self.share if from_documents else 0.0) if from_names else 1.0
        weights: dict[int, float] = {}
        for part, scores in ((1.0 - share, from_names), (share, from_documents)):
            total = sum(scores.values())
            for key, score in scores.items():
                weights[key] = weights.get(key, 0.0) + part * score / total
        kept = {key: weight for key, weight in weights.items() if weight > 0}
        sure = max((entity.sure for entity in named), default=0.0)
        return Seeds(kept, frozenset(from_names), sure, _told(named, len(from_documents) if share else 0))

    def _listed(self, keys: Keys, scores: Weights, seeds: Seeds) -> dict[int, float]:
        """Return key → score of the nodes that may be listed.

        Their type must be one that can be an answer, and their score above 0. Named entities are left out unless
        `keep_named` is set.
        """
        labels = self.adjacency.schema.node_types
        answers = np.array([label.answerable for label in labels], dtype=bool)
        fits = answers[self.nodes.types(keys)] & (scores > 0)
        if not self.keep_named:
            fits &= ~np.isin(keys, np.array(sorted(seeds.named), dtype=np.int32))
        keys, scores = keys[fits], scores[fits]
        if self.hubs:
            scores = scores / np.maximum(degrees_of(self.adjacency, keys), 1) ** self.hubs
        # Sums of the same numbers in another order differ in their last bits. Rounding makes them equal.
        return {int(key): float(f"{score:.9g}") for key, score in zip(keys, scores, strict=True)}


def trust_of(ranking: Ranking, sure: float) -> Trust:
    """Return the trust in a list, given the certainty of the surest name among its seeds (0 without names).

    Its number of candidates counts those with at least half of the first score. The probability that the order is right
    is `sure` times the relative lead of the first score over the second. The reason: a spread treats all relations
    alike, so the order of nodes with nearly equal scores means little.
    """
    scores = [candidate.score for candidate in ranking]
    top = sum(score >= scores[0] / 2 for score in scores)
    ahead = 1.0 - (scores[1] / scores[0] if len(scores) > 1 else 0.0)
    return Trust(top, "normal" if sure >= _SURE else "weak", sure * ahead)


def _told(named: list[Entity], documents: int) -> str:
    """Return a sentence that names the seeds."""
    names = ", ".join(f"“{entity.text}”" for entity in named)
    also = f"the best {documents} documents" if documents else ""
    return f"Started from {' and '.join(part for part in (names, also) if part) or 'nothing: no name, no document'}."
