"""Runs plans on the memory-mapped graph, and in Postgres what it does not hold or what is too large for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from search.adapters.graph_matching.estimate import MOST_ROWS
from search.adapters.graph_matching.paths import Matches, read_paths
from search.adapters.graph_matching.whole import WholePlans
from search.adapters.graph_memmap.count import counts
from search.adapters.graph_memmap.walk import TooMany, Walk
from search.adapters.graph_postgres import PostgresGraph
from search.domain.graph import ANY, Schema
from search.domain.linking import LinkedPlan, Traversal
from search.domain.ordering import Value
from search.domain.plan import Order
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.interfaces import Adjacency, GraphStore, NodeStore

F = TypeVar("F")


class MemmapGraph(WholePlans):
    """The graph of one snapshot in memory-mapped files (interfaces.GraphStore), for most plans.

    `beyond` executes the other matches: plans with filters, because the files hold no fields; plans with a hop over any
    relation; and plans with more than `most_rows` partial matches in one step. What this class itself returns is never
    cut.
    """

    backend = "memory"

    def __init__(
        self, schema: Schema, nodes: NodeStore, adjacency: Adjacency, beyond: GraphStore, most_rows: int = MOST_ROWS
    ) -> None:
        self._schema = schema
        self._nodes = nodes
        self._adjacency = adjacency
        self._beyond = beyond
        self._most_rows = most_rows

    def execute_match(self, linked: LinkedPlan, limit: Limit, rows: int) -> Traversal:
        """Return the candidates of an executable plan without exclusions and order."""

        def walked(walk: Walk, from_target: bool) -> Traversal:
            keys, scores = walk.candidates()
            found = tuple(map(Candidate._make, zip(keys[:rows].tolist(), scores[:rows].tolist(), strict=True)))
            return Traversal(linked.index, self.backend, found, len(keys) > rows, "\n".join(walk.told))

        found = self._walked("traverse", linked, limit, walked, ends=(False,))
        return self._beyond.execute(linked, limit, rows) if found is None else found

    def match_paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int) -> Matches:
        """Return the best matches of the keys for a bound plan without exclusions and order."""

        def walked(walk: Walk, from_target: bool) -> Matches:
            rows = walk.paths(keys, most, from_target=from_target)
            return read_paths(linked.plan, rows, self._schema, self._nodes, most)

        found = self._walked("explain", linked, limit, walked)
        return self._beyond.paths(linked, keys, limit, most) if found is None else found

    def match_keys(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match of a plan without exclusions and order."""

        def walked(walk: Walk, from_target: bool) -> set[int]:
            return walk.matching(keys, from_target=from_target)

        ends = (False, True) if linked.plan.anchors else (True,)
        found = self._walked("check", linked, limit, walked, ends)
        return self._beyond.matching(linked, keys, limit) if found is None else found

    def order_values(
        self, order: Order, keys: Sequence[int], limit: Limit, among: Collection[int] | None = None
    ) -> dict[int, Value | None]:
        """Return the value of each key that an order compares; fields are read from the engine beyond."""
        if isinstance(order.by, str):
            return self._beyond.order_values(order, keys, limit)
        limit.check("traverse")
        return counts(self._adjacency, self._schema, order.by, keys, among)

    def _walked(
        self,
        stage: str,
        linked: LinkedPlan,
        limit: Limit,
        walked: Callable[[Walk, bool], F],
        ends: Sequence[bool] = (False, True),
    ) -> F | None:
        """Return the result of the first walk that is not too large, or None if this class does not execute the plan.

        `ends` says for each walk whether it begins at the requested candidates instead of the anchors.
        """
        if linked.plan.filters or any(hop.rel == ANY for hop in linked.plan.hops):
            return None
        for from_target in ends:
            limit.check(stage)
            try:
                return walked(Walk(linked, self._schema, self._adjacency, self._most_rows), from_target)
            except TooMany:
                continue
        return None


class MemmapOrPostgres(MemmapGraph):
    """The memory-mapped graph, and Postgres for what it does not execute."""

    def __init__(self, snapshot_id: int, schema: Schema, nodes: NodeStore, adjacency: Adjacency) -> None:
        super().__init__(schema, nodes, adjacency, PostgresGraph(snapshot_id, schema, nodes, adjacency))
