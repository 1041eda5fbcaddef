"""Cells of vectors: nearby vectors in one cell, so that a node is compared with a few cells and not with all nodes.

An inverted file (Sivic and Zisserman, 2003) whose cells are found by spherical k-means. The number of comparisons of n
nodes is about `PROBED` · n^1.5 and not n². Everything is determined by the vectors: nothing is drawn by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Vectors

PROBED = 24
"""Cells whose nodes a cell's nodes are compared with."""
LEARNED_PER_CELL = 40
"""Vectors for each cell from which the cells are found."""
ROUNDS = 8
"""Rounds of k-means; the cells change little afterwards."""
ROWS_AT_ONCE = 8_192

Unit = Callable[[NDArray[np.int64]], Vectors]
"""A function: places of vectors → the vectors, of unit length."""


@dataclass(frozen=True)
class Cells:
    """The centre of each cell, shape (cells, dimensions), of unit length."""

    centres: Vectors

    @classmethod
    def of(cls, unit: Unit, places: NDArray[np.int64], check: Callable[[], None]) -> Cells:
        """Return √n cells of n vectors; `check` is called between rounds and may raise to end the work."""
        count = max(1, int(np.sqrt(len(places))))
        learned = places[np.linspace(0, len(places) - 1, min(len(places), count * LEARNED_PER_CELL)).astype(np.int64)]
        rows = unit(learned)
        centres = rows[np.linspace(0, len(rows) - 1, count).astype(np.int64)]
        for _ in range(ROUNDS):
            check()
            own = _nearest(rows, centres)
            sums = np.zeros_like(centres)
            np.add.at(sums, own, rows)
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            # A cell that no vector is nearest to keeps its centre.
            centres = np.where(lengths > 0, sums / np.maximum(lengths, np.finfo(np.float32).tiny), centres)
        return cls(centres.astype(np.float32))

    def cell_of(self, unit: Unit, places: NDArray[np.int64], check: Callable[[], None]) -> NDArray[np.int64]:
        """Return the cell of each vector: that of the nearest centre."""
        found = np.empty(len(places), dtype=np.int64)
        for first in range(0, len(places), ROWS_AT_ONCE):
            check()
            found[first : first + ROWS_AT_ONCE] = _nearest(unit(places[first : first + ROWS_AT_ONCE]), self.centres)
        return found

    def probed(self, cell: int) -> NDArray[np.int64]:
        """Return the cells whose centres are nearest to a cell's centre, itself included, sorted."""
        near = self.centres @ self.centres[cell]
        return np.sort(np.argsort(-near, kind="stable")[:PROBED])


def _nearest(rows: Vectors, centres: Vectors) -> NDArray[np.int64]:
    nearest: NDArray[np.int64] = np.argmax(rows @ centres.T, axis=1)
    return nearest
