"""Seeds → their neighbours in the graph and by similarity, ranked by words and vectors (SAGE, section 2.2 B)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.cosines import QuestionCosines
from search.domain.evidence import Path, PathEdge, PathNode
from search.domain.graph import Direction
from search.domain.linear import linear
from search.domain.linking import LinkedPlan
from search.domain.neighbours import Neighbours
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.similarity import IS_SIMILAR
from search.domain.trace import Limit
from search.edges import ways_in_order
from search.interfaces import Adjacency, Encoder, Keys, NodeStore, SimilarIndex, TextIndex, VectorIndex

STAGE = "expand"
NO_EDGE, ALWAYS = "no_edge", "always"
MOST_COMPARED = 20_000
"""Neighbours that are compared with the question at most; those of the first seeds come first."""
NO_EDGES = (
    "Entries of similar content are not linked in this knowledge base, so only relations of the graph were followed."
)

Joins = Mapping[int, tuple[int, str, Direction]]
"""Neighbour → the best seed that leads to it, the relation, and the direction of the edge from the seed."""


@dataclass(frozen=True)
class ExpandNeighbours:
    """Collects the first-hop neighbours of the first nodes of a list, and keeps those that answer the question best.

    Followed are all relations of the graph in both directions, and similarity edges. Nodes whose type is never an
    answer are left out. With the policy `no_edge` (the paper's "-Edge", which it found better), a list that a plan with
    edges found is not expanded: its nodes already stand in the relation that the question asks for.
    """

    adjacency: Adjacency
    similar: SimilarIndex
    nodes: NodeStore
    text: TextIndex
    encoder: Encoder
    vectors: VectorIndex
    policy: str = option(
        NO_EDGE,
        "When to expand: no_edge where no plan with relations found the list, always in any case.",
        choices=(NO_EDGE, ALWAYS),
    )
    seeds: int = option(
        10, "Number of first entities whose neighbours are collected (k).", low=1, high=200, public_high=20
    )
    neighbours: int = option(10, "Number of neighbours that are kept (k').", low=1, high=500, public_high=50)
    bm25_weight: float = option(
        0.5, "Weight of BM25 in the neighbours' scores, each rescaled to 0 … 1; likeness has the rest.", low=0, high=1
    )
    edges: int = option(
        200,
        "Most neighbours of a seed over one relation in one direction; of more, those at even distances.",
        low=1,
        high=10_000,
        public_high=500,
    )

    def __call__(self, question: Question, seeds: Ranking, plans: Sequence[LinkedPlan], limit: Limit) -> Neighbours:
        """Return the neighbours of the seeds, the best first; none if the policy says so.

        `plans` are the plans that found the list, empty if text found it. Raises DeadlineExceeded, SearchCancelled.
        """
        limit.check(STAGE)
        if self.policy == NO_EDGE and any(follows_edges(linked) for linked in plans):
            return Neighbours.nothing("The plan follows relations itself, so its entities are not expanded (no_edge).")
        first = [candidate.key for candidate in seeds.candidates[: self.seeds]]
        joins, cut = self._joins(first, limit)
        told = "" if self.similar.built else NO_EDGES
        if not joins:
            said = f"None of the first {len(first)} entities has a neighbour that can be an answer."
            return Neighbours.nothing(f"{said} {told}".strip(), missing=bool(told))
        keys = np.array(sorted(joins), dtype=np.int32)
        _, scores = self.text.word_scores(question.text, keys)
        words = dict(zip(keys.tolist(), scores.sum(axis=0).tolist(), strict=True))
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, STAGE)
        own = cosines(keys.tolist()) if self.vectors.kinds else {}
        found = linear(words, own, self.bm25_weight, self.neighbours, cosines, Neighbours)
        said = _told(len(first), joins, len(found.ranking), cut)
        return Neighbours(**vars(found) | {
            "paths": self._paths(found.ranking.keys, joins), "detail": f"{said} {told}".strip(), "missing": bool(told),
            "seeds": len(first),
        })  # fmt: skip

    def _joins(self, seeds: Sequence[int], limit: Limit) -> tuple[Joins, int]:
        """Return the neighbours that may be answers, and how many seeds have more than `edges` over a relation.

        A neighbour of several seeds belongs to the first of them. Edges of the graph come before similarity.
        """
        answers = np.array([node_type.answerable for node_type in self.adjacency.schema.node_types], dtype=bool)
        joins: dict[int, tuple[int, str, Direction]] = {}
        hubs = 0
        for seed in seeds:
            limit.check(STAGE)
            several, cut = self._edges(seed)
            hubs += cut
            for relation, direction, far in [*several, (IS_SIMILAR, "out", self.similar.neighbours(seed).keys)]:
                allowed = far[answers[self.adjacency.types[far]]]
                for key in allowed.tolist():
                    if len(joins) < MOST_COMPARED:
                        joins.setdefault(key, (seed, relation, direction))
        return {key: join for key, join in joins.items() if key not in set(seeds)}, hubs

    def _edges(self, seed: int) -> tuple[list[tuple[str, Direction, Keys]], bool]:
        """Return relation, direction and neighbours for each kind of edge of a seed, and whether any were cut."""
        near, cut = np.array([seed], dtype=np.int32), False
        found: list[tuple[str, Direction, Keys]] = []
        for relation, direction in ways_in_order(self.adjacency, near):
            far = self.adjacency.neighbours(near, relation, direction)
            cut |= len(far) > self.edges
            found.append((self.adjacency.schema.relations[relation].name, direction, evenly(far, self.edges)))
        return found, cut

    def _paths(self, kept: Sequence[int], joins: Joins) -> dict[int, Path]:
        """Return the edge from its seed to each neighbour, as a path."""
        keys = sorted({*kept, *(joins[key][0] for key in kept)})
        nodes = dict(zip(keys, self.nodes.references(keys), strict=True)) if keys else {}
        return {
            key: Path((PathNode(nodes[seed]), PathNode(nodes[key])), (PathEdge(relation, direction),))
            for key in kept
            for seed, relation, direction in [joins[key]]
        }


def follows_edges(linked: LinkedPlan) -> bool:
    """Whether a plan names an edge: a hop, also one of an exclusion."""
    return bool(linked.plan.hops) or any(exclusion.hops for exclusion in linked.plan.exclude)


def evenly(keys: Keys, most: int) -> NDArray[np.int32]:
    """Return at most `most` keys, taken at even distances."""
    if len(keys) <= most:
        return keys
    return keys[np.arange(most) * len(keys) // most]


def _told(seeds: int, joins: Joins, kept: int, hubs: int) -> str:
    """Return a sentence that says what was collected."""
    similar = sum(relation == IS_SIMILAR for _, relation, _ in joins.values())
    ways = f"{len(joins) - similar:,} over relations of the graph, {similar:,} by likeness"
    cut = f" Entities of which only some neighbours were taken: {hubs}." if hubs else ""
    nodes = "1 entity has" if seeds == 1 else f"{seeds} entities have"
    neighbours = "1 neighbour" if len(joins) == 1 else f"{len(joins):,} neighbours"
    return f"{nodes} {neighbours} that can be answers ({ways}); {kept} {'is' if kept == 1 else 'are'} kept.{cut}"
