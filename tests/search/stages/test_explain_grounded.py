"""Paths of results: grounded triplets, edges as they are stored, the best candidate first; on graphs by chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triplets import Symbol, Triplet, TripletQuery
from search.interfaces.triplets import SymbolCandidates
from search.stages.explain_grounded import ExplainGrounded
from search.stages.ground import Ground
from tests.graphs import Nodes
from tests.oracle import Graph
from tests.rankings import ranked
from tests.search.stages.ground.test_fixpoint import RELATIONS, adjacency_of, drawn


def paths_of(
    folder: Path, graph: Graph, query: TripletQuery, ranked_: dict[str, tuple[int, ...]]
) -> dict[int, list[Any]]:
    """Return answer → its paths as (keys, [(relation, direction)])."""
    adjacency = adjacency_of(folder, graph)
    grounding = Ground(adjacency)(Question("?"), query, SymbolCandidates(ranked_), (), Limit())
    fusion = Fusion.single("grounded", ranked(dict.fromkeys(grounding.answers, 1.0)))
    results = ExplainGrounded(Nodes(graph, adjacency.schema), adjacency)(Question("?"), fusion, grounding, Limit())
    return {
        result.node.key: [
            ([step.node.key for step in path.nodes], [(edge.relation, edge.direction) for edge in path.edges])
            for path in (result.evidence.paths if result.evidence else ())
        ]
        for result in results
    }


# Keys: persons 0, 1; films 2, 3; a genre 4. Film 2 is directed by both, film 3 by 1.
FILMS = Graph(
    tuple(
        Node(key, str(key), kind, f"N{key}") for key, kind in enumerate(["person", "person", "film", "film", "genre"])
    ),
    ((2, "r", 0), (2, "r", 1), (3, "r", 1), (2, "s", 4), (3, "s", 4)),
)
BOTH = TripletQuery(
    (Symbol("y", ("film",)), Symbol("p", ("person",), "N"), Symbol("g", ("genre",), "N4")),
    (Triplet("y", "r", "p"), Triplet("y", "s", "g")), (), "y",
)  # fmt: skip


def test_each_constant_has_a_path_and_the_best_candidate_is_taken(tmp_path: Path) -> None:
    found = paths_of(tmp_path, FILMS, BOTH, {"p": (1, 0), "g": (4,)})
    assert found == {
        2: [([1, 2], [("r", "in")]), ([4, 2], [("s", "in")])], 3: [([1, 3], [("r", "in")]), ([4, 3], [("s", "in")])]
    }  # fmt: skip
    assert paths_of(tmp_path / "other", FILMS, BOTH, {"p": (0, 1), "g": (4,)})[2][0] == ([0, 2], [("r", "in")])


def test_a_result_that_was_not_grounded_has_no_evidence(tmp_path: Path) -> None:
    adjacency = adjacency_of(tmp_path, FILMS)
    grounding = Ground(adjacency)(Question("?"), BOTH, SymbolCandidates({"p": (0,), "g": (4,)}), (), Limit())
    fusion = Fusion.single("filled", ranked({3: 1.0}))
    [result] = ExplainGrounded(Nodes(FILMS, adjacency.schema), adjacency)(Question("?"), fusion, grounding, Limit())
    assert result.evidence is None


@pytest.mark.parametrize("seed", range(80))
def test_every_path_follows_stored_edges_from_a_candidate_to_the_answer(tmp_path: Path, seed: int) -> None:
    chance = np.random.default_rng(seed)
    graph, _, _ = drawn(7_000 + seed)
    triplets = []
    for at in range(1, int(chance.integers(2, 5))):
        ends = [f"x{int(chance.integers(at))}", f"x{at}"]
        chance.shuffle(ends)
        relation = [*RELATIONS, None][int(chance.integers(3))]
        triplets.append(Triplet(ends[0], relation, ends[1], bool(chance.integers(2))))
    names = sorted({name for triplet in triplets for name in (triplet.head, triplet.tail)})
    constants = {
        name: tuple(chance.permutation(len(graph.nodes))[:3].tolist()) for name in names[1:] if chance.integers(2)
    }
    query = TripletQuery(
        tuple(Symbol(name, (), "N" if name in constants else "") for name in names), tuple(triplets), (), names[0]
    )
    for answer, paths in paths_of(tmp_path / "graph", graph, query, constants).items():
        assert len(paths) == len(constants)
        for (keys, edges), candidates in zip(paths, constants.values(), strict=True):
            assert keys[0] in candidates
            assert keys[-1] == answer
            for (relation, way), near, far in zip(edges, keys, keys[1:], strict=False):
                assert ((near, relation, far) if way == "out" else (far, relation, near)) in graph.edges
