"""Nodes and their neighbours' names as they are streamed for indexing."""

from pathlib import Path

import pytest
from django.db import connection

from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.graph import DIRECTIONS, Node
from search.ingest import documents
from search.interfaces import Keys
from tests.graphs import schema_of, store, write_adjacency
from tests.oracle import Graph

SNAPSHOT = 78
GRAPH = Graph(
    nodes=tuple(
        Node(key, f"n{key:02}", "b" if key % 3 else "a", f"Node {key}", fields={"at": key}) for key in range(25)
    ),
    edges=(
        *((0, "knows", key) for key in range(1, 15)),
        (3, "knows", 0),
        (3, "knows", 0),
        (7, "likes", 7),
        (24, "likes", 1),
    ),
)
SCHEMA = schema_of(GRAPH)


@pytest.fixture(autouse=True)
def _stored(db: None) -> None:
    store(GRAPH, SCHEMA, SNAPSHOT)


def names_of(keys: Keys) -> list[str]:
    return [GRAPH.nodes[key].name for key in keys.tolist()]


def test_nodes_come_in_blocks_of_consecutive_keys() -> None:
    blocks = list(documents.nodes(SNAPSHOT, SCHEMA, first=4, size=10))
    assert [len(block) for block in blocks] == [10, 10, 1]
    assert [node for block in blocks for node in block] == list(GRAPH.nodes[4:])


def test_references_are_id_name_and_type() -> None:
    assert [row for block in documents.references(SNAPSHOT) for row in block] == [
        (node.id, node.name, SCHEMA.type_codes[node.type]) for node in GRAPH.nodes
    ]


def test_names_come_with_their_aliases() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE search_node SET aliases = '{Other}' WHERE snapshot_id = %s AND key = 5", [SNAPSHOT])
    assert [row for block in documents.names(SNAPSHOT) for row in block] == [
        (node.key, node.name, ["Other"] if node.key == 5 else []) for node in GRAPH.nodes
    ]


@pytest.mark.parametrize("size", [1, 10, 100])
def test_ten_names_a_relation_both_directions_together(size: int, tmp_path: Path) -> None:
    write_adjacency(GRAPH, SCHEMA, tmp_path)
    adjacency = MemmapAdjacency(tmp_path, SCHEMA)
    blocks = documents.nodes_with_neighbours(SNAPSHOT, SCHEMA, adjacency, names_of, size=size)
    found = {item.node.key: item.neighbours for block in blocks for item in block}
    assert found.keys() == set(range(25))
    assert found[0] == {"knows": [f"Node {key}" for key in range(1, 11)]}
    assert found[3] == {"knows": ["Node 0"]}
    assert found[7] == {"knows": ["Node 0"], "likes": ["Node 7"]}
    assert found[1] == {"knows": ["Node 0"], "likes": ["Node 24"]}
    assert found[20] == {}


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_blocks_of_edges_are_sorted_in_either_direction(size: int) -> None:
    edges = {(s, SCHEMA.relation_codes[r], t) for s, r, t in GRAPH.edges}
    sorted_edges = {"out": sorted(edges), "in": sorted((t, r, s) for s, r, t in edges)}
    for direction in DIRECTIONS:
        blocks = list(documents.edge_blocks(SNAPSHOT, direction, size=size))
        assert all(len(relation) <= size for relation, _, _ in blocks)
        rows = [row for r, near, far in blocks for row in zip(near.tolist(), r.tolist(), far.tolist(), strict=True)]
        assert list(dict.fromkeys(rows)) == sorted_edges[direction]


def test_edges_come_as_arrays() -> None:
    relation, source, target = documents.edges(SNAPSHOT)
    rows = sorted(zip(source.tolist(), relation.tolist(), target.tolist(), strict=True))
    assert rows == sorted((s, SCHEMA.relation_codes[r], t) for s, r, t in GRAPH.edges)


def test_a_snapshot_without_edges_has_documents_all_the_same(tmp_path: Path) -> None:
    lonely = Graph((Node(0, "n", "a", "Alone"),), ())
    store(lonely, schema_of(lonely), SNAPSHOT + 1)
    write_adjacency(lonely, schema_of(lonely), tmp_path)
    adjacency = MemmapAdjacency(tmp_path, schema_of(lonely))
    [[only]] = documents.nodes_with_neighbours(SNAPSHOT + 1, schema_of(lonely), adjacency, names_of)
    assert (only.node.name, only.neighbours) == ("Alone", {})
    assert [len(array) for array in documents.edges(SNAPSHOT + 1)] == [0, 0, 0]
