"""The signals by which nodes are similar (SAGE, section 2.1): vectors of a kind, and values that both nodes have.

A signal numbers the nodes that it knows by *places*, in the order of their keys. `blocks` says which places are to be
compared with which, in pieces that fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from search.ingest.similar.best import DECIMALS, SimilarFound, best_of
from search.ingest.similar.cells import Cells
from search.interfaces import Keys, Vectors

EXACT = 20_000
"""Nodes up to which every node is compared with every other; above it, with the nodes of the nearest cells."""
CELLS_AT_ONCE = 16_000_000
"""Similarities that are in memory at once: 64 megabytes."""
ROWS = 1_024
PAIRS_AT_ONCE = 8_192

Places = NDArray[np.int64]
Similarities = NDArray[np.float32]
Check = Callable[[], None]


class Signal(Protocol):
    """One way in which nodes are similar, from 0 (or below) to 1."""

    name: str
    keys: Keys
    """The nodes that it knows, sorted."""

    def pairs(self, near: Places, far: Places) -> Similarities:
        """Return the similarity of each pair of places."""
        ...

    def blocks(self, rows: Places, columns: Places, check: Check) -> Iterator[tuple[Places, Places]]:
        """Yield (some of the rows, columns to compare them with); every row comes once."""
        ...

    def best(self, rows: Places, columns: Places, threshold: float, most: int) -> SimilarFound:
        """Return for each row the `most` columns of highest similarity above a threshold, never the row itself."""
        ...


@dataclass(eq=False)
class VectorSignal:
    """Cosine of the vectors of one kind (Signal). `keys` are sorted; row `i` of the matrix is the vector of key `i`."""

    name: str
    keys: Keys
    matrix: NDArray[np.float16]
    at: Places
    """Row of the matrix of each place."""

    def unit(self, places: Places) -> Vectors:
        """Return vectors in single precision and of unit length; a vector without length stays 0."""
        rows = self.matrix[self.at[places]].astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        found: Vectors = rows / np.maximum(lengths, np.finfo(np.float32).tiny)
        return found

    def pairs(self, near: Places, far: Places) -> Similarities:
        """Return the cosine of each pair."""
        found = np.empty(len(near), dtype=np.float32)
        for first in range(0, len(near), PAIRS_AT_ONCE):
            part = slice(first, first + PAIRS_AT_ONCE)
            found[part] = np.einsum("ij,ij->i", self.unit(near[part]), self.unit(far[part]))
        return found.round(DECIMALS)

    def blocks(self, rows: Places, columns: Places, check: Check) -> Iterator[tuple[Places, Places]]:
        """Yield all rows against all columns, or in a large base each cell's rows against the cells near it."""
        if len(columns) <= EXACT:
            yield from _pieces(rows, columns)
            return
        cells = Cells.of(self.unit, columns, check)
        of_columns = cells.cell_of(self.unit, columns, check)
        of_rows = of_columns if rows is columns else cells.cell_of(self.unit, rows, check)
        order = np.argsort(of_columns, kind="stable")
        begins = np.searchsorted(of_columns[order], np.arange(len(cells.centres) + 1))
        for cell in np.unique(of_rows):
            near = [order[begins[other] : begins[other + 1]] for other in cells.probed(int(cell))]
            yield from _pieces(rows[of_rows == cell], columns[np.sort(np.concatenate(near))])

    def best(self, rows: Places, columns: Places, threshold: float, most: int) -> SimilarFound:
        """Return the nearest columns of each row above the threshold."""
        found = (self.unit(rows) @ self.unit(columns).T).round(DECIMALS)
        own, other = self.keys[rows], self.keys[columns]
        at = np.minimum(np.searchsorted(other, own), len(other) - 1)
        itself = np.flatnonzero(other[at] == own)
        found[itself, at[itself]] = -2.0
        high = found > threshold
        if len(columns) > most:
            high &= found >= np.partition(found, -most, axis=1)[:, -most, None]
        row, column = np.nonzero(high)
        return best_of(SimilarFound(own[row], other[column], found[row, column]), most)


@dataclass(eq=False)
class ValueSignal:
    """Jaccard similarity of the values that two nodes have: shared values ÷ values of either (Signal).

    `values` has a row for each key and a column for each value, 1 where the node has the value.
    """

    name: str
    keys: Keys
    values: csr_array

    def __post_init__(self) -> None:
        self._sizes: NDArray[np.float32] = np.asarray(self.values.sum(axis=1), dtype=np.float32).ravel()
        self._columns: tuple[Places, csr_array] | None = None

    def pairs(self, near: Places, far: Places) -> Similarities:
        """Return the similarity of each pair."""
        found = np.empty(len(near), dtype=np.float32)
        for first in range(0, len(near), PAIRS_AT_ONCE):
            part = slice(first, first + PAIRS_AT_ONCE)
            shared = np.asarray(self.values[near[part]].multiply(self.values[far[part]]).sum(axis=1)).ravel()
            found[part] = shared / (self._sizes[near[part]] + self._sizes[far[part]] - shared)
        return found.round(DECIMALS)

    def blocks(self, rows: Places, columns: Places, check: Check) -> Iterator[tuple[Places, Places]]:
        """Yield pieces of the rows against all columns: only nodes that share a value are looked at."""
        for first in range(0, len(rows), ROWS):
            yield rows[first : first + ROWS], columns

    def best(self, rows: Places, columns: Places, threshold: float, most: int) -> SimilarFound:
        """Return the columns of each row that share most values with it."""
        if self._columns is None or self._columns[0] is not columns:
            self._columns = columns, self.values[columns].T.tocsr()
        shared = (self.values[rows] @ self._columns[1]).tocoo()
        row, column = rows[shared.row], columns[shared.col]
        similarity = (shared.data / (self._sizes[row] + self._sizes[column] - shared.data)).round(DECIMALS)
        kept = (similarity > threshold) & (row != column)
        found = SimilarFound(self.keys[row[kept]], self.keys[column[kept]], similarity[kept].astype(np.float32))
        return best_of(found, most)


def _pieces(rows: Places, columns: Places) -> Iterator[tuple[Places, Places]]:
    """Yield the rows in pieces whose similarities with all columns fit into memory."""
    size = max(1, min(ROWS, CELLS_AT_ONCE // max(1, len(columns))))
    for first in range(0, len(rows), size):
        yield rows[first : first + size], columns
