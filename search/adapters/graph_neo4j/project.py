"""Writes a snapshot into Neo4j under its own label, and removes it again. Every step may be interrupted.

The marker of a projection counts the written nodes and edges in the same transaction that writes them, so that an
interrupted run can be continued. Its states are `building`, `whole` (complete) and `leaving` (being removed).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from search.adapters.graph_neo4j.connection import Connection
from search.adapters.graph_neo4j.names import MARKER, Names
from search.domain.graph import FieldValue, Node
from search.domain.trace import Limit

State = Literal["building", "whole", "leaving"]
BATCH_SECONDS = 300.0
"""Time limit of one batch: a server that takes longer has a problem."""
REMOVED_AT_ONCE = 20_000
"""Nodes or edges that one transaction removes."""


@dataclass(frozen=True, slots=True)
class Marker:
    """The state of a projection as stored in Neo4j: its snapshot, the fingerprint of the content, its progress."""

    snapshot: int
    knowledge_base: str
    fingerprint: str
    state: State
    nodes: int
    edges: int


def markers(connection: Connection, limit: Limit | None = None) -> list[Marker]:
    """Return the marker of every projection that Neo4j holds, complete or not, newest snapshot first."""
    columns = "m.snapshot, m.knowledge_base, m.fingerprint, m.state, m.nodes, m.edges"
    query = f"MATCH (m:{MARKER}) RETURN {columns} ORDER BY m.snapshot DESC"
    rows = connection.read("sync_graph", query, {}, limit or Limit.seconds(BATCH_SECONDS))
    return [Marker(*row) for row in rows]


class OvertakenByAnother(Exception):
    """Another process has written into the projection; its writes are there, and nothing was added to them."""


class Projection:
    """Writes and removes the projection of one snapshot.

    `cancelled` is asked while a statement runs; if it returns true, the statement is abandoned with SearchCancelled.
    """

    def __init__(self, connection: Connection, names: Names, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._connection = connection
        self._names = names
        self._cancelled = cancelled

    def begin(self, knowledge_base: str) -> None:
        """Create the marker, the constraints and the index of the projection if they are missing."""
        self._write(f"CREATE CONSTRAINT {MARKER} IF NOT EXISTS FOR (m:{MARKER}) REQUIRE m.snapshot IS UNIQUE")
        self._write(f"CREATE CONSTRAINT {self._key} IF NOT EXISTS FOR (n:{self._names.nodes}) REQUIRE n.key IS UNIQUE")
        self._write(f"CREATE INDEX {self._id} IF NOT EXISTS FOR (n:{self._names.nodes}) ON (n.id)")
        self._write(
            f"MERGE (m:{MARKER} {{snapshot: $snapshot}}) "
            "ON CREATE SET m.state = 'building', m.nodes = 0, m.edges = 0, m.fingerprint = $fingerprint, "
            "m.knowledge_base = $knowledge_base",
            fingerprint=self._names.fingerprint,
            knowledge_base=knowledge_base,
        )

    def write_nodes(self, nodes: Sequence[Node], before: int) -> None:
        """Write nodes after the `before` nodes that are written, and count them in the marker.

        Raises OvertakenByAnother if the marker's count is not `before`.
        """
        codes = self._names.schema.type_codes
        rows = [[self._names.type(codes[node.type]), self._names.properties(node)] for node in nodes]
        self._append(
            "nodes", before, len(nodes),
            f"UNWIND $rows AS row CREATE (n:{self._names.nodes}) SET n = row[1], n:$(row[0])",
            rows=rows,
        )  # fmt: skip

    def write_edges(
        self,
        relation: int,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        before: int,
        fields: Sequence[Mapping[str, FieldValue]] | None = None,
    ) -> None:
        """Write edges of one relation (its code), sorted by source, after the `before` edges that are written.

        `fields` are those of each edge, if the relation has any. Raises OvertakenByAnother if the marker's count is not
        `before`.
        """
        if fields is not None:
            values = map(self._names.values, fields)
            rows = [list(row) for row in zip(source.tolist(), target.tolist(), values, strict=True)]
            self._append(
                "edges", before, len(source),
                f"UNWIND $rows AS row MATCH (a:{self._names.nodes} {{key: row[0]}}) "
                f"MATCH (b:{self._names.nodes} {{key: row[1]}}) "
                f"CREATE (a)-[r:{self._names.relation(relation)}]->(b) SET r = row[2]",
                rows=rows,
            )  # fmt: skip
            return
        begins = np.flatnonzero(np.concatenate(([True], source[1:] != source[:-1])))
        groups = [list(pair) for pair in zip(source[begins].tolist(), map(_keys, np.split(target, begins[1:])),
                                             strict=True)]  # fmt: skip
        self._append(
            "edges", before, len(source),
            f"UNWIND $groups AS row MATCH (a:{self._names.nodes} {{key: row[0]}}) UNWIND row[1] AS key "
            f"MATCH (b:{self._names.nodes} {{key: key}}) CREATE (a)-[:{self._names.relation(relation)}]->(b)",
            groups=groups,
        )  # fmt: skip

    def _append(self, count: str, before: int, added: int, clause: str, **parameters: Any) -> None:
        """Run a writing clause in the transaction that counts its rows, if the count is still what it should be.

        The first SET locks the marker before its count is read, so that of two processes one sees the other's count.
        """
        query = (
            f"MATCH (m:{MARKER} {{snapshot: $snapshot}}) SET m.{count} = m.{count} "
            f"WITH m WHERE m.{count} = $before AND m.state = 'building' "
            f"SET m.{count} = $done WITH m CALL (m) {{ {clause} }} RETURN count(*)"
        )
        if self._write(query, before=before, done=before + added, **parameters) == [[0]]:
            raise OvertakenByAnother

    def finish(self) -> None:
        """Mark the projection as complete: from now on plans are executed on it."""
        self._mark("whole")

    def remove(self) -> None:
        """Remove the projection; it is marked first, so that no plan relies on it while it is being removed."""
        self._mark("leaving")
        nodes = self._names.nodes
        self._until_nothing(f"MATCH (:{nodes})-[r]->() WITH r LIMIT {REMOVED_AT_ONCE} DELETE r RETURN count(r)")
        self._until_nothing(f"MATCH (n:{nodes}) WITH n LIMIT {REMOVED_AT_ONCE} DELETE n RETURN count(n)")
        self._write(f"DROP CONSTRAINT {self._key} IF EXISTS")
        self._write(f"DROP INDEX {self._id} IF EXISTS")
        self._write(f"MATCH (m:{MARKER} {{snapshot: $snapshot}}) DELETE m")

    @property
    def _key(self) -> str:
        return f"{self._names.nodes}_key"

    @property
    def _id(self) -> str:
        return f"{self._names.nodes}_id"

    def _mark(self, state: State) -> None:
        self._write(f"MATCH (m:{MARKER} {{snapshot: $snapshot}}) SET m.state = $state", state=state)

    def _until_nothing(self, query: str) -> None:
        while self._write(query) != [[0]]:
            pass

    def _write(self, query: str, **parameters: Any) -> list[list[Any]]:
        values = {"snapshot": self._names.snapshot_id, **parameters}
        return self._connection.write(query, values, Limit.seconds(BATCH_SECONDS, self._cancelled))


def _keys(part: NDArray[np.int32]) -> list[int]:
    return part.tolist()
