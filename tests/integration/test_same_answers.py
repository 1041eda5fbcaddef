"""Whoever executes a plan finds the same: trying everything, Postgres, and a real Neo4j."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings

from search.adapters.graph_neo4j.connection import connect
from search.adapters.graph_neo4j.execute import Neo4jGraph
from search.adapters.graph_postgres import PostgresGraph
from search.domain.evidence import Path
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan
from search.domain.trace import Limit
from search.interfaces import GraphStore
from tests import oracle
from tests.graphs import Nodes, schema_of, store
from tests.neo4j_server import Neo4jServer, project
from tests.oracle import Graph
from tests.search.adapters.test_graph_postgres import RELATIONS, TYPES, cases

SNAPSHOT = 3
EXAMPLES = 120

pytestmark = pytest.mark.django_db


class Engines:
    """Both engines over one graph at a time."""

    def __init__(self, server: Neo4jServer) -> None:
        self._connection = connect(server.address)

    def over(self, graph: Graph, schema: Schema) -> list[GraphStore]:
        """Put a graph into both, in place of what they held."""
        store(graph, schema, SNAPSHOT)
        project(self._connection, graph, schema, SNAPSHOT)
        nodes = Nodes(graph, schema)
        return [PostgresGraph(SNAPSHOT, schema, nodes), Neo4jGraph(self._connection, SNAPSHOT, schema, nodes)]


@pytest.fixture(scope="session")
def engines(neo4j_server: Neo4jServer) -> Engines:
    return Engines(neo4j_server)


def differences(graph: Graph, linked: LinkedPlan, engine: GraphStore, most: int) -> list[str]:
    """Return in what an engine differs from trying everything: candidates, scores, their order, and paths."""
    expected = oracle.candidates(graph, linked)
    found = engine.execute(linked, Limit())
    scores = {candidate.key: candidate.score for candidate in found.candidates}
    wrong = []
    if scores != pytest.approx(expected, abs=1e-6) or len(scores) != len(found.candidates):
        wrong.append(f"{engine.backend}: candidates {scores} instead of {expected}\n{found.query}")
    if list(found.candidates) != sorted(found.candidates, key=lambda c: (-c.score, c.key)):
        wrong.append(f"{engine.backend}: the candidates are not in order")
    paths = engine.paths(linked, range(len(graph.nodes)), Limit(), most)
    if set(paths) != set(expected):
        wrong.append(f"{engine.backend}: paths of {set(paths)} instead of {set(expected)}")
    for key, several in paths.items():
        if not 1 <= len(several) <= most or not all(oracle.is_valid(graph, linked, match, key) for match in several):
            wrong.append(f"{engine.backend}: no paths of {key}: {several}")
        elif key in expected and score_of(linked, several[0]) != pytest.approx(expected[key], abs=1e-6):
            wrong.append(f"{engine.backend}: the first paths of {key} are not the best: {several[0]}")
    return wrong


def score_of(linked: LinkedPlan, match: Sequence[Path]) -> float:
    """Return the sum of the best cosines of the nodes that the paths of a match start from."""
    starts = [(path.nodes[0].var, path.nodes[0].node.key) for path in match]
    return sum(max(b.score for b in linked.bindings if (b.var, b.node.key) == start) for start in starts)


@given(case=cases())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_plans_on_random_graphs(engines: Engines, case: tuple[Graph, LinkedPlan]) -> None:
    graph, linked = case
    for engine in engines.over(graph, schema_of(graph, TYPES, RELATIONS)):
        assert differences(graph, linked, engine, most=2) == []
