"""Streams all nodes and relationships of a Neo4j database, read only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.names import MARKER

CONNECT_SECONDS = 5.0
FETCHED = 1_000
"""Records that the server sends at a time."""
_SNAPSHOTS: LiteralString = "MATCH (m:GraspProjection) RETURN m.snapshot"
_KEPT: LiteralString = "none(label IN labels({0}) WHERE label IN $ignored)"
_ID: LiteralString = "toString(coalesce({0}[$id], elementId({0})))"
_N, _A, _B = (_KEPT.format(name) for name in "nab")
COUNT_NODES: LiteralString = f"MATCH (n) WHERE {_N} RETURN count(n)"
COUNT_EDGES: LiteralString = f"MATCH (a)-[r]->(b) WHERE {_A} AND {_B} RETURN count(r)"
NODES: LiteralString = f"MATCH (n) WHERE {_N} RETURN {_ID.format('n')}, labels(n), properties(n)"
EDGES: LiteralString = (
    f"MATCH (a)-[r]->(b) WHERE {_A} AND {_B} RETURN {_ID.format('a')}, type(r), {_ID.format('b')}, properties(r)"
)


class ReadFailed(Exception):
    """The database cannot be read; the text is a sentence without credentials."""


class DatabaseReader:
    """Reads a whole database without changing it.

    `id_property` is the property whose value is a node's id; a node without it is known by the database's own id.
    Nodes with one of the labels in `ignored` are left out, and so are the copies that `sync_graph` has written.
    """

    def __init__(self, address: Address, id_property: str = "", ignored: tuple[str, ...] = ()) -> None:
        self._address = address
        self._parameters: dict[str, Any] = {"id": id_property, "ignored": list(ignored)}

    def counts(self) -> tuple[int, int]:
        """Return the numbers of nodes and relationships. Raises ReadFailed, as the other methods do."""
        with self._session() as session:
            nodes = session.run(COUNT_NODES, self._parameters).single(strict=True)[0]
            edges = session.run(COUNT_EDGES, self._parameters).single(strict=True)[0]
        return int(nodes), int(edges)

    def nodes(self) -> Iterator[tuple[str, list[str], Mapping[str, Any]]]:
        """Yield id, labels and properties of each node."""
        with self._session() as session:
            for record in session.run(NODES, self._parameters):
                yield record[0], record[1], record[2]

    def edges(self) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
        """Yield source, type, target and properties of each relationship."""
        with self._session() as session:
            for record in session.run(EDGES, self._parameters):
                yield record[0], record[1], record[2], record[3]

    @contextmanager
    def _session(self) -> Iterator[neo4j.Session]:
        address = self._address
        try:
            with (
                neo4j.GraphDatabase.driver(
                    address.uri,
                    auth=(address.user, address.password),
                    connection_timeout=CONNECT_SECONDS,
                    notifications_min_severity="OFF",
                    telemetry_disabled=True,
                ) as driver,
                driver.session(
                    database=address.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=FETCHED
                ) as session,
            ):
                if MARKER not in self._parameters["ignored"]:
                    own = [f"S{record[0]:d}" for record in session.run(_SNAPSHOTS)]
                    self._parameters["ignored"] += [MARKER, *own]
                yield session
        except AuthError:
            raise ReadFailed(f"Neo4j at {address.uri} refuses the user or the password.") from None
        except (Neo4jError, DriverError, OSError) as error:
            text = (getattr(error, "message", "") or str(error)).strip().splitlines() or [type(error).__name__]
            raise ReadFailed(f"Neo4j at {address.uri} cannot be read: {text[0].rstrip('.')}.") from None
