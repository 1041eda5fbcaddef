"""The document vectors of a vector set as one memory-mapped matrix: cosines of given nodes without a journey.

A search asks for the cosines of nodes that it has already (candidates of the graph, ties, what a cosine is held
against) five to ten times. From Postgres a thousand of them take some 6 ms, from the matrix less than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Vectors

FILE = "documents.f2"
STORED = np.dtype("<f2")
ROWS_AT_ONCE = 4_096
"""So many rows are widened to single precision at a time: some megabytes, however many nodes are asked for."""


def build(directory: Path, rows: Iterable[NDArray[np.float16]]) -> None:
    """Write blocks of rows, in the order of keys and without a gap, into `directory`."""
    with (directory / FILE).open("wb") as file:
        for block in rows:
            file.write(np.ascontiguousarray(block, dtype=STORED).tobytes())


class DocumentVectors:
    """The matrix of `build`: row = key."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        self._file = directory / FILE
        self._dimensions = dimensions

    def cosines(self, vector: Vectors, keys: Sequence[int]) -> dict[int, float]:
        """Return the cosine of each key with a unit-length vector; keys beyond the last node are left out.

        Raises FileNotFoundError where the matrix has not been built.
        """
        wanted = np.asarray(keys, dtype=np.int64)
        wanted = wanted[wanted < len(self._rows)]
        found: dict[int, float] = {}
        for first in range(0, len(wanted), ROWS_AT_ONCE):
            block = wanted[first : first + ROWS_AT_ONCE]
            rows = self._rows[block].astype(np.float32)
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
            cosines = np.clip(rows @ vector / np.maximum(lengths, np.finfo(np.float32).tiny), -1.0, 1.0)
            found.update(zip(block.tolist(), cosines.tolist(), strict=True))
        return found

    @cached_property
    def _rows(self) -> NDArray[np.float16]:
        return np.memmap(self._file, dtype=STORED, mode="r").view(np.ndarray).reshape(-1, self._dimensions)
