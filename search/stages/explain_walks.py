"""The final list → explained results, each with the walk from a seed to the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from search.domain.evidence import Evidence, Path, PathEdge, PathNode, Result
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.options import option
from search.domain.question import Question
from search.domain.spread import Spread
from search.domain.trace import Limit
from search.edges import edges_between
from search.explained import explained
from search.interfaces import Adjacency, NodeStore


@dataclass(frozen=True)
class ExplainWalks:
    """Explains the first results by the walks on which a spread over the graph reached them.

    A result has no walk if it is itself a seed, or if only the text found it. If several relations join two nodes of a
    walk, the first relation of the schema is shown; its stored direction goes before the other direction.
    """

    nodes: NodeStore
    adjacency: Adjacency
    width: int = option(240, "Length of the snippet, in characters.", low=40, high=2_000)

    def __call__(self, question: Question, fusion: Fusion, spread: Spread, limit: Limit) -> list[Result]:
        """Return the first `question.k` results with snippet, parts of the score, and a walk if there is one."""
        limit.check("explain")
        shown = fusion.ranking.keys[: question.k]
        walks = {key: walk for key in shown if len(walk := spread.walks.get(key, ())) > 1}
        on_walks = sorted({key for walk in walks.values() for key in walk})
        references = dict(zip(on_walks, self.nodes.references(on_walks), strict=True))
        evidence = {key: self._evidence([references[one] for one in walk]) for key, walk in walks.items()}
        return explained(question, fusion, self.nodes.nodes(shown, limit), evidence, self.width)

    def _evidence(self, walk: Sequence[Node]) -> Evidence:
        """Return a walk as evidence."""
        edges = tuple(self._edge(near.key, far.key) for near, far in pairwise(walk))
        return Evidence(0, paths=(Path(tuple(map(PathNode, walk)), edges),))

    def _edge(self, near: int, far: int) -> PathEdge:
        """Return the edge that joins two neighbours. Raises ValueError if no edge joins them."""
        edge = next(edges_between(self.adjacency, near, far), None)
        if edge is None:
            raise ValueError(f"No relation joins the entities {near} and {far}.")
        return edge
