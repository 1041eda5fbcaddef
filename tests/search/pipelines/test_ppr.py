"""Personalised PageRank: expectations worked out by hand on a small graph, and held against other implementations."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from search.adapters import mentions_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.errors import StageError
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.spread import Spread
from search.domain.trace import Limit, Trace
from search.domain.trust import Trust
from search.pipelines.ppr import PprStages, search
from search.stages.explain_walks import ExplainWalks
from search.stages.fuse import Fuse
from search.stages.pagerank import PageRank, trust_of
from search.stages.retrieve import Bm25
from tests.fakes import HashEncoder, MemoryText, MemoryVectors
from tests.graphs import Nodes, schema_of, write_adjacency
from tests.oracle import Graph

ANN, TIDE, GALE, BO, CY, REEF, LONE = range(7)
FILMS = Graph(
    nodes=(
        Node(ANN, "a", "person", "Ann Arbor"),
        Node(TIDE, "b", "film", "Tide"),
        Node(GALE, "c", "film", "Gale"),
        Node(BO, "d", "person", "Bo Derrin"),
        Node(CY, "e", "person", "Cy Dale", aliases=("Bo Derrin",)),
        Node(REEF, "f", "film", "Reef"),
        Node(LONE, "g", "film", "Lone", fields={"about": "A film without a crew."}),
    ),
    edges=((TIDE, "directed_by", ANN), (GALE, "directed_by", ANN), (GALE, "starring", BO), (REEF, "starring", CY)),
)


def world(folder: Path, graph: Graph, texts: Mapping[int, float] | None = None) -> dict[str, Any]:
    """Return the tools over a graph; the text index finds the documents of `texts` whatever is asked."""
    schema = schema_of(graph)
    for part in ("adjacency", "mentions"):
        (folder / part).mkdir()
    write_adjacency(graph, schema, folder / "adjacency")
    called = [(node.key, name, name != node.name) for node in graph.nodes for name in (node.name, *node.aliases)]
    mentions_memmap.build(folder / "mentions", called)
    encoder = HashEncoder()
    documents = {node.key: encoder.vector(node.name) for node in graph.nodes}
    return {
        "mentions": MemmapMentions(folder / "mentions"),
        "text": MemoryText(texts or {}),
        "adjacency": MemmapAdjacency(folder / "adjacency", schema),
        "nodes": Nodes(graph, schema),
        "encoder": encoder,
        "vectors": MemoryVectors({"document+relations": documents, "name": documents}),
    }


def rank(tools: dict[str, Any], text: str, **options: Any) -> Spread:
    return PageRank(**tools, **options)(Question(text), Limit())


def stages_of(tools: dict[str, Any], **options: Any) -> PprStages:
    seen = {"encoder": tools["encoder"], "vectors": tools["vectors"]}
    return PprStages(
        PageRank(**tools, **options),
        Bm25(tools["text"], **seen),
        Fuse(**seen),
        ExplainWalks(tools["nodes"], tools["adjacency"]),
    )


def chance(nodes: int, edges: int) -> Graph:
    """Return a graph drawn by chance: no loops, some pairs joined by two relations, some nodes without edges."""
    drawn = np.random.default_rng(7).integers(0, nodes - 3, size=(edges, 2))
    joined = [(int(a), f"r{at % 3}", int(b)) for at, (a, b) in enumerate(drawn) if a != b]
    return Graph(tuple(Node(key, f"{key:03}", "thing", f"Name{key:03}") for key in range(nodes)), tuple(set(joined)))


def solved(graph: Graph, seeds: Mapping[int, float], damping: float) -> NDArray[np.float64]:
    """Return personalised PageRank by solving its equation densely; the scores add up to 1."""
    joins = np.zeros((len(graph.nodes), len(graph.nodes)))
    for source, _, target in graph.edges:
        joins[source, target] += 1
        joins[target, source] += 1
    moves = joins / np.maximum(joins.sum(axis=1, keepdims=True), 1)
    start = np.array([seeds.get(key, 0.0) for key in range(len(graph.nodes))])
    found: NDArray[np.float64] = np.linalg.solve(np.eye(len(start)) - damping * moves.T, start)
    return found / found.sum()


def spread_of(tools: dict[str, Any], **options: Any) -> dict[int, float]:
    """Return the scores, adding up to 1, from the documents as seeds, however low."""
    found = rank(tools, "?", documents=10, depth=1_000, keep_named=True, **options).ranking.scores
    return {key: score / sum(found.values()) for key, score in found.items()}


def test_weight_flows_from_the_named_entity_over_both_directions_step_by_step(tmp_path: Path) -> None:
    # Ann 1 → Tide and Gale 1/4 each → Ann 3/16, Bo 1/16 → Tide 3/64, Gale 5/64; half of each stays where it is.
    found = rank(world(tmp_path, FILMS), "What did Ann Arbor direct?", damping=0.5, steps=3, keep_named=True, hubs=0.0)
    assert found.ranking.scores == {ANN: 0.59375, GALE: 0.1640625, TIDE: 0.1484375, BO: 0.03125}
    assert found.name == "pagerank"
    assert "“Ann Arbor”" in found.detail


def test_the_named_entity_is_left_out_and_each_other_has_its_walk(tmp_path: Path) -> None:
    found = rank(world(tmp_path, FILMS), "What did Ann Arbor direct?", damping=0.5, steps=3, hubs=0.0)
    assert found.ranking.keys == (GALE, TIDE, BO)
    assert found.walks == {GALE: (ANN, GALE), TIDE: (ANN, TIDE), BO: (ANN, GALE, BO)}


def test_the_nodes_of_one_name_share_its_weight(tmp_path: Path) -> None:
    found = rank(world(tmp_path, FILMS), "Who is Bo Derrin?", damping=0.5, steps=1, keep_named=True, hubs=0.0)
    assert found.ranking.scores == {BO: 0.25, CY: 0.25, GALE: 0.125, REEF: 0.125}


def test_a_document_among_the_seeds_has_the_walk_from_the_named_entity(tmp_path: Path) -> None:
    found = rank(world(tmp_path, FILMS, {GALE: 1.0}), "What did Ann Arbor direct?", share=0.9)
    assert found.walks[GALE] == (ANN, GALE)


def test_documents_are_the_seeds_where_nothing_is_named_and_have_a_share_where_something_is(tmp_path: Path) -> None:
    tools = world(tmp_path, FILMS, {LONE: 3.0, REEF: 1.0})
    alone = rank(tools, "something about the sea", damping=0.5, steps=1, hubs=0.0)
    assert alone.ranking.scores == {LONE: 0.375, REEF: 0.125, CY: 0.0625}
    both = rank(tools, "What did Ann Arbor direct?", damping=0.5, steps=1, share=0.4, hubs=0.0)
    assert both.ranking.scores == {TIDE: 0.075, GALE: 0.075, LONE: 0.15, REEF: 0.05, CY: 0.025}
    none = rank(tools, "What did Ann Arbor direct?", share=0.0)
    assert LONE not in none.ranking.keys


# A node whose edges would each carry less than 1 / 50,000,000 spreads no more: hence the bound on the differences.
def test_scores_are_those_of_the_equation_solved_densely(tmp_path: Path) -> None:
    graph = chance(60, 150)
    found = spread_of(world(tmp_path, graph, {3: 3.0, 11: 1.0, 59: 1.0}), damping=0.6, steps=50, edges=50_000_000)
    expected = solved(graph, {3: 0.6, 11: 0.2, 59: 0.2}, 0.6)
    assert found == pytest.approx({key: score for key, score in enumerate(expected) if score > 0}, abs=1e-5)


def test_scores_are_those_of_networkx(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    graph = chance(60, 150)
    found = spread_of(world(tmp_path, graph, {3: 3.0, 11: 1.0, 59: 1.0}), damping=0.6, steps=50, edges=50_000_000)
    joined = networkx.MultiGraph()
    joined.add_nodes_from(range(60))
    joined.add_edges_from((source, target) for source, _, target in graph.edges)
    expected = networkx.pagerank(joined, 0.6, personalization={3: 3, 11: 1, 59: 1}, tol=1e-12)
    assert found == pytest.approx({key: score for key, score in expected.items() if score > 0}, abs=1e-5)


def test_every_walk_follows_edges_and_is_as_short_as_any(tmp_path: Path) -> None:
    graph = chance(60, 100)
    found = rank(world(tmp_path, graph, {3: 1.0}), "?", damping=0.5, steps=50, edges=50_000_000, depth=1_000)
    pairs = {pair for source, _, target in graph.edges for pair in ((source, target), (target, source))}
    away, ring = {3: 0}, {3}
    while ring := {b for a, b in pairs if a in ring and b not in away}:
        away |= dict.fromkeys(ring, max(away.values()) + 1)
    assert set(found.walks) == set(away)
    for key, walk in found.walks.items():
        assert (walk[0], walk[-1], len(walk) - 1) == (3, key, away[key])
        assert set(pairwise(walk)) <= pairs


def test_a_hub_whose_edges_would_carry_too_little_spreads_nothing(tmp_path: Path) -> None:
    nodes = tuple(Node(key, f"{key:04}", "thing", f"Name{key:04}") for key in range(1_001))
    tools = world(tmp_path, Graph(nodes, tuple((key, "of", 0) for key in range(1, 1_001))), {1: 1.0})
    assert set(rank(tools, "?", edges=1_900, damping=0.5).ranking.keys) == {0, 1}
    assert rank(tools, "?", edges=2_100, damping=0.5).ranking.total == 1_001


def test_trust_counts_the_top_and_is_weak_without_a_sure_name() -> None:
    ranking = Ranking.of({1: 4.0, 2: 3.0, 3: 1.0}, lambda keys: {})
    assert trust_of(ranking, 0.9) == Trust(2, "normal", pytest.approx(0.225))
    assert trust_of(ranking, 0.0) == Trust(2, "weak", 0.0)


def test_a_question_that_leads_nowhere_has_an_empty_list_of_no_weight(tmp_path: Path) -> None:
    found = rank(world(tmp_path, FILMS), "something else")
    assert (len(found.ranking), found.trust) == (0, Trust.of_nothing())


def test_the_pipeline_fuses_both_lists_and_shows_the_walk_to_each_result(tmp_path: Path) -> None:
    trace = Trace()
    stages = stages_of(world(tmp_path, FILMS, {LONE: 1.0, TIDE: 0.5}), share=0.0, damping=0.5, steps=3, hubs=0.0)
    ranking = search(Question("What did Ann Arbor direct?"), stages, trace)
    # Weight 2 × 1.25 and 1, k = 3: Tide 2.5/5 + 1/5, Gale 2.5/4, Bo 2.5/6, Lone 1/4.
    assert ranking.scores == pytest.approx({TIDE: 3.5 / 5, GALE: 2.5 / 4, BO: 2.5 / 6, LONE: 1 / 4})
    assert ranking.keys == (TIDE, GALE, BO, LONE)
    shown = {entry["node"]["id"]: entry["evidence"] for entry in trace.output("explain")}
    walk = [part.get("relation") or part["node"]["name"] for part in shown["d"]["paths"][0]]
    assert walk == ["Ann Arbor", "directed_by", "Gale", "starring", "Bo Derrin"]
    assert [part.get("direction") for part in shown["d"]["paths"][0]][1::2] == ["in", "out"]
    assert shown["g"] is None


def test_where_the_spread_fails_the_text_answers_alone(tmp_path: Path) -> None:
    class Broken(MemmapMentions):
        def find(self, text: str) -> list[Any]:
            raise StageError("pagerank", "The names cannot be read")

    tools = world(tmp_path, FILMS, {LONE: 1.0}) | {"mentions": Broken(tmp_path)}
    trace = Trace()
    assert search(Question("What did Ann Arbor direct?"), stages_of(tools), trace).keys == (LONE,)
    assert (trace.steps[0].status, trace.steps[0].detail) == ("degraded", "The names cannot be read; text only")
