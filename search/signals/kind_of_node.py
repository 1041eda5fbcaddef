"""Signals of the node itself, whatever is asked: its type, and how many edges of each relation it has.

What is asked for differs by type, and among nodes of which the question says little, those with many relations are
asked for more often. These signals come from the graph alone; none remembers the answers of questions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS
from search.interfaces import Adjacency, Keys
from search.signals.table import Column

MOST_TYPES, MOST_RELATIONS = 16, 16
"""Most types and relations that have a signal each; a schema may have hundreds."""
MOST_RANKED = 100_000
"""Up to this number of nodes the number of relations is also ranked among the nodes of a type."""


def node_signals(keys: Keys, adjacency: Adjacency) -> dict[str, Column]:
    """Return the signals: 1 for the node's own type, logarithms of numbers of edges, and the place among its type."""
    types = adjacency.types[keys]
    columns: dict[str, Column] = {
        f"is:{kind.name}": (types == code).astype(np.float32)
        for code, kind in enumerate(adjacency.schema.node_types[:MOST_TYPES])
    }
    for code, relation in enumerate(adjacency.schema.relations[:MOST_RELATIONS]):
        for direction in DIRECTIONS:
            counts = adjacency.degrees(keys, code, direction)
            columns[f"edges:{relation.name}:{direction}"] = np.log1p(counts).astype(np.float32)
    if adjacency.size <= MOST_RANKED:
        columns["degree:place"] = _places(adjacency)[keys]
    return columns


def _places(adjacency: Adjacency) -> NDArray[np.float32]:
    """Return the logarithm of each node's place among those of its type by the number of edges; equal ones by key."""
    degrees = sum(
        (np.diff(adjacency.whole(direction)[0]) for direction in DIRECTIONS), np.zeros(adjacency.size, dtype=np.int64)
    )
    order = np.lexsort((-degrees, adjacency.types))
    sorted_types = adjacency.types[order]
    begins = np.concatenate(([True], sorted_types[1:] != sorted_types[:-1])) if len(order) else order.astype(bool)
    first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    places = np.empty(len(order), dtype=np.float32)
    places[order] = np.log(np.arange(len(order)) - first + 1)
    return places
