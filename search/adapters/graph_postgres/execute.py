"""Runs compiled plans in Postgres within the limits of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from search.adapters.graph_matching.estimate import MOST_ROWS
from search.adapters.graph_matching.paths import Matches, among_keys, from_either_end, read_paths
from search.adapters.graph_postgres.compile import Compiler, Query, Tables
from search.adapters.graph_postgres.compile_paths import compile_paths
from search.adapters.postgres_reading import read
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan, Traversal
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.interfaces import Adjacency, NodeStore

SETTINGS = {
    "jit": "off",
    "enable_seqscan": "off",
    "random_page_cost": "1.1",
    "max_parallel_workers_per_gather": "0",
}
"""Settings against large scans: a plan starts from a few nodes, but Postgres' planner does not know degrees."""


class PostgresGraph:
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
        self._tables = Tables(snapshot_id, most_rows)
        self._schema = schema
        self._nodes = nodes
        self._adjacency = adjacency

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return the candidates of a linked plan; see the protocol."""
        if not linked.is_bound:
            return Traversal(linked.index, self.backend, ())
        query = Compiler(linked, self._schema, self._tables, self._adjacency).candidates(rows)
        [(keys, scores, cut)] = self._fetch("traverse", query, limit)
        found = tuple(map(Candidate._make, zip(keys or (), scores or (), strict=True)))
        return Traversal(linked.index, self.backend, found[:rows], cut or len(found) > rows, query.text)

    def paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1) -> Matches:
        """Return the best matches of the keys; see the protocol."""
        if not linked.is_bound or not keys or most < 1:
            return {}

        def ask(keys: Sequence[int], from_target: bool) -> tuple[Matches, bool]:
            query = compile_paths(
                linked, self._schema, self._tables, keys, most, self._adjacency, from_target=from_target
            )
            rows = self._fetch("explain", query, limit)
            whole = [row for _, *row in rows if None not in row]
            return read_paths(linked.plan, whole, self._schema, self._nodes, most), bool(rows[0][0])

        return from_either_end(ask, keys)

    def matching(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match; see the protocol."""
        anchored = bool(linked.plan.anchors)
        if not keys or (anchored and not linked.is_bound):
            return set()

        def ask(keys: Sequence[int], from_target: bool) -> tuple[Sequence[int], bool]:
            compiler = Compiler(linked, self._schema, self._tables, self._adjacency)
            query = compiler.matching(keys, from_target=from_target)
            if compiler.burden and not from_target:
                query = Compiler(linked, self._schema, self._tables, self._adjacency).matching(keys, from_target=True)
            [(found, cut)] = self._fetch("check", query, limit)
            return found or (), cut

        return among_keys(ask, keys, anchored=anchored)

    def _fetch(self, stage: str, query: Query, limit: Limit) -> list[tuple[Any, ...]]:
        return read(stage, query.text, query.parameters, limit, SETTINGS, keep=query.keep)
