"""The computed kinds of vectors: means of neighbours' document vectors, at one hop and at two.

A relation's text says which neighbours a node has; the mean of their vectors says what these neighbours are about. So a
question that describes a neighbour finds the node although neither text names the other. Nothing is encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from search.domain.graph import DIRECTIONS
from search.domain.vector_kinds import NEIGHBOURS, NEIGHBOURS2
from search.interfaces import Adjacency

COLUMNS_AT_ONCE = 32
"""Dimensions that are summed at once, which limits memory: 130 MB for a million nodes."""
ROWS_AT_ONCE = 10_000
_LEAST = 1e-6
"""Length of a mean, and number of walks, below which there is no vector."""

Half = NDArray[np.float16]
Blocks = Iterator[tuple[NDArray[np.int32], Half]]


def links(adjacency: Adjacency) -> csr_array:
    """Return the graph without directions, shape (nodes, nodes): 1 where an edge joins two different nodes."""
    count = adjacency.size
    both = csr_array((count, count), dtype=np.float32)
    for direction in DIRECTIONS:
        starts, far = adjacency.whole(direction)
        both = both + csr_array((np.ones(len(far), dtype=np.float32), far, starts), shape=(count, count))
    both.sum_duplicates()
    both.setdiag(0)
    both.eliminate_zeros()
    both.data[:] = 1
    return both


def means(
    documents: Half, joined: csr_array, told: Callable[[float], None] = lambda share: None
) -> dict[str, NDArray[np.float32]]:
    """Return kind → the means of each node, shape (nodes, dimensions), not normalised; 0 where there is none.

    `neighbours` is the mean over the distinct neighbours. `neighbours2` is the mean over those neighbours that have
    further neighbours, of the mean over these; no walk comes back to the node itself, so a leaf of a hub is described
    by the other leaves and not by its own text.

    Args:
        documents: Vectors of the documents, shape (nodes, dimensions).
        joined: The graph of `links`.
        told: Receives the share of the work that is done; raises to end it.
    """
    degrees = np.asarray(joined.sum(axis=1)).ravel()[:, None].astype(np.float32)
    further = np.where(degrees > 1, 1 / np.maximum(degrees - 1, 1), 0).astype(np.float32)
    back, able = joined @ further, joined @ (degrees > 1).astype(np.float32)
    found = {kind: np.empty(documents.shape, dtype=np.float32) for kind in (NEIGHBOURS, NEIGHBOURS2)}
    for first in range(0, documents.shape[1], COLUMNS_AT_ONCE):
        told(first / documents.shape[1])
        columns = slice(first, first + COLUMNS_AT_ONCE)
        own = documents[:, columns].astype(np.float32)
        sums = joined @ own
        found[NEIGHBOURS][:, columns] = sums / np.maximum(degrees, 1)
        # Each neighbour's sum holds the node's own vector once, which is taken out.
        found[NEIGHBOURS2][:, columns] = (joined @ (sums * further) - own * back) / np.maximum(able, 1)
    found[NEIGHBOURS2][able.ravel() < _LEAST] = 0
    return found


def blocks(rows: NDArray[np.float32]) -> Blocks:
    """Yield (keys, rows) of the nodes that have a mean, in the order of keys; rows of unit length."""
    for first in range(0, len(rows), ROWS_AT_ONCE):
        block = rows[first : first + ROWS_AT_ONCE]
        lengths = np.linalg.norm(block, axis=1)
        there = np.flatnonzero(lengths > _LEAST)
        yield (there + first).astype(np.int32), (block[there] / lengths[there, None]).astype(np.float16)
