"""The edges of single nodes, as paths and expansions over the graph name them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from search.domain.evidence import PathEdge
from search.domain.graph import Direction
from search.interfaces import Adjacency, Keys


def ways_in_order(adjacency: Adjacency, key: Keys) -> list[tuple[int, Direction]]:
    """Return the relations over which a node (`key`, shape (1,)) has edges, and their directions.

    Relations are in the order of the schema; the stored direction of each goes before the other.
    """
    return sorted(adjacency.has_edges(key), key=lambda way: (way[0], way[1] != "out"))


def edges_between(adjacency: Adjacency, near: int, far: int) -> Iterator[PathEdge]:
    """Yield the edges that lead from one node to another, in the order of `ways_in_order`."""
    start, end = np.array([near], dtype=np.int32), np.array([far], dtype=np.int32)
    for relation, direction in ways_in_order(adjacency, start):
        if adjacency.joined(start, end, relation, direction)[0]:
            yield PathEdge(adjacency.schema.relations[relation].name, direction)
