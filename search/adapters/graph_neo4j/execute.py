"""Runs compiled plans in Neo4j within the limits of a search."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from search.adapters.graph_matching.estimate import MOST_ROWS
from search.adapters.graph_matching.found import FoundCandidates, Longs, RankedValues
from search.adapters.graph_matching.paths import Matches, among_keys, from_either_end, read_paths
from search.adapters.graph_matching.whole import WholePlans
from search.adapters.graph_neo4j.compile import CypherCompiler, CypherQuery
from search.adapters.graph_neo4j.compile_paths import compile_paths
from search.adapters.graph_neo4j.connection import Connection, Row
from search.adapters.graph_neo4j.names import MARKER, Names, relation_code, unordered
from search.adapters.graph_neo4j.order import compile_edges, compile_joined, compile_order
from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan
from search.domain.ordering import Value, order_value
from search.domain.plan import Count, Hop, Order, Plan
from search.domain.trace import Limit
from search.interfaces import Adjacency, NodeStore

WHOLE = f"EXISTS {{ (:{MARKER} {{snapshot: $snapshot, fingerprint: $fingerprint, state: 'whole'}}) }}"
"""Expression that tells whether the snapshot's projection is complete."""


class ProjectionMissing(StageError):
    """Neo4j holds no complete projection of the snapshot."""


class Neo4jGraph(WholePlans):
    """The projection of one snapshot's graph in Neo4j (interfaces.GraphStore).

    No step of a plan passes on more than `most_rows` partial matches.
    """

    backend = "neo4j"

    def __init__(
        self,
        connection: Connection,
        snapshot_id: int,
        schema: Schema,
        nodes: NodeStore,
        adjacency: Adjacency | None = None,
        most_rows: int = MOST_ROWS,
    ) -> None:
        self._connection = connection
        self._names = Names(snapshot_id, schema)
        self._nodes = nodes
        self._adjacency = adjacency
        self._most_rows = most_rows

    def execute_match(self, linked: LinkedPlan, limit: Limit, rows: int) -> FoundCandidates:
        """Return the candidates of an executable plan without exclusions and order.

        Raises ProjectionMissing if Neo4j does not hold this snapshot, and Neo4jAway if it does not answer.
        """
        query = self._compiler(linked).candidates(rows)
        keys, scores, cut = self._fetch("traverse", query, limit)
        return FoundCandidates(
            self.backend, np.array(keys[:rows], np.int64), np.array(scores[:rows], np.float64),
            cut or len(keys) > rows, query.text,
        )  # fmt: skip

    def match_paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int) -> Matches:
        """Return the best matches of the keys for a bound plan without exclusions and order."""

        def ask(keys: Sequence[int], from_target: bool) -> tuple[Matches, bool]:
            query = compile_paths(
                linked, self._names, keys, most, self._adjacency, self._most_rows, from_target=from_target
            )
            rows, cut = self._fetch("explain", query, limit)
            return read_paths(linked.plan, _with_codes(linked, rows), self._names.schema, self._nodes, most), cut

        return from_either_end(ask, keys)

    def match_keys(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match of a plan without exclusions and order."""

        def ask(keys: Sequence[int], from_target: bool) -> tuple[Sequence[int], bool]:
            compiler = self._compiler(linked)
            query = compiler.matching(keys, from_target=from_target)
            if compiler.burden and not from_target:
                query = self._compiler(linked).matching(keys, from_target=True)
            found, cut = self._fetch("check", query, limit)
            return found, cut

        return among_keys(ask, keys, anchored=bool(linked.plan.anchors))

    def read_order(self, order: Order, keys: Longs, limit: Limit, among: Longs | None) -> RankedValues:
        """Return the value of each key in a field, or the number of different nodes that it is joined with."""
        asked = keys.tolist()
        query = compile_order(order, self._names, asked, None if among is None else among.tolist())
        [rows] = self._fetch("traverse", query, limit)
        if not isinstance(order.by, str):
            numbers = dict(rows)
            return RankedValues.of([numbers.get(key, 0) for key in asked])
        values = {key: [*(numbers or ()), *map(unordered, texts or ())] for key, texts, numbers in rows}
        return RankedValues.of([order_value(values.get(key), order.direction) for key in asked])

    def joined(self, count: Count, keys: Longs, limit: Limit, among: Longs | None) -> tuple[Longs, Longs]:
        """Return (keys, nodes): each different node that a count counts of a key."""
        counted = None if among is None else among.tolist()
        [rows] = self._fetch("traverse", compile_joined(count, self._names, keys.tolist(), counted), limit)
        pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def read_edges(
        self, hop: Hop, plan: Plan, field: str, keys: Sequence[int], among: Collection[int], limit: Limit
    ) -> list[tuple[int, Value]]:
        """Return (key, value) for each value of a field of the edges of a hop between T and the nodes `among`."""
        [rows] = self._fetch("traverse", compile_edges(hop, plan, self._names, field, keys, among), limit)
        return [
            (key, value) for key, texts, numbers in rows for value in [*(numbers or ()), *map(unordered, texts or ())]
        ]

    def _compiler(self, linked: LinkedPlan) -> CypherCompiler:
        return CypherCompiler(linked, self._names, self._adjacency, self._most_rows)

    def _fetch(self, stage: str, query: CypherQuery, limit: Limit) -> Row:
        """Return the columns of the statement's only row.

        Whether the projection is complete is read at the end of the statement, once a subquery has computed its row. A
        removal changes the marker before it removes anything, so if the marker still says complete, the statement has
        read complete data.
        """
        marker = {"snapshot": self._names.snapshot_id, "fingerprint": self._names.fingerprint}
        text = f"CALL () {{\n{query.text}\n}}\nRETURN {', '.join(query.columns)}, {WHOLE} AS whole"
        [[*columns, whole]] = self._connection.read(stage, text, {**query.parameters, **marker}, limit)
        if not whole:
            raise ProjectionMissing(
                stage, "Neo4j does not hold this release's graph; manage.py sync_graph puts it there"
            )
        return columns


def _with_codes(linked: LinkedPlan, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows of paths in the order of their ranks, with the relation's code instead of its name in Neo4j."""
    first_hop = 1 + len(linked.plan.variables)
    for _, *row in sorted(rows, key=lambda row: row[0]):
        hops = row[first_hop:]
        yield [*row[:first_hop], *(relation_code(cell) if i % 2 == 0 else cell for i, cell in enumerate(hops))]
