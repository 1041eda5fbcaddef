"""The memory-mapped graph, held against a list of edges."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.adapters import adjacency_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.graph import DIRECTIONS, NodeType, Relation, Schema
from tests.graphs import edge_arrays

NODES, RELATIONS = 12, 3
SCHEMA = Schema((NodeType("thing", NODES),), tuple(Relation(f"R{code}") for code in range(RELATIONS)), ())
Edge = tuple[int, int, int]
EDGES = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, RELATIONS - 1), st.integers(0, NODES - 1)))
SETS = st.sets(st.integers(0, NODES - 1), min_size=1)


def built(folder: Path, edges: list[Edge], schema: Schema = SCHEMA, nodes: int = NODES) -> MemmapAdjacency:
    columns = np.array(edges, dtype=np.int32).reshape(-1, 3)
    adjacency_memmap.build(
        folder,
        nodes=nodes,
        types=np.zeros(nodes, dtype=np.int16),
        relations=len(schema.relations),
        edges=edge_arrays(source=columns[:, 0], relation=columns[:, 1], target=columns[:, 2]),
    )
    return MemmapAdjacency(folder, schema)


def keys(found: set[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(sorted(found), dtype=np.int32)


@given(edges=EDGES, start=SETS)
def test_neighbours_of_a_set_are_those_of_the_edges_in_either_direction(
    tmp_path_factory: pytest.TempPathFactory, edges: list[Edge], start: set[int]
) -> None:
    graph = built(tmp_path_factory.mktemp("graph"), edges)
    for relation in range(RELATIONS):
        out = graph.neighbours(keys(start), relation, "out")
        assert out.tolist() == sorted({t for s, r, t in edges if r == relation and s in start})
        back = graph.neighbours(keys(start), relation, "in")
        assert back.tolist() == sorted({s for s, r, t in edges if r == relation and t in start})
        assert out.dtype == np.int32


@given(edges=EDGES, span=st.tuples(st.integers(0, NODES), st.integers(0, NODES)), most=st.integers(1, 4))
def test_the_first_neighbours_of_a_range_of_nodes_are_those_of_both_directions(
    tmp_path_factory: pytest.TempPathFactory, edges: list[Edge], span: tuple[int, int], most: int
) -> None:
    graph, (first, last) = built(tmp_path_factory.mktemp("graph"), edges), sorted(span)
    both = {(s, r, t) for s, r, t in edges} | {(t, r, s) for s, r, t in edges}
    expected = [
        (key, relation, far)
        for key in range(first, last)
        for relation in range(RELATIONS)
        for far in sorted(t for s, r, t in both if (s, r) == (key, relation))[:most]
    ]
    found = graph.first_of(first, last, most)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected


@given(edges=EDGES, near=st.lists(st.integers(0, NODES - 1)), relation=st.integers(0, RELATIONS - 1))
def test_a_walk_reads_every_edge_of_every_key_and_pairs_are_joined_where_it_leads(
    tmp_path_factory: pytest.TempPathFactory, edges: list[Edge], near: list[int], relation: int
) -> None:
    graph, start = built(tmp_path_factory.mktemp("graph"), edges), np.array(near, dtype=np.int32)
    joined = {
        "out": {(s, t) for s, r, t in edges if r == relation},
        "in": {(t, s) for s, r, t in edges if r == relation},
    }
    for direction in DIRECTIONS:
        expected = [(at, t) for at, key in enumerate(near) for t in range(NODES) if (key, t) in joined[direction]]
        walked = graph.walk(start, relation, direction, len(expected))
        assert walked is not None
        assert list(zip(walked[0].tolist(), walked[1].tolist(), strict=True)) == expected
        assert graph.edges(start, relation, direction) == len(expected)
        assert not expected or graph.walk(start, relation, direction, len(expected) - 1) is None
        for far in range(NODES):
            found = graph.joined(start, np.full(len(near), far, dtype=np.int32), relation, direction)
            assert found.tolist() == [(key, far) in joined[direction] for key in near]


@given(edges=EDGES)
def test_the_whole_graph_lists_the_neighbours_of_each_node_over_all_relations(
    tmp_path_factory: pytest.TempPathFactory, edges: list[Edge]
) -> None:
    graph = built(tmp_path_factory.mktemp("graph"), edges)
    assert graph.size == NODES
    for direction, near, far in zip(DIRECTIONS, (0, 2), (2, 0), strict=True):
        starts, neighbours = graph.whole(direction)
        assert len(starts) == NODES + 1
        for node in range(NODES):
            expected = sorted(edge[far] for edge in set(edges) if edge[near] == node)
            assert sorted(neighbours[starts[node] : starts[node + 1]].tolist()) == expected


@given(edges=EDGES, start=SETS)
def test_edges_are_counted_once_however_often_they_are_stored(
    tmp_path_factory: pytest.TempPathFactory, edges: list[Edge], start: set[int]
) -> None:
    graph = built(tmp_path_factory.mktemp("graph"), edges * 2)
    distinct = set(edges)
    counts = {
        (relation, direction): len([e for e in distinct if e[1] == relation and e[end] in start])
        for relation in range(RELATIONS)
        for direction, end in (("out", 0), ("in", 2))
    }
    assert graph.counts(keys(start)) == {pair: count for pair, count in counts.items() if count}
    assert set(graph.has_edges(keys(start))) == {pair for pair, count in counts.items() if count}
    for key in start:
        assert graph.degree(key, 0, "out") == len([e for e in distinct if e[:2] == (key, 0)])


def test_many_neighbours_are_distinct_and_sorted_too(tmp_path: Path) -> None:
    """More than a share of all nodes takes the other way of removing duplicates."""
    edges = [(source, 0, target) for source in range(6) for target in (11, 3, 7, 5)]
    assert built(tmp_path, edges).neighbours(keys(set(range(6))), 0, "out").tolist() == [3, 5, 7, 11]


def test_a_graph_without_edges_has_no_neighbours(tmp_path: Path) -> None:
    graph = built(tmp_path, [])
    assert graph.neighbours(keys({0, 5}), 0, "out").tolist() == []
    assert graph.has_edges(keys({0})) == []
    assert graph.degree(0, 0, "in") == 0


def test_a_graph_without_nodes_can_be_built_and_opened(tmp_path: Path) -> None:
    graph = built(tmp_path, [], schema=Schema((), (), ()), nodes=0)
    assert graph.counts(keys(set())) == {}
    assert graph.types.shape == (0,)


def test_types_are_kept_by_key(tmp_path: Path) -> None:
    none = np.zeros(0, dtype=np.int32)
    types = np.array([1, 0, 1], dtype=np.int16)
    adjacency_memmap.build(
        tmp_path, nodes=3, types=types, relations=1, edges=edge_arrays(source=none, relation=none, target=none)
    )
    assert MemmapAdjacency(tmp_path, SCHEMA).types.tolist() == [1, 0, 1]


@pytest.mark.parametrize(("edge", "end"), [((12, 0, 1), "source"), ((1, 0, -1), "target"), ((1, 3, 1), "relation")])
def test_an_edge_to_nowhere_is_refused_by_name(tmp_path: Path, edge: Edge, end: str) -> None:
    with pytest.raises(ValueError, match=end):
        built(tmp_path, [edge])


def test_types_must_be_as_many_as_nodes(tmp_path: Path) -> None:
    none = np.zeros(0, dtype=np.int32)
    with pytest.raises(ValueError, match="2 types for 3 entities"):
        adjacency_memmap.build(
            tmp_path,
            nodes=3,
            types=np.zeros(2, np.int16),
            relations=1,
            edges=edge_arrays(source=none, relation=none, target=none),
        )


def test_the_nodes_of_types_and_whether_none_of_a_type_has_several_neighbours(tmp_path: Path) -> None:
    kinds = (NodeType("film", 3), NodeType("none", 0), NodeType("person", 2))
    schema = Schema(kinds, (Relation("BY"), Relation("LIKE")), ())
    # Films 0, 2, 4 and persons 1, 3; each film is by at most one person, film 2 is like two films.
    adjacency_memmap.build(
        tmp_path,
        nodes=5,
        types=np.array([0, 2, 0, 2, 0], dtype=np.int16),
        relations=2,
        edges=edge_arrays(
            source=np.array([0, 2, 2, 2]), relation=np.array([0, 0, 1, 1]), target=np.array([1, 1, 0, 4])
        ),
    )
    graph = MemmapAdjacency(tmp_path, schema)
    wanted: list[tuple[list[int], list[int]]] = [([0], [0, 2, 4]), ([2, 0], [0, 1, 2, 3, 4]), ([1], []), ([], [])]
    for codes, found in wanted:
        assert graph.of_types(codes).tolist() == found
        assert graph.of_types(codes).dtype == np.int32
    assert [graph.is_single(code, 0, "out") for code in (0, 1, 2)] == [True, True, True]
    assert not graph.is_single(2, 0, "in")
    assert not graph.is_single(0, 1, "out")
    assert graph.is_single(0, 1, "in")
