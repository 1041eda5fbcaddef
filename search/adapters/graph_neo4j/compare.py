"""Compares a projection with its snapshot and describes each difference in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters.graph_neo4j.connection import Connection
from search.adapters.graph_neo4j.names import Names
from search.domain.graph import Node
from search.domain.trace import Limit

COMPARE_SECONDS = 600.0
PRIME = 2**31 - 1
SHOWN_SENTENCES = 5

EdgeArrays = tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int32]]
"""Relation, source and target of every edge."""


class GraphComparison:
    """Compares one projection; each method returns a sentence for each difference, none if there is no difference."""

    def __init__(self, connection: Connection, names: Names) -> None:
        self._connection = connection
        self._names = names

    def counts(self, edges: EdgeArrays) -> list[str]:
        """Compare the number of nodes of each type and the number of edges of each relation."""
        return self._node_counts() + self._edge_sums(edges, "count(r)", np.ones(len(edges[0]), np.int64))

    def edges(self, edges: EdgeArrays) -> list[str]:
        """Compare every edge by a checksum over each relation, which changes if any single end changes."""
        _, source, target = edges
        products = (source.astype(np.int64) + 1) * (target.astype(np.int64) + 1) % PRIME
        return self._edge_sums(edges, f"sum((a.key + 1) * (b.key + 1) % {PRIME})", products)

    def nodes(self, nodes: Sequence[Node]) -> list[str]:
        """Compare the type and every field of some nodes."""
        rows = self._read(
            f"UNWIND $keys AS key OPTIONAL MATCH (n:{self._names.nodes} {{key: key}}) "
            "RETURN key, labels(n), properties(n)",
            keys=[node.key for node in nodes],
        )
        found = {key: (labels, properties) for key, labels, properties in rows}
        return [text for node in nodes if (text := self._unlike(node, *found[node.key]))]

    def _unlike(self, node: Node, labels: list[str] | None, properties: dict[str, Any] | None) -> str:
        if labels is None or properties is None:
            return f"The entity {node.id} is missing."
        if set(labels) != {self._names.nodes, self._names.type(self._names.schema.type_codes[node.type])}:
            return f"The entity {node.id} is not of the type {node.type}."
        expected = self._names.properties(node)
        if properties != expected:
            keys = [key for key in expected.keys() | properties.keys() if expected.get(key) != properties.get(key)]
            return f"The entity {node.id} differs in {', '.join(sorted({self._names.meaning(key) for key in keys}))}."
        return ""

    def _node_counts(self) -> list[str]:
        counted = Counter[tuple[str, ...]]()
        for labels, count in self._read(f"MATCH (n:{self._names.nodes}) RETURN labels(n), count(n)"):
            counted[tuple(sorted(set(labels) - {self._names.nodes}))] += count
        expected = {
            (self._names.type(code),): (kind.name, kind.count)
            for code, kind in enumerate(self._names.schema.node_types)
        }
        wrong = [
            f"There are {counted[labels]:,} entities of the type {name}; there should be {count:,}."
            for labels, (name, count) in expected.items()
            if counted[labels] != count
        ]
        stray = sum(count for labels, count in counted.items() if labels not in expected)
        return wrong + ([f"There are {stray:,} entities whose type the imported data do not have."] if stray else [])

    def _edge_sums(self, edges: EdgeArrays, measure: str, values: NDArray[np.int64]) -> list[str]:
        """Compare a sum over each relation's edges: `measure` in Cypher, `values` with one item for each edge here."""
        relations = self._names.schema.relations
        sums = np.zeros(len(relations), dtype=np.int64)
        np.add.at(sums, edges[0], values)
        found = dict(self._read(f"MATCH (a:{self._names.nodes})-[r]->(b) RETURN type(r), {measure}"))
        wrong = []
        for code, relation in enumerate(relations):
            here, there = int(sums[code]), found.pop(self._names.relation(code), 0)
            if here != there and measure.startswith("count"):
                wrong.append(f"There are {there:,} of the relation {relation.name}; there should be {here:,}.")
            elif here != there:
                wrong.append(f"The relation {relation.name} joins other entities than it should.")
        return wrong + (["There is a relation that the imported data do not have."] if found else [])

    def _read(self, query: str, **parameters: Any) -> list[list[Any]]:
        return self._connection.read("sync_graph", query, parameters, Limit.seconds(COMPARE_SECONDS))


def shortened(sentences: Iterable[str]) -> list[str]:
    """Return the first `SHOWN_SENTENCES` sentences, followed by one that counts the others."""
    all_of_them = list(sentences)
    more = len(all_of_them) - SHOWN_SENTENCES
    return all_of_them[:SHOWN_SENTENCES] + ([f"… and {more:,} more like these."] if more > 0 else [])
