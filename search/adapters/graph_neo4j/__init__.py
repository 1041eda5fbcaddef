"""Executes plans in Neo4j, on the projection of a snapshot that `sync_graph` makes."""
