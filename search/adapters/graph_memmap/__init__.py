"""Executes plans on the memory-mapped graph of a release, without a request to a database."""

from search.adapters.graph_memmap.execute import MemmapGraph, MemmapOrPostgres

__all__ = ["MemmapGraph", "MemmapOrPostgres"]
