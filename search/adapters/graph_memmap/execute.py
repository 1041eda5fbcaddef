"""Runs plans on the memory-mapped graph, and in Postgres what it does not hold or what is too large for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from search.adapters.graph_matching.found import FoundCandidates, Longs, RankedValues
from search.adapters.graph_matching.order import allowed_types, directions
from search.adapters.graph_matching.paths import Matches, read_paths
from search.adapters.graph_matching.whole import WholePlans
from search.adapters.graph_memmap.count import counts, joined
from search.adapters.graph_memmap.fields import MappedFields
from search.adapters.graph_memmap.walk import PlanWalk, TooMany, edges_meeting
from search.adapters.graph_postgres import PostgresGraph
from search.domain.graph import ANY, OPPOSITE, Schema
from search.domain.linking import LinkedPlan
from search.domain.ordering import Value
from search.domain.plan import Count, EdgeField, Filter, Hop, Order, Plan
from search.domain.trace import Limit
from search.interfaces import Adjacency, Columns, GraphStore, NodeStore

F = TypeVar("F")
MOST_ROWS = 4_000_000
"""Most partial matches of one step; arrays of as many take some 100 MB."""


class MemmapGraph(WholePlans):
    """The graph of one snapshot in memory-mapped files (interfaces.GraphStore), for most plans.

    `beyond` executes the other matches: plans with conditions on fields of nodes or edges whose values are not whole in
    the files, such as long texts; plans that compare the fields of two nodes; and plans with more than `most_rows`
    partial matches in one step. What this class itself returns is never cut.
    """

    backend = "memory"

    def __init__(
        self,
        schema: Schema,
        nodes: NodeStore,
        adjacency: Adjacency,
        columns: Columns,
        beyond: GraphStore,
        most_rows: int = MOST_ROWS,
    ) -> None:
        self._schema = schema
        self._nodes = nodes
        self._adjacency = adjacency
        self._fields = MappedFields(schema, adjacency, columns)
        self._beyond = beyond
        self._most_rows = most_rows

    def execute_match(self, linked: LinkedPlan, limit: Limit, rows: int) -> FoundCandidates:
        """Return the candidates of an executable plan without exclusions and order."""

        def walked(walk: PlanWalk, from_target: bool) -> FoundCandidates:
            keys, scores = walk.candidates()
            return FoundCandidates(self.backend, keys.astype(np.int64), scores, query="\n".join(walk.told))

        found = self._walked("traverse", linked, limit, walked, ends=(False,))
        return FoundCandidates.of(self._beyond.execute(linked, limit, rows)) if found is None else found

    def match_paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int) -> Matches:
        """Return the best matches of the keys for a bound plan without exclusions and order."""

        def walked(walk: PlanWalk, from_target: bool) -> Matches:
            rows = walk.paths(keys, most, from_target=from_target)
            return read_paths(linked.plan, rows, self._schema, self._nodes, most)

        found = self._walked("explain", linked, limit, walked)
        return self._beyond.paths(linked, keys, limit, most) if found is None else found

    def match_keys(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match of a plan without exclusions and order."""

        def walked(walk: PlanWalk, from_target: bool) -> set[int]:
            return walk.matching(keys, from_target=from_target)

        ends = (False, True) if linked.plan.anchors else (True,)
        found = self._walked("check", linked, limit, walked, ends)
        return self._beyond.matching(linked, keys, limit) if found is None else found

    def read_order(self, order: Order, keys: Longs, limit: Limit, among: Longs | None) -> RankedValues:
        """Return the value of each key in a field, or the number of different nodes that it is joined with."""
        limit.check("traverse")
        if not isinstance(order.by, str):
            assert isinstance(order.by, Count)
            return RankedValues.of_numbers(counts(self._adjacency, self._schema, order.by, keys, among))
        mapped = keys.astype(np.int32)
        if self._fields.hold(order.by, self._fields.types_of(mapped)):
            return self._fields.ranked(mapped, order.by, order.direction)
        return RankedValues.of(list(self._beyond.order_values(order, keys.tolist(), limit).values()))

    def joined(self, count: Count, keys: Longs, limit: Limit, among: Longs | None) -> tuple[Longs, Longs]:
        """Return (keys, nodes): each different node that a count counts of a key."""
        limit.check("traverse")
        return joined(self._adjacency, self._schema, count, keys, among)

    def edge_values(
        self, linked: LinkedPlan, of: EdgeField, keys: Sequence[int], limit: Limit
    ) -> dict[int, list[Value]]:
        """Return for each key the values of the edges that a hop takes from it; see the protocol."""
        hop = linked.plan.edge_of(of.var)
        if hop is not None and not self._holds_values(
            [replace(hop, where=(*hop.where, Filter("", of.field, "exists")))]
        ):
            return self._beyond.edge_values(linked, of, keys, limit)
        return super().edge_values(linked, of, keys, limit)

    def read_edges(
        self, hop: Hop, plan: Plan, field: str, keys: Sequence[int], among: Collection[int], limit: Limit
    ) -> list[tuple[int, Value]]:
        """Return (key, value) for each value of a field of the edges of a hop between T and the nodes `among`."""
        limit.check("traverse")
        relation = self._schema.relation_codes[hop.rel]
        column = self._adjacency.values_of(relation, field)
        assert column is not None
        near = np.asarray(keys, dtype=np.int32)
        far = np.fromiter(among, dtype=np.int32, count=len(among))
        found: list[tuple[int, Value]] = []
        for turn, stored in enumerate(directions(hop, allowed_types(plan, self._schema), self._schema)):
            way = stored if hop.source == plan.target.var else OPPOSITE[stored]
            walked = self._adjacency.walk(near, relation, way, np.iinfo(np.int64).max)
            assert walked is not None
            here, there = near[walked[0]], walked[1]
            kept = np.isin(there, far)
            if turn:
                # An edge from a node to itself counts once.
                kept &= here != there
            here, there = here[kept], there[kept]
            source, target = (here, there) if way == "out" else (there, here)
            met = edges_meeting(self._adjacency, relation, (source, target), hop.where)
            owner, values = column.of(source[met], target[met])
            found += zip(here[met][owner].tolist(), values, strict=True)
        return found

    def _holds_fields(self, plan: Plan) -> bool:
        """Return whether the files have the values of all fields of nodes that a plan has conditions on."""
        types = allowed_types(plan, self._schema)
        return all(one.compared is None and self._fields.hold(one.field, types.get(one.var)) for one in plan.filters)

    def _holds_values(self, hops: Sequence[Hop]) -> bool:
        """Return whether the files have the values of all edges that hops have conditions on."""
        return all(
            hop.rel != ANY and self._adjacency.values_of(self._schema.relation_codes[hop.rel], one.field) is not None
            for hop in hops
            for one in hop.where
        )

    def _walked(
        self,
        stage: str,
        linked: LinkedPlan,
        limit: Limit,
        walked: Callable[[PlanWalk, bool], F],
        ends: Sequence[bool] = (False, True),
    ) -> F | None:
        """Return the result of the first walk that is not too large, or None if this class does not execute the plan.

        `ends` says for each walk whether it begins at the requested candidates instead of the anchors.
        """
        hops = linked.plan.hops
        if not (self._holds_values(hops) and self._holds_fields(linked.plan)):
            return None
        for from_target in ends:
            limit.check(stage)
            try:
                return walked(
                    PlanWalk(linked, self._schema, self._adjacency, self._fields, self._most_rows), from_target
                )
            except TooMany:
                continue
        return None


class MemmapOrPostgres(MemmapGraph):
    """The memory-mapped graph, and Postgres for what it does not execute."""

    def __init__(
        self, snapshot_id: int, schema: Schema, nodes: NodeStore, adjacency: Adjacency, columns: Columns
    ) -> None:
        super().__init__(schema, nodes, adjacency, columns, PostgresGraph(snapshot_id, schema, nodes, adjacency))
