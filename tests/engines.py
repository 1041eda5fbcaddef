"""Postgres and Neo4j over one graph at a time, for the tests that hold them against each other."""

from __future__ import annotations

from search.adapters.graph_neo4j.connection import connect
from search.adapters.graph_neo4j.execute import Neo4jGraph
from search.adapters.graph_postgres import PostgresGraph
from search.domain.graph import Schema
from search.interfaces import GraphStore
from tests.graphs import Nodes, store
from tests.neo4j_server import Neo4jServer, project
from tests.oracle import Graph

SNAPSHOT = 3


class Engines:
    """Postgres and Neo4j over one graph at a time."""

    def __init__(self, server: Neo4jServer) -> None:
        self._connection = connect(server.address)

    def over(self, graph: Graph, schema: Schema) -> list[GraphStore]:
        """Put a graph into both, in place of what they held."""
        store(graph, schema, SNAPSHOT)
        project(self._connection, graph, schema, SNAPSHOT)
        nodes = Nodes(graph, schema)
        return [PostgresGraph(SNAPSHOT, schema, nodes), Neo4jGraph(self._connection, SNAPSHOT, schema, nodes)]
