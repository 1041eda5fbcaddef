"""Runs compiled plans in Neo4j within the limits of a search."""

from __future__ import annotations

from collections.abc import Sequence

from search.adapters.graph_neo4j.compile import Compiler, Query
from search.adapters.graph_neo4j.connection import Connection, Row
from search.adapters.graph_neo4j.names import MARKER, Names, relation_code
from search.adapters.graph_postgres.paths import read_paths
from search.domain.errors import StageError
from search.domain.evidence import Path
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan, Traversal
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.interfaces import NodeStore

WHOLE = f"MATCH (m:{MARKER} {{snapshot: $snapshot, fingerprint: $fingerprint, state: 'whole'}}) RETURN count(m) > 0"


class ProjectionMissing(StageError):
    """Neo4j holds no whole projection of the snapshot."""


class Neo4jGraph:
    """The graph of one snapshot as it is projected into Neo4j (interfaces.GraphStore)."""

    backend = "neo4j"

    def __init__(self, connection: Connection, snapshot_id: int, schema: Schema, nodes: NodeStore) -> None:
        self._connection = connection
        self._names = Names(snapshot_id, schema)
        self._nodes = nodes

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return the candidates of a linked plan; see the protocol.

        Raises ProjectionMissing where Neo4j does not hold this snapshot, and Neo4jAway where it does not answer.
        """
        if not is_bound(linked):
            return Traversal(linked.index, self.backend, ())
        query = Compiler(linked, self._names).candidates(rows)
        keys, scores = self._fetch("traverse", query, limit)
        candidates = tuple(map(Candidate, keys[:rows], scores[:rows]))
        return Traversal(linked.index, self.backend, candidates, len(keys) > rows, query.text)

    def paths(
        self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1
    ) -> dict[int, list[tuple[Path, ...]]]:
        """Return the best matches of the keys; see the protocol."""
        if not is_bound(linked) or not keys or most < 1:
            return {}
        query = Compiler(linked, self._names).paths(keys, most)
        (rows,) = self._fetch("explain", query, limit)
        first_hop = 1 + len(linked.plan.variables)
        read = [
            [*row[:first_hop], *(relation_code(cell) if i % 2 == 0 else cell for i, cell in enumerate(row[first_hop:]))]
            for row in rows
        ]
        return read_paths(linked.plan, read, self._names.schema, self._nodes, most)

    def _fetch(self, stage: str, query: Query, limit: Limit) -> Row:
        """Return the columns of the statement's only row.

        Whether the projection is whole is read after that: one that is being removed says so before anything goes, so
        what was read of it before is all there was.
        """
        marker = {"snapshot": self._names.snapshot_id, "fingerprint": self._names.fingerprint}
        [[columns], [[whole]]] = self._connection.read(stage, [(query.text, query.parameters), (WHOLE, marker)], limit)
        if not whole:
            raise ProjectionMissing(
                stage, "Neo4j does not hold this release's graph; manage.py sync_graph puts it there"
            )
        return columns


def is_bound(linked: LinkedPlan) -> bool:
    """Whether the plan has anchors, and each of them a binding."""
    return bool(linked.plan.anchors) and all(linked.bindings_of(anchor.var) for anchor in linked.plan.anchors)
