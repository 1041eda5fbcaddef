"""One real Neo4j for all tests that ask for one, and graphs put into it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby

import numpy as np
import pytest

from grasp_site.embedded.children import Program
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.neo4j.server import EmbeddedNeo4j, Size, free_port
from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import Connection, connect
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.project import Projection
from search.domain.graph import Schema
from tests.oracle import Graph

SMALL = Size(heap="400m", pages="64m")
STOP_SECONDS = 30.0


class Neo4jServer:
    """A server that can be stopped, killed and started again on the same port and data."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._server = EmbeddedNeo4j(home, free_port(), SMALL, notice=lambda text: None)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The value for NEO4J_URL."""
        return self._server.url

    @property
    def address(self) -> Address:
        return Address.parse(self.url)

    def start(self) -> None:
        """Start and wait until it answers. Raises EmbeddedError where this machine cannot run it."""
        program: Program = self._server.prepare()
        self._home.make_folder(self._home.logs.name)
        with self._home.log("neo4j").open("ab") as log:
            self._process = subprocess.Popen(program.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        process = self._process
        self._server.await_ready(gone=lambda: process.poll() is not None)

    def send(self, number: signal.Signals) -> None:
        """Send the server a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it politely."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def running(home: Home) -> Iterator[Neo4jServer]:
    """Run a server; where this machine has no Java or Maven, skip with a sentence, or fail if one is demanded."""
    server = Neo4jServer(home)
    try:
        server.start()
    except EmbeddedError as error:
        server.stop()
        if os.environ.get("GRASP_REQUIRE_NEO4J") == "1":
            pytest.fail(f"Neo4j is demanded (GRASP_REQUIRE_NEO4J) and cannot be started: {error}")
        pytest.skip(f"needs a Neo4j server, which cannot be started: {error}")
    try:
        yield server
    finally:
        connect(server.address).close()
        server.stop()


def project(connection: Connection, graph: Graph, schema: Schema, snapshot_id: int) -> None:
    """Write a graph as the projection of a snapshot, in place of what was there."""
    names = Names(snapshot_id, schema)
    projection = Projection(connection, names)
    connection.write(f"MATCH (n:{names.nodes}) DETACH DELETE n")
    connection.write("MATCH (m:GraspProjection {snapshot: $snapshot}) DELETE m", {"snapshot": snapshot_id})
    projection.begin("tests")
    projection.write_nodes(graph.nodes, len(graph.nodes))
    coded = sorted((schema.relation_codes[relation], source, target) for source, relation, target in graph.edges)
    for relation, edges in groupby(coded, key=lambda edge: edge[0]):
        pairs = np.array([edge[1:] for edge in edges], dtype=np.int32)
        projection.write_edges(relation, pairs[:, 0], pairs[:, 1], len(coded))
    projection.finish()
