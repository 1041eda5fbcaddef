"""The document vectors of a vector set as one memory-mapped matrix, for cosines of given nodes.

A search needs cosines of nodes that it already has (candidates of the graph, ties, reference samples) five to ten
times. A thousand of them take about 6 ms from Postgres, and less than 1 ms from the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Vectors

MATRIX_FILE = "documents.f2"
STORED = np.dtype("<f2")
ROWS_AT_ONCE = 4_096
"""Rows that are converted to single precision at once: a few megabytes, however many nodes are requested."""

Products = Callable[[NDArray[np.float16], Vectors], Vectors]
"""A function: rows, vector → their inner products (`search.neural.scan.products`)."""
MARGIN = 2e-3
"""Upper bound of the difference between the errors of two inner products of unit vectors in half precision."""


def build(directory: Path, rows: Iterable[NDArray[np.float16]]) -> None:
    """Write blocks of rows, in the order of keys and without gaps, into `directory`."""
    with (directory / MATRIX_FILE).open("wb") as file:
        for block in rows:
            file.write(np.ascontiguousarray(block, dtype=STORED).tobytes())


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """Vectors of some documents, shape (documents, dimensions), and their lengths."""

    rows: Vectors
    lengths: Vectors

    def cosines(self, vector: Vectors) -> Vectors:
        """Return the cosine of each document with a unit-length vector."""
        cosines: Vectors = np.clip(self.rows @ vector / self.lengths, -1.0, 1.0)
        return cosines


class DocumentVectors:
    """The matrix that `build` wrote; the row of a node is its key."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        self._file = directory / MATRIX_FILE
        self._dimensions = dimensions

    def cosines(self, vector: Vectors, keys: Sequence[int] | NDArray[np.integer]) -> dict[int, float]:
        """Return key → cosine of its document with a unit-length vector; keys beyond the last node are left out.

        Raises FileNotFoundError if the matrix has not been built.
        """
        wanted = np.asarray(keys, dtype=np.int64)
        wanted = wanted[wanted < len(self._rows)]
        found: dict[int, float] = {}
        for first in range(0, len(wanted), ROWS_AT_ONCE):
            block = wanted[first : first + ROWS_AT_ONCE]
            found.update(zip(block.tolist(), self.rows(block).cosines(vector).tolist(), strict=True))
        return found

    def rows(self, keys: NDArray[np.integer]) -> DocumentRows:
        """Return the documents of these keys in single precision, for several comparisons; the keys must exist."""
        rows = self._rows[keys].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return DocumentRows(rows, np.maximum(lengths, np.finfo(np.float32).tiny))

    def nearest(self, vector: Vectors, k: int, products: Products) -> list[tuple[int, float]]:
        """Return the k keys with the highest cosine and these cosines, by cosine, then key. The result is exact.

        `products` are approximate and find what may be among the best; the cosines of these decide.
        """
        rough = products(self._rows, vector)
        least = np.partition(rough, -k)[-k] - MARGIN if k < len(rough) else -np.inf
        cosines = self.cosines(vector, np.flatnonzero(rough >= least))
        return sorted(cosines.items(), key=lambda item: (-item[1], item[0]))[:k]

    @cached_property
    def _rows(self) -> NDArray[np.float16]:
        return np.memmap(self._file, dtype=STORED, mode="c").view(np.ndarray).reshape(-1, self._dimensions)
