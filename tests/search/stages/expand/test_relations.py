"""KAR's triples: by hand on a few films, and against an independent breadth-first search on graphs drawn by chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.domain.errors import SearchCancelled
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triples import DocumentTriples, EntityDocument, EntityDocuments
from search.stages.expand.neighbours import neighbourhood
from search.stages.expand.relations import BY_WORDS, RelateDocuments, Similarities
from tests.oracle import Graph
from tests.search.stages.expand.films import (
    ANN,
    ASKED,
    BO,
    DOCUMENT,
    FILMS,
    GALE,
    LONE,
    NAME,
    REEF,
    TIDE,
    taken,
    tools_of,
)

NEEDED = ("adjacency", "nodes", "encoder", "vectors", "text")
SIMILAR = {
    DOCUMENT: {ANN: 0.9, TIDE: 0.6, GALE: 0.3, BO: 0.2, REEF: 0.8, LONE: 0.99},
    NAME: {ANN: 0.9, TIDE: 0.1, GALE: 0.7, BO: 0.6, REEF: 0.2, LONE: 0.0},
}


def of(tools: dict[str, Any], *keys: int, **options: Any) -> DocumentTriples:
    nodes = tools["nodes"].nodes(keys)
    entities = EntityDocuments(tuple(EntityDocument(node.name, node, "") for node in nodes))
    return RelateDocuments(**taken(tools, *NEEDED), **options)(Question(ASKED), entities, Limit())


def said(found: DocumentTriples) -> list[str]:
    """Return each triple in one line, with the arrows of its edges."""
    lines = []
    for triple in found.triples:
        path = triple.path
        line = path.nodes[0].node.name
        for edge, node in zip(path.edges, path.nodes[1:], strict=True):
            line += f" {'->' if edge.direction == 'out' else '<-'}{edge.relation} {node.node.name}"
        lines.append(line)
    return lines


def test_the_triples_of_an_entity_are_its_neighbours_within_two_hops_most_similar_documents_first(
    tmp_path: Path,
) -> None:
    # Within two hops of Ann: Tide .6, Gale .3 (two relations) and, over Gale, Bo .2. Reef is three hops away.
    found = of(tools_of(tmp_path, similar=SIMILAR), ANN)
    assert said(found) == [
        "Ann Arbor <-directed_by Tide",
        "Ann Arbor <-directed_by Gale",
        "Ann Arbor <-written_by Gale",
        "Ann Arbor <-directed_by Gale ->starring Bo Derrin",
    ]
    assert [triple.score for triple in found.triples] == [0.6, 0.3, 0.3, 0.2]
    assert (found.neighbours, found.detail, found.status) == (3, "", "ok")
    assert found.triples[0].text == "film: Tide\nabout: A harbour at night."


def test_with_one_hop_more_the_next_film_is_reached_and_comes_first(tmp_path: Path) -> None:
    found = of(tools_of(tmp_path, similar=SIMILAR), ANN, hops=3)
    assert said(found)[0] == "Ann Arbor <-directed_by Gale ->starring Bo Derrin <-starring Reef"


def test_only_the_best_neighbours_are_kept_for_each_entity(tmp_path: Path) -> None:
    found = of(tools_of(tmp_path, similar=SIMILAR), ANN, BO, top=1)
    # Bo's neighbours: Gale .3, Reef .8 and, over Gale, Ann .9.
    assert said(found) == ["Ann Arbor <-directed_by Tide", "Bo Derrin <-starring Gale ->directed_by Ann Arbor"]
    assert found.neighbours == 3 + 3


def test_without_document_based_filtering_names_are_compared(tmp_path: Path) -> None:
    found = of(tools_of(tmp_path, similar=SIMILAR), ANN, by="name", top=2)
    assert [triple.score for triple in found.triples] == [0.7, 0.7, 0.6]
    assert said(found)[-1] == "Ann Arbor <-directed_by Gale ->starring Bo Derrin"


def test_without_vectors_the_words_choose_and_that_is_said(tmp_path: Path) -> None:
    found = of(tools_of(tmp_path, words={BO: 3.0, REEF: 9.0}), ANN, top=1)
    assert said(found) == ["Ann Arbor <-directed_by Gale ->starring Bo Derrin"]
    assert (found.status, found.detail) == ("degraded", BY_WORDS)


def test_an_entity_without_edges_has_no_triples(tmp_path: Path) -> None:
    found = of(tools_of(tmp_path, similar=SIMILAR), LONE)
    assert (found.triples, found.neighbours) == ((), 0)


def test_the_evidence_of_a_neighbour_holds_all_its_walks(tmp_path: Path) -> None:
    paths = of(tools_of(tmp_path, similar=SIMILAR), ANN, BO).paths()
    assert [edge.relation for path in paths[GALE] for edge in path.edges] == ["directed_by", "written_by", "starring"]
    assert set(paths) == {TIDE, GALE, BO, REEF, ANN}


def by_chance(seed: int, nodes: int = 60, edges: int = 140) -> tuple[Graph, dict[int, float]]:
    """Return a graph with loops and parallel edges, and a similarity of each node, some of them equal."""
    drawn = np.random.default_rng(seed)
    pairs = drawn.integers(0, nodes, size=(edges, 2))
    joined = {(int(a), f"r{at % 3}", int(b)) for at, (a, b) in enumerate(pairs)}
    graph = Graph(tuple(Node(key, f"{key:03}", "thing", f"N{key}") for key in range(nodes)), tuple(sorted(joined)))
    return graph, {key: round(float(value), 1) for key, value in enumerate(drawn.random(nodes))}


def expected(graph: Graph, similar: dict[int, float], start: int, hops: int, top: int) -> list[tuple[int, ...]]:
    """Return the walks that KAR keeps, by sets: rings of neighbours, best parent of the ring before, best `top`."""
    rings = [{start}]
    walks: dict[int, tuple[int, ...]] = {start: (start,)}
    for _ in range(hops):
        ring = set()
        for key in range(len(graph.nodes)):
            joined = {a for a, _, b in graph.edges if b == key} | {b for a, _, b in graph.edges if a == key}
            if key not in walks and joined & rings[-1]:
                ring.add(key)
                parent = min(joined & rings[-1], key=lambda one: (-similar[one], one))
                walks[key] = (*walks[parent], key)
        rings.append(ring)
    del walks[start]
    kept = sorted(walks, key=lambda key: (-similar[key], key))[:top]
    return [walks[key] for key in kept]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("hops", "top"), [(1, 5), (2, 10), (3, 100)])
def test_on_graphs_drawn_by_chance_walks_are_those_of_an_independent_search(
    tmp_path: Path, seed: int, hops: int, top: int
) -> None:
    graph, similar = by_chance(seed)
    tools = tools_of(tmp_path, graph, {DOCUMENT: similar})
    stage = RelateDocuments(**taken(tools, *NEEDED), hops=hops, top=top)
    pairs = {(a, r, b) for a, r, b in graph.edges}
    for start in (0, 17, 42):
        node = graph.nodes[start]
        found = stage(Question("?"), EntityDocuments((EntityDocument("", node, ""),)), Limit()).triples
        walks = list(dict.fromkeys(tuple(one.node.key for one in triple.path.nodes) for triple in found))
        assert walks == expected(graph, similar, start, hops, top)
        for triple in found:
            keys = [one.node.key for one in triple.path.nodes]
            for near, edge, far in zip(keys, triple.path.edges, keys[1:], strict=False):
                stored = (near, edge.relation, far) if edge.direction == "out" else (far, edge.relation, near)
                assert stored in pairs
        single = [triple.path.edges[0] for triple in found if len(triple.path.edges) == 1]
        assert len(single) == len({(t.far.key, t.path.edges[0]) for t in found if len(t.path.edges) == 1})


def star(leaves: int) -> Graph:
    """Return a hub with leaves, and a chain of two nodes beside it: 0 - hub, 0 - 2, 2 - 3."""
    nodes = tuple(Node(key, f"{key:05}", "thing", f"N{key}") for key in range(leaves + 4))
    edges = [(0, "of", 1), (0, "of", 2), (2, "of", 3)] + [(1, "of", 4 + leaf) for leaf in range(leaves)]
    return Graph(nodes, tuple(edges))


def test_a_hub_is_passed_over_where_its_edges_would_not_fit_and_that_is_said(tmp_path: Path) -> None:
    graph = star(500)
    tools = tools_of(tmp_path, graph, {DOCUMENT: {1: 0.9, 2: 0.1, 3: 0.05}})
    few = of(tools, 0, edges=100)
    assert [triple.far.key for triple in few.triples] == [1, 2, 3]
    assert few.detail == "1 entity with many relations was passed over."
    assert of(tools, 0, edges=1_000).neighbours == 503


def test_of_an_entity_with_too_many_edges_some_are_read_at_equal_distances(tmp_path: Path) -> None:
    tools = tools_of(tmp_path, star(500), {DOCUMENT: {}})
    scores = Similarities(RelateDocuments(**taken(tools, *NEEDED)), Question("?"))
    found = neighbourhood(tools["adjacency"], scores, 1, 1, 100, lambda: None)
    assert 90 <= len(found.parents) <= 100
    assert max(found.parents) - min(found.parents) > 400
    assert found.passed == 1


def test_a_cancelled_search_stops_between_hops(tmp_path: Path) -> None:
    tools = tools_of(tmp_path, similar=SIMILAR)
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 1

    entities = EntityDocuments((EntityDocument("", FILMS.nodes[ANN], ""),))
    with pytest.raises(SearchCancelled):
        RelateDocuments(**taken(tools, *NEEDED))(Question(ASKED), entities, Limit(cancelled=cancelled))
    assert len(asked) == 2
