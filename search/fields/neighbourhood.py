"""BM25 over a node together with its neighbours, computed for the question from the index of single documents.

A question may join words of a document and of its neighbours, so that no single document matches all of them. The
neighbourhood of a node takes for each word the best score among the node and its neighbours. It needs no second index,
and it counts a word once, however many neighbours hold it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS
from search.interfaces import Adjacency, TextIndex

Scores = NDArray[np.float32]


def neighbourhood_scores(
    question: str, text: TextIndex, adjacency: Adjacency, check: Callable[[], None] = lambda: None
) -> tuple[Scores, Scores]:
    """Return two scores of every node, both of shape (nodes,): of its neighbourhood, and its neighbours' best of these.

    The second is high for all members of one group, such as the rows and the links of a table. It takes one pass over
    the edges for each word, so it is meant for graphs that are scanned in memory. `check` is called before each pass.
    """
    whole = np.zeros(adjacency.size, dtype=np.float32)
    for keys, scores in text.postings(question):
        check()
        own = np.zeros(adjacency.size, dtype=np.float32)
        own[keys] = scores
        whole += np.maximum(own, best_of_neighbours(own, adjacency))
    return whole, best_of_neighbours(whole, adjacency)


def best_of_neighbours(values: Scores, adjacency: Adjacency) -> Scores:
    """Return the highest value among each node's neighbours; 0 for a node without neighbours. Values are 0 or more."""
    best = np.zeros(len(values), dtype=np.float32)
    for direction in DIRECTIONS:
        starts, far = adjacency.whole(direction)
        rows = np.flatnonzero(np.diff(starts))
        if len(rows):
            best[rows] = np.maximum(best[rows], np.maximum.reduceat(values[far], starts[rows]))
    return best
