"""Executes plans in Postgres, on the partition of edges of a snapshot."""

from search.adapters.graph_postgres.execute import PostgresGraph

__all__ = ["PostgresGraph"]
