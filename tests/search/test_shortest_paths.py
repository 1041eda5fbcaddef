"""Shortest paths between two nodes, held against networkx and worked out by hand."""

from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.adapters import adjacency_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.graph import NodeType, Relation, Schema
from search.shared_neighbours import alike_in_graph
from search.shortest_paths import best_paths, degrees_of, shortest_paths
from tests.graphs import edge_arrays

NODES = 12
SCHEMA = Schema((NodeType("a", 6), NodeType("b", 6)), (Relation("R0"), Relation("R1")), ())
EDGES = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, 1), st.integers(0, NODES - 1)), min_size=5, max_size=40
)


def built(folder: Path, edges: list[tuple[int, int, int]], nodes: int = NODES) -> MemmapAdjacency:
    columns = np.array(edges, dtype=np.int32).reshape(-1, 3)
    types = (np.arange(nodes) % 2).astype(np.int16)
    adjacency_memmap.build(
        folder,
        nodes=nodes,
        types=types,
        relations=2,
        edges=edge_arrays(source=columns[:, 0], relation=columns[:, 1], target=columns[:, 2]),
    )
    return MemmapAdjacency(folder, SCHEMA)


@given(edges=EDGES, hops=st.integers(1, 4))
def test_all_shortest_paths_are_those_that_networkx_finds(
    tmp_path_factory: pytest.TempPathFactory, edges: list[tuple[int, int, int]], hops: int
) -> None:
    graph = built(tmp_path_factory.mktemp("graph"), edges)
    oracle = networkx.Graph()
    oracle.add_nodes_from(range(NODES))
    oracle.add_edges_from((source, target) for source, _, target in edges)
    try:
        expected = {tuple(path) for path in networkx.all_shortest_paths(oracle, 0, 1) if len(path) <= hops + 1}
    except networkx.NetworkXNoPath:
        expected = set()

    between = shortest_paths(graph, 0, 1, hops)
    found = list(best_paths(between, lambda keys: degrees_of(graph, keys)))

    assert {(path[0].near, *(edge.far for edge in path)) for path in found} == expected
    assert len(found) == between.paths
    for path in found:
        for edge in path:
            stored = (edge.near, edge.relation, edge.far) if edge.forward else (edge.far, edge.relation, edge.near)
            assert stored in edges


def test_a_path_over_a_rare_node_comes_before_one_over_a_hub(tmp_path: Path) -> None:
    """0 → 2 → 1 and 0 → 3 → 1, and three more nodes point to 2: node 2 has five edges, node 3 two."""
    graph = built(tmp_path, [(0, 0, 2), (2, 0, 1), (0, 0, 3), (3, 1, 1), (5, 0, 2), (6, 0, 2), (7, 0, 2)])
    paths = best_paths(shortest_paths(graph, 0, 1), lambda keys: degrees_of(graph, keys))
    assert [[edge.far for edge in path] for path in paths] == [[3, 1], [2, 1]]


def test_types_can_be_left_out_but_not_those_of_the_ends(tmp_path: Path) -> None:
    """Even keys are of type 0, odd ones of type 1: without 0, the way over 2 is gone and the one over 3 stays."""
    graph = built(tmp_path, [(0, 0, 2), (2, 0, 4), (0, 0, 3), (3, 0, 4)])
    assert [layer.tolist() for layer in shortest_paths(graph, 0, 4, without=[0]).layers] == [[0], [3], [4]]
    assert shortest_paths(graph, 0, 4, without=[0, 1]).layers == ()


def test_a_node_with_more_edges_than_may_be_read_is_passed_over_and_counted(tmp_path: Path) -> None:
    """0 and 1 meet in 2, which has 7 edges; the ends have one edge each, so they are read, and 2 only is the end."""
    graph = built(tmp_path, [(0, 0, 2), (2, 0, 3), (3, 0, 1), *((key, 0, 2) for key in range(4, 10))])
    assert shortest_paths(graph, 0, 1, edges=100).hops == 3
    few = shortest_paths(graph, 0, 1, edges=5)
    assert few.hops == 3 or few.passed_over > 0
    assert few.edges <= 5
    none = shortest_paths(graph, 2, 1, edges=1)
    assert (none.hops, none.edges <= 1) == (0, True)


def test_a_node_has_no_path_to_itself(tmp_path: Path) -> None:
    assert shortest_paths(built(tmp_path, [(0, 0, 1)]), 0, 0).layers == ()


def test_nodes_that_share_rare_neighbours_are_more_alike(tmp_path: Path) -> None:
    """Nodes 0, 2, 4 are of one type. 2 shares 1 and 3 with 0, 4 shares only 3; 1 has two edges, 3 has three.

    Scores by Adamic and Adar: 1 / ln 3 + 1 / ln 4 = 1.6316 and 1 / ln 4 = 0.7213.
    """
    graph = built(tmp_path, [(0, 0, 1), (2, 0, 1), (0, 0, 3), (2, 0, 3), (4, 0, 3), (4, 1, 1)])
    alike = alike_in_graph(graph, 0, 5)
    assert [(one.key, round(one.score, 4), one.shared, one.over) for one in alike] == [
        (2, 1.6316, 2, (1, 3)),
        (4, 0.7213, 1, (3,)),
    ]
    assert alike_in_graph(graph, 0, 5, edges=2) == [alike_in_graph(graph, 0, 5, edges=2)[0]]


def test_a_part_of_a_hub_is_what_the_whole_has_there(tmp_path: Path) -> None:
    graph = built(tmp_path, [(0, 0, target) for target in range(1, 9)])
    assert graph.part(0, 0, "out", 3, 2).tolist() == [4, 5]
    assert graph.part(0, 0, "out", 6, 50).tolist() == [7, 8]
    assert graph.part(0, 0, "out", 60, 50).tolist() == []
    assert graph.part(0, 1, "out", 0, 50).tolist() == []
