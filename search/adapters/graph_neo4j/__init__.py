"""Executes plans in Neo4j, on the copy of a snapshot's graph that `sync_graph` makes."""
