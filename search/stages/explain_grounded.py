"""The final list → explained results, each with the grounded triplets that lead to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from search.domain.evidence import Evidence, Path, PathEdge, PathNode, Result
from search.domain.fusion import Fusion
from search.domain.graph import OPPOSITE, Direction, Node
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triplets import Triplet
from search.explained import explained
from search.interfaces import Adjacency, NodeStore
from search.interfaces.triplets import Grounding

STAGE = "explain"
Step = tuple[Triplet, str]
"""A triplet, and the symbol at which it is entered."""


@dataclass(frozen=True)
class ExplainGrounded:
    """Explains the first results by paths from the constants to the result, along grounded triplets.

    At the fixed point every node of a symbol has an edge to some node of each neighbouring symbol, so a path can be
    followed from the answer without turning back. Of several nodes the best candidate of a constant is taken, else the
    first one by key. Triplets that close a circle are not drawn.
    """

    nodes: NodeStore
    adjacency: Adjacency
    width: int = option(240, "Length of the snippet, in characters.", low=40, high=2_000)

    def __call__(self, question: Question, fusion: Fusion, grounding: Grounding, limit: Limit) -> list[Result]:
        """Return the first `question.k` results with snippet, parts of the score, and paths if there are any."""
        limit.check(STAGE)
        shown = fusion.ranking.keys[: question.k]
        walks = {key: list(self._walks(grounding, key)) for key in shown if key in grounding.found_in}
        on_walks = sorted({node for several in walks.values() for walk, _ in several for _, node in walk})
        names = dict(zip(on_walks, self.nodes.references(on_walks), strict=True))
        evidence = {key: _evidence(several, names) for key, several in walks.items()}
        return explained(question, fusion, self.nodes.nodes(shown, limit), evidence, self.width)

    def _walks(self, grounding: Grounding, answer: int) -> Iterator[tuple[list[tuple[str, int]], list[PathEdge]]]:
        """Yield for each constant its walk to the answer: pairs of symbol and key, and the edges between them."""
        taken: dict[str, int] = {grounding.query.target: answer}
        for constant in grounding.candidates.ranked:
            walk, edges = [(grounding.query.target, answer)], list[PathEdge]()
            for triplet, before in _route(grounding.query.triplets, grounding.query.target, constant):
                after = triplet.tail if triplet.head == before else triplet.head
                found = self._next(grounding, triplet, before, walk[-1][1], after, taken.get(after))
                if found is None:
                    break
                taken[after], edge = found
                walk.append((after, taken[after]))
                edges.append(edge)
            else:
                if edges:
                    yield walk[::-1], edges[::-1]

    def _next(
        self, grounding: Grounding, triplet: Triplet, before: str, key: int, after: str, wanted: int | None
    ) -> tuple[int, PathEdge] | None:
        """Return the node of the next symbol and the edge that leads from it to `key`; None if there is none."""
        place = {node: at for at, node in enumerate(grounding.candidates.ranked.get(after, ()))}
        best: tuple[int, int, PathEdge] | None = None
        for code, way in self._ways(triplet, before):
            near = self.adjacency.neighbours(np.array([key], dtype=np.int32), code, way)
            kept = np.intersect1d(near, grounding.sets[after], assume_unique=True)
            for node in kept.tolist() if wanted is None else [wanted] if wanted in kept else []:
                rank = place.get(node, 0)
                if best is None or (rank, node) < best[:2]:
                    back: Direction = OPPOSITE[way]
                    best = rank, node, PathEdge(self.adjacency.schema.relations[code].name, back)
        return best and (best[1], best[2])

    def _ways(self, triplet: Triplet, before: str) -> list[tuple[int, Direction]]:
        """Return the relations of a triplet, and the directions in which they are walked from the symbol `before`."""
        codes = self.adjacency.schema.relation_codes
        relations = range(len(codes)) if triplet.relation is None else [codes[triplet.relation]]
        ways: list[Direction] = []
        if triplet.head == before or not triplet.directed:
            ways.append("out")
        if triplet.tail == before or not triplet.directed:
            ways.append("in")
        return [(code, way) for code in relations for way in ways]


def _route(triplets: Sequence[Triplet], start: str, end: str) -> list[Step]:
    """Return the triplets of a shortest way between two symbols, each with the symbol at which it is entered."""
    reached: dict[str, list[Step]] = {start: []}
    waiting = [start]
    for symbol in waiting:
        for triplet in triplets:
            for here, there in ((triplet.head, triplet.tail), (triplet.tail, triplet.head)):
                if here == symbol and there not in reached:
                    reached[there] = [*reached[symbol], (triplet, symbol)]
                    waiting.append(there)
    return reached.get(end, [])


def _evidence(walks: Sequence[tuple[list[tuple[str, int]], list[PathEdge]]], names: dict[int, Node]) -> Evidence | None:
    """Return walks as evidence; None without any."""
    paths = [Path(tuple(PathNode(names[key], symbol) for symbol, key in walk), tuple(edges)) for walk, edges in walks]
    return Evidence(0, paths=tuple(paths)) if paths else None
