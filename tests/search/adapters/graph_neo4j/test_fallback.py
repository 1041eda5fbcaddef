"""Neo4j that is away costs a search next to nothing, and is asked again by itself."""

from __future__ import annotations

import logging
import time

import pytest
from pytest_django.fixtures import Settings

from grasp_site.embedded.neo4j.server import free_port
from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import Neo4jAway, connect
from search.adapters.graph_neo4j.fallback import Neo4jOrPostgres
from search.domain.graph import Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Anchor, Hop, Plan
from search.domain.trace import Limit
from search.stages.traverse import Traverse
from tests.graphs import Nodes, schema_of, store
from tests.oracle import Graph

SNAPSHOT = 8
SECRET = "a-password-that-nobody-may-see"
GRAPH = Graph((Node(0, "a", "person", "Ada"), Node(1, "b", "film", "Amber")), ((0, "acted", 1),))
LINKED = LinkedPlan(
    Plan((Anchor("a", "Ada"),), (Hop("a", "acted", "T"),)), (Binding("a", GRAPH.nodes[0], 0.5),), index=0
)


@pytest.fixture
def graph(db: None, settings: Settings) -> Neo4jOrPostgres:
    """A store whose Neo4j is not there."""
    settings.NEO4J_URL = f"neo4j://neo4j:{SECRET}@127.0.0.1:{free_port()}/neo4j"
    schema = schema_of(GRAPH)
    store(GRAPH, schema, SNAPSHOT)
    return Neo4jOrPostgres(SNAPSHOT, schema, Nodes(GRAPH, schema))


def test_postgres_executes_while_neo4j_is_away_and_the_step_says_so(
    graph: Neo4jOrPostgres, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    found = Traverse(graph)([LINKED, LINKED], Limit.seconds(20))
    assert [(t.backend, [c.key for c in t.candidates]) for t in found] == [("postgres", [1])] * 2
    assert found.status == "degraded"
    assert found.detail.startswith("Postgres executed 2 of 2 plans instead: Neo4j does not answer: ")
    assert list(graph.paths(LINKED, [1], Limit.seconds(20))) == [1]
    assert SECRET not in found.detail + caplog.text


def test_a_server_known_to_be_away_costs_nothing(graph: Neo4jOrPostgres) -> None:
    graph.execute(LINKED, Limit.seconds(20))
    began = time.perf_counter()
    assert graph.execute(LINKED, Limit.seconds(20)).note.startswith("Neo4j does not answer")
    assert time.perf_counter() - began < 0.5


def test_an_error_of_the_connection_carries_no_password(settings: Settings) -> None:
    connection = connect(Address.parse(f"neo4j://neo4j:{SECRET}@127.0.0.1:{free_port()}"))
    with pytest.raises(Neo4jAway) as caught:
        connection.read("traverse", "RETURN 1", {}, Limit.seconds(10))
    assert SECRET not in f"{caught.value} {caught.value.__cause__!r} {connection.address!r}"


@pytest.mark.django_db
def test_an_address_that_cannot_be_read_leaves_the_plans_to_postgres(settings: Settings) -> None:
    settings.NEO4J_URL = f"neo4j://neo4j:{SECRET}@host:port"
    schema = schema_of(GRAPH)
    store(GRAPH, schema, SNAPSHOT)
    found = Neo4jOrPostgres(SNAPSHOT, schema, Nodes(GRAPH, schema)).execute(LINKED, Limit.seconds(20))
    assert [candidate.key for candidate in found.candidates] == [1]
    assert "cannot be read" in found.note
    assert SECRET not in found.note
