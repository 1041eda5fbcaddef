"""Nodes from memory-mapped files and from Postgres."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from search.adapters import adjacency_memmap, nodes_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.nodes_memmap import MemmapNodes
from search.domain.graph import Field, Node
from search.interfaces import Adjacency
from tests.graphs import edge_arrays, schema_of, store
from tests.oracle import Graph

SNAPSHOT = 77
GRAPH = Graph(
    nodes=(
        Node(0, "film/1", "film", "Amber Road", fields={"year": 1999, "tags": ["a", "b"]}),
        Node(1, "film/2", "film", "Birch ☃"),
        Node(2, "person/1", "person", "Ada"),
        Node(3, "person/2", "person", "Bo"),
    ),
    edges=((0, "made by", 3), (0, "made by", 2), (1, "made by", 2), (2, "admires", 2), (2, "admires", 3)),
)
SCHEMA = schema_of(GRAPH)


@pytest.fixture
def nodes(tmp_path: Path) -> MemmapNodes:
    codes = np.array([SCHEMA.type_codes[node.type] for node in GRAPH.nodes], dtype=np.int16)
    for part in ("nodes", "adjacency"):
        (tmp_path / part).mkdir()
    nodes_memmap.build(tmp_path / "nodes", ((n.id, n.name, SCHEMA.type_codes[n.type]) for n in GRAPH.nodes))
    adjacency_memmap.build(
        tmp_path / "adjacency",
        nodes=4,
        types=codes,
        relations=2,
        edges=edge_arrays(
            source=np.array([source for source, _, _ in GRAPH.edges]),
            relation=np.array([SCHEMA.relation_codes[relation] for _, relation, _ in GRAPH.edges]),
            target=np.array([target for _, _, target in GRAPH.edges]),
        ),
    )
    return MemmapNodes(SNAPSHOT, tmp_path / "nodes", SCHEMA, MemmapAdjacency(tmp_path / "adjacency", SCHEMA))


def test_references_need_no_database(nodes: MemmapNodes) -> None:
    assert nodes.references([3, 1]) == [Node(3, "person/2", "person", "Bo"), Node(1, "film/2", "film", "Birch ☃")]
    assert nodes.ids([2, 0]) == ["person/1", "film/1"]
    assert nodes.types([2, 0, 1]).tolist() == [1, 0, 0]
    assert nodes.references([]) == []


def test_keys_are_found_by_id(nodes: MemmapNodes) -> None:
    assert nodes.keys(["person/1", "film/", "film/1", "zzz", ""]) == [2, None, 0, None, None]


def test_neighbour_names_join_both_directions_in_the_order_of_keys(nodes: MemmapNodes) -> None:
    assert nodes.neighbour_names(0) == {"made by": ["Ada", "Bo"]}
    # Ada admires herself, which is one neighbour, and Bo; two films are made by her.
    assert nodes.neighbour_names(2) == {"made by": ["Amber Road", "Birch ☃"], "admires": ["Ada", "Bo"]}
    assert nodes.neighbour_names(2, limit=1) == {"made by": ["Amber Road"], "admires": ["Ada"]}


@pytest.mark.django_db
def test_whole_nodes_come_from_postgres_in_the_order_asked_for(nodes: MemmapNodes) -> None:
    store(GRAPH, SCHEMA, SNAPSHOT)
    assert nodes.nodes([1, 0, 1]) == [GRAPH.nodes[1], GRAPH.nodes[0], GRAPH.nodes[1]]
    with pytest.raises(KeyError):
        nodes.nodes([9])


@pytest.mark.django_db
def test_values_of_a_field_come_from_all_over_a_type(tmp_path: Path) -> None:
    films = tuple(Node(key, f"f{key:04}", "film", f"Film {key}", fields={"year": 1000 + key}) for key in range(1000))
    rare = tuple(Node(1000 + key, f"g{key:04}", "tag", f"Tag {key}", fields={"n": key} if key % 10 == 3 else {})
                 for key in range(100))  # fmt: skip
    graph = Graph((*films, *rare), ())
    schema = schema_of(graph)
    kinds = tuple(replace(k, fields=(Field("n", coverage=10),)) if k.name == "tag" else k for k in schema.node_types)
    store(graph, schema, SNAPSHOT)
    nodes_memmap.build(tmp_path, ((n.id, n.name, schema.type_codes[n.type]) for n in graph.nodes))
    nodes = MemmapNodes(SNAPSHOT, tmp_path, replace(schema, node_types=kinds), cast(Adjacency, None))
    assert nodes.values("film", "year", 4) == [1000, 1250, 1500, 1750]
    # One node in ten has it, so ten times as many nodes are looked at.
    assert nodes.values("tag", "n", 10) == [3, 13, 23, 33, 43, 53, 63, 73, 83, 93]
    assert nodes.values("tag", "unknown", 10) == []
