"""Small graphs for tests: schema, rows in Postgres, and a node store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from search.adapters import adjacency_memmap, columns_memmap, edge_values_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.columns_memmap import MemmapColumns
from search.adapters.graph_memmap import MemmapGraph
from search.domain.graph import Direction, Field, FieldValue, Node, NodeType, Relation, RelationType, Schema
from search.domain.trace import Limit
from search.interfaces import GraphStore, Keys
from search.models.partitions import partition
from tests.oracle import Graph


def schema_of(graph: Graph, types: Sequence[str] = (), relations: Sequence[str] = ()) -> Schema:
    """Return the schema of a graph with counts; `types` and `relations` add names that the graph does not use."""
    kinds = list(dict.fromkeys([*types, *(node.type for node in graph.nodes)]))
    names = list(dict.fromkeys([*relations, *(relation for _, relation, _ in graph.edges)]))
    of = {node.key: node.type for node in graph.nodes}
    counts = Counter((of[source], relation, of[target]) for source, relation, target in graph.edges)
    return Schema(
        node_types=tuple(_node_type(kind, [node for node in graph.nodes if node.type == kind]) for kind in kinds),
        relations=tuple(Relation(name, fields=_edge_fields(graph, name)) for name in names),
        relation_types=tuple(RelationType(*key, count) for key, count in counts.items()),
    )


def _node_type(name: str, nodes: Sequence[Node]) -> NodeType:
    fields = dict.fromkeys(field for node in nodes for field in node.fields)
    return NodeType(name, len(nodes), tuple(Field(field) for field in fields))


def _edge_fields(graph: Graph, relation: str) -> tuple[Field, ...]:
    own = [fields for (_, name, _), fields in graph.properties.items() if name == relation]
    values: dict[str, list[FieldValue]] = {}
    for name, value in (pair for fields in own for pair in fields.items()):
        values.setdefault(name, []).extend(value if isinstance(value, list) else [value])
    numbers = {name: all(isinstance(one, int | float) for one in several) for name, several in values.items()}
    return tuple(Field(name, "number" if is_number else "keyword") for name, is_number in numbers.items())


def edge_arrays(
    source: NDArray[np.integer], relation: NDArray[np.integer], target: NDArray[np.integer], size: int = 2
) -> Callable[[Direction], Iterator[adjacency_memmap.EdgeBlock]]:
    """Return what builds an adjacency of edges in any order: their blocks, of `size` edges each, by direction."""

    def blocks(direction: Direction) -> Iterator[adjacency_memmap.EdgeBlock]:
        near, far = (source, target) if direction == "out" else (target, source)
        order = np.lexsort((far, relation, near))
        for first in range(0, len(order), size):
            block = order[first : first + size]
            yield relation[block], near[block], far[block]

    return blocks


def write_adjacency(graph: Graph, schema: Schema, folder: Path) -> None:
    """Write the adjacency of a graph into a folder, as a release holds it."""
    edges = np.array([(s, schema.relation_codes[r], t) for s, r, t in graph.edges], dtype=np.int32).reshape(-1, 3)
    adjacency_memmap.build(
        folder,
        nodes=len(graph.nodes),
        relations=len(schema.relations),
        types=np.array([schema.type_codes[node.type] for node in graph.nodes], dtype=np.int16),
        edges=edge_arrays(source=edges[:, 0], relation=edges[:, 1], target=edges[:, 2], size=1_000),
    )
    rows = ((schema.relation_codes[r], s, t, fields) for (s, r, t), fields in graph.properties.items())
    edge_values_memmap.build(folder, schema, len(graph.nodes), rows)


def columns(graph: Graph, schema: Schema, folder: Path) -> MemmapColumns:
    """Return the columns of a graph's fields, written into a folder as a release holds them."""
    folder.mkdir(exist_ok=True)
    columns_memmap.build(folder, schema, graph.nodes)
    return MemmapColumns(folder, schema)


def mapped(graph: Graph, schema: Schema, folder: Path, beyond: GraphStore, most_rows: int = 10_000) -> MemmapGraph:
    """Return the engine on the memory-mapped files of a graph, which it writes into a folder."""
    write_adjacency(graph, schema, folder)
    adjacency = MemmapAdjacency(folder, schema)
    fields = columns(graph, schema, folder / "columns")
    return MemmapGraph(schema, Nodes(graph, schema), adjacency, fields, beyond, most_rows)


def store(graph: Graph, schema: Schema, snapshot_id: int) -> None:
    """Write a graph into the partitions of a snapshot, replacing their rows."""
    edges, nodes = partition("search_edge", snapshot_id), partition("search_node", snapshot_id)
    types = {node.key: schema.type_codes[node.type] for node in graph.nodes}
    with connection.cursor() as cursor:
        for table, parent in ((edges, "search_edge"), (nodes, "search_node")):
            cursor.execute(f"CREATE TABLE IF NOT EXISTS {table} PARTITION OF {parent} FOR VALUES IN ({snapshot_id:d})")
            cursor.execute(f"DELETE FROM {table}")
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {edges}_out ON {edges} (source, relation, target)")
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {edges}_in ON {edges} (target, relation, source)")
        with cursor.copy(
            f"COPY {edges} (snapshot_id, relation, source, target, source_type, target_type, properties) FROM STDIN"
        ) as copy:
            for source, relation, target in graph.edges:
                row = (snapshot_id, schema.relation_codes[relation], source, target, types[source], types[target])
                own = graph.properties.get((source, relation, target))
                copy.write_row((*row, None if own is None else json.dumps(dict(own))))
        with cursor.copy(f"COPY {nodes} (snapshot_id, key, id, type, name, fields) FROM STDIN") as copy:
            for node in graph.nodes:
                fields = json.dumps(dict(node.fields))
                copy.write_row((snapshot_id, node.key, node.id, types[node.key], node.name, fields))


class Nodes:
    """A node store over a tuple of nodes (interfaces.NodeStore); a node's key is its position."""

    def __init__(self, graph: Graph, schema: Schema) -> None:
        self._nodes = graph.nodes
        self._codes = schema.type_codes
        self._by_id = {node.id: node.key for node in graph.nodes}

    def ids(self, keys: Sequence[int]) -> list[str]:
        return [self._nodes[key].id for key in keys]

    def references(self, keys: Sequence[int]) -> list[Node]:
        return [Node(key, self._nodes[key].id, self._nodes[key].type, self._nodes[key].name) for key in keys]

    def nodes(self, keys: Sequence[int], limit: Limit | None = None) -> list[Node]:
        return [self._nodes[key] for key in keys]

    def keys(self, ids: Sequence[str]) -> list[int | None]:
        return [self._by_id.get(node_id) for node_id in ids]

    def types(self, keys: Sequence[int] | Keys) -> NDArray[np.int16]:
        return np.array([self._codes[self._nodes[key].type] for key in keys], dtype=np.int16)

    def values(self, label: str, field: str, n: int = 1000) -> list[FieldValue]:
        return [node.fields[field] for node in self._nodes if node.type == label and field in node.fields][:n]

    def neighbour_names(self, key: int, limit: int = 10) -> dict[str, list[str]]:
        return {}
