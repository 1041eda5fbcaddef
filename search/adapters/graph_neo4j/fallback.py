"""Executes plans in Neo4j, and in Postgres while Neo4j does not answer; the result says so.

What the memory-mapped graph can answer is not asked of either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from django.conf import settings

from search.adapters.breaker import Breaker
from search.adapters.graph_memmap import MemmapGraph
from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import Neo4jAway, Neo4jSilent, connect
from search.adapters.graph_neo4j.execute import Neo4jGraph
from search.adapters.graph_postgres import PostgresGraph
from search.domain.errors import StageError
from search.domain.evidence import Path
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan, Traversal
from search.domain.ordering import Value
from search.domain.plan import EdgeField, Order
from search.domain.trace import Limit
from search.interfaces import Adjacency, Columns, GraphStore, NodeStore

SHARE = 0.6
"""Share of a plan's time limit for Neo4j; the rest is for Postgres, in case Neo4j does not answer."""

T = TypeVar("T")


@lru_cache(maxsize=8)
def breaker(address: Address) -> Breaker:
    """Return the breaker of this process for an address; all releases share it."""
    return Breaker()


class Neo4jOrPostgres:
    """The graph of one snapshot in Neo4j, or in Postgres while Neo4j cannot answer (interfaces.GraphStore).

    The server is the one of `NEO4J_URL`. If Postgres executed a plan instead, the `note` of the traversal says why.
    """

    backend = "neo4j"

    def __init__(
        self,
        snapshot_id: int,
        schema: Schema,
        nodes: NodeStore,
        adjacency: Adjacency | None = None,
    ) -> None:
        self._postgres: GraphStore = PostgresGraph(snapshot_id, schema, nodes, adjacency)
        self._neo4j: GraphStore | None = None
        self._fault = ""
        try:
            address = Address.parse(settings.NEO4J_URL)
        except ValueError as error:
            self._fault = str(error)
            return
        self._breaker = breaker(address)
        self._neo4j = Neo4jGraph(connect(address), snapshot_id, schema, nodes, adjacency)

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return the candidates of a linked plan; see the protocol."""
        found, why = self._ask(lambda engine, share: engine.execute(linked, share, rows), limit)
        return replace(found, note=why)

    def paths(
        self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1
    ) -> dict[int, list[tuple[Path, ...]]]:
        """Return the best matches of the keys; see the protocol."""
        found, _ = self._ask(lambda engine, share: engine.paths(linked, keys, share, most), limit)
        return found

    def matching(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match; see the protocol."""
        found, _ = self._ask(lambda engine, share: engine.matching(linked, keys, share), limit)
        return found

    def order_values(
        self, order: Order, keys: Sequence[int], limit: Limit, among: Collection[int] | None = None
    ) -> dict[int, Value | None]:
        """Return the value of each key that an order compares; see the protocol."""
        found, _ = self._ask(lambda engine, share: engine.order_values(order, keys, share, among), limit)
        return found

    def edge_values(
        self, linked: LinkedPlan, of: EdgeField, keys: Sequence[int], limit: Limit
    ) -> dict[int, list[Value]]:
        """Return for each key the values of the edges that a hop takes from it; see the protocol."""
        found, _ = self._ask(lambda engine, share: engine.edge_values(linked, of, keys, share), limit)
        return found

    def _ask(self, question: Callable[[GraphStore, Limit], T], limit: Limit) -> tuple[T, str]:
        """Return the result, and the reason why Neo4j did not compute it (empty if it did)."""
        why = self._fault or self._breaker.reason()
        if self._neo4j is not None and not why:
            try:
                found = question(self._neo4j, limit.share(SHARE))
            except (Neo4jAway, Neo4jSilent) as error:
                self._breaker.failed(error.reason)
                why = error.reason
            except StageError as error:
                self._breaker.answered()
                why = error.reason
            else:
                self._breaker.answered()
                return found, ""
        return question(self._postgres, limit), why


class MemmapOrNeo4j(MemmapGraph):
    """The memory-mapped graph, and Neo4j for what it does not execute."""

    def __init__(
        self, snapshot_id: int, schema: Schema, nodes: NodeStore, adjacency: Adjacency, columns: Columns
    ) -> None:
        super().__init__(schema, nodes, adjacency, columns, Neo4jOrPostgres(snapshot_id, schema, nodes, adjacency))
