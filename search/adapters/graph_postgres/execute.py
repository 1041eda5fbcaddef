"""Runs compiled plans in Postgres within the limits of a search."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from search.adapters.graph_matching.estimate import MOST_ROWS
from search.adapters.graph_matching.found import FoundCandidates, Longs, RankedValues
from search.adapters.graph_matching.paths import Matches, among_keys, from_either_end, read_paths
from search.adapters.graph_matching.whole import WholePlans
from search.adapters.graph_postgres.compile import GraphTables, SqlCompiler, SqlQuery
from search.adapters.graph_postgres.compile_paths import compile_paths
from search.adapters.graph_postgres.order import compile_edges, compile_joined, compile_order
from search.adapters.postgres_reading import read
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan
from search.domain.ordering import Value, order_value
from search.domain.plan import Count, Hop, Order, Plan
from search.domain.trace import Limit
from search.interfaces import Adjacency, NodeStore

SETTINGS = {
    "jit": "off",
    "enable_seqscan": "off",
    "random_page_cost": "1.1",
    "max_parallel_workers_per_gather": "0",
}
"""Settings against large scans: a plan starts from a few nodes, but Postgres' planner does not know degrees."""


class PostgresGraph(WholePlans):
    """The graph of one snapshot in its partitions of Postgres (interfaces.GraphStore).

    No step of a plan passes on more than `most_rows` partial matches.
    """

    backend = "postgres"

    def __init__(
        self,
        snapshot_id: int,
        schema: Schema,
        nodes: NodeStore,
        adjacency: Adjacency | None = None,
        most_rows: int = MOST_ROWS,
    ) -> None:
        self._tables = GraphTables(snapshot_id, most_rows)
        self._schema = schema
        self._nodes = nodes
        self._adjacency = adjacency

    def execute_match(self, linked: LinkedPlan, limit: Limit, rows: int) -> FoundCandidates:
        """Return the candidates of an executable plan without exclusions and order."""
        query = SqlCompiler(linked, self._schema, self._tables, self._adjacency).candidates(rows)
        [(keys, scores, cut)] = self._fetch("traverse", query, limit)
        found = FoundCandidates(self.backend, np.array(keys or (), np.int64), np.array(scores or (), np.float64))
        return replace(found.take(np.arange(min(len(found.keys), rows))), truncated=cut or len(found.keys) > rows,
                       query=query.text)  # fmt: skip

    def match_paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int) -> Matches:
        """Return the best matches of the keys for a bound plan without exclusions and order."""

        def ask(keys: Sequence[int], from_target: bool) -> tuple[Matches, bool]:
            query = compile_paths(
                linked, self._schema, self._tables, keys, most, self._adjacency, from_target=from_target
            )
            rows = self._fetch("explain", query, limit)
            whole = [row for _, *row in rows if None not in row]
            return read_paths(linked.plan, whole, self._schema, self._nodes, most), bool(rows[0][0])

        return from_either_end(ask, keys)

    def match_keys(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match of a plan without exclusions and order."""

        def ask(keys: Sequence[int], from_target: bool) -> tuple[Sequence[int], bool]:
            compiler = SqlCompiler(linked, self._schema, self._tables, self._adjacency)
            query = compiler.matching(keys, from_target=from_target)
            if compiler.burden and not from_target:
                query = SqlCompiler(linked, self._schema, self._tables, self._adjacency).matching(
                    keys, from_target=True
                )
            [(found, cut)] = self._fetch("check", query, limit)
            return found or (), cut

        return among_keys(ask, keys, anchored=bool(linked.plan.anchors))

    def read_order(self, order: Order, keys: Longs, limit: Limit, among: Longs | None) -> RankedValues:
        """Return the value of each key in a field, or the number of different nodes that it is joined with."""
        asked = keys.tolist()
        query = compile_order(order, self._schema, self._tables, asked, None if among is None else among.tolist())
        rows = dict(self._fetch("traverse", query, limit))
        if isinstance(order.by, str):
            return RankedValues.of([order_value(rows.get(key), order.direction) for key in asked])
        return RankedValues.of([rows.get(key, 0) for key in asked])

    def joined(self, count: Count, keys: Longs, limit: Limit, among: Longs | None) -> tuple[Longs, Longs]:
        """Return (keys, nodes): each different node that a count counts of a key."""
        counted = None if among is None else among.tolist()
        query = compile_joined(count, self._schema, self._tables, keys.tolist(), counted)
        pairs = np.array(self._fetch("traverse", query, limit), dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def read_edges(
        self, hop: Hop, plan: Plan, field: str, keys: Sequence[int], among: Collection[int], limit: Limit
    ) -> list[tuple[int, Value]]:
        """Return (key, value) for each value of a field of the edges of a hop between T and the nodes `among`."""
        if not among:
            return []
        rows = self._fetch("traverse", compile_edges(hop, plan, self._schema, self._tables, field, keys, among), limit)
        return [(key, one) for key, value in rows for one in (value if isinstance(value, list) else [value])]

    def _fetch(self, stage: str, query: SqlQuery, limit: Limit) -> list[tuple[Any, ...]]:
        return read(stage, query.text, query.parameters, limit, SETTINGS, keep=query.keep)
