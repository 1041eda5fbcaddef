"""One real Neo4j server for all tests that need one, and graphs in it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from grasp_site.embedded.children import Program
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.neo4j.server import EmbeddedNeo4j, MemorySize, free_port
from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import Connection, connect
from search.adapters.graph_neo4j.names import MARKER, Names
from search.adapters.graph_neo4j.project import Projection, markers
from search.domain.graph import Schema
from search.domain.trace import Limit
from tests.guarded import guarded
from tests.oracle import Graph

# Only the quick compiler: for a server that runs a minute, thorough compilation costs more than it saves.
SMALL = MemorySize("400m", "64m", ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"))
STOP_SECONDS = 30.0


class Neo4jServer:
    """A server that can be stopped, killed and started again on the same port and data."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._server = EmbeddedNeo4j(home, free_port(), SMALL, notice=lambda text: None)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Value of NEO4J_URL for this server."""
        return self._server.url

    @property
    def address(self) -> Address:
        return Address.parse(self.url)

    def start(self) -> None:
        """Start the server and wait until it answers. Raises EmbeddedError if this machine cannot run it."""
        program: Program = self._server.prepare()
        self._home.make_folder(self._home.logs.name)
        with self._home.log("neo4j").open("ab") as log:
            self._process = guarded(program.command, signal.SIGTERM, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        while not self._server.has_started(self._process):
            time.sleep(0.1)
        self._server.set_password()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the server."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill the server, as a power failure would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Stop the server by SIGTERM, and kill it if it does not end in time."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def running(home: Home) -> Iterator[Neo4jServer]:
    """Run a server; without Java or Maven skip the test with a sentence, or fail if a server is required."""
    server = Neo4jServer(home)
    try:
        with required("Neo4j"):
            server.start()
        try:
            yield server
        finally:
            connect(server.address).close()
    finally:
        server.stop()


@contextmanager
def required(server: str) -> Iterator[None]:
    """Skip the test, or fail if servers are required, where a server cannot be started inside."""
    try:
        yield
    except EmbeddedError as error:
        if os.environ.get("GRASP_REQUIRE_SERVERS") == "1":
            pytest.fail(f"{server} is required (GRASP_REQUIRE_SERVERS) but cannot be started: {error}")
        pytest.skip(f"needs {server}, which cannot be started: {error}")


def project(connection: Connection, graph: Graph, schema: Schema, snapshot_id: int) -> None:
    """Write a graph as the projection of a snapshot in one statement, replacing what was there.

    `sync_graph` uses many statements; its own tests check that it writes the same.
    """
    names = Names(snapshot_id, schema)
    # Other tests remove every projection of the server.
    if all(marker.snapshot != snapshot_id for marker in markers(connection)):
        Projection(connection, names).begin("tests")
    connection.write(
        f"MATCH (marker:{MARKER} {{snapshot: $snapshot}}) "
        "SET marker.state = 'whole', marker.fingerprint = $fingerprint "
        f"WITH marker CALL () {{ MATCH (old:{names.nodes}) DETACH DELETE old }} "
        f"CALL () {{ UNWIND $nodes AS row CREATE (n:{names.nodes}) SET n = row[1], n:$(row[0]) }} "
        f"UNWIND $edges AS row MATCH (a:{names.nodes} {{key: row[0]}}) MATCH (b:{names.nodes} {{key: row[2]}}) "
        "CREATE (a)-[r:$(row[1])]->(b) SET r = row[3]",
        {
            "snapshot": snapshot_id,
            "fingerprint": names.fingerprint,
            "nodes": [[names.type(schema.type_codes[n.type]), names.properties(n)] for n in graph.nodes],
            "edges": [
                [s, names.relation(schema.relation_codes[r]), t, names.values(graph.properties.get((s, r, t), {}))]
                for s, r, t in graph.edges
            ],
        },
        Limit.seconds(60),
    )
