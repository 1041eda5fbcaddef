"""The best entries of each row, from lists of entries: (row, key, value), equal values in the order of keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Keys

DECIMALS = 6
"""Decimals of a similarity: products of the same vectors in other blocks differ in their last bits."""


@dataclass(frozen=True, slots=True)
class SimilarFound:
    """Entries of equal length: key of the node, key of the other node, similarity."""

    near: Keys
    far: Keys
    similarity: NDArray[np.float32]

    @classmethod
    def nothing(cls) -> SimilarFound:
        """Return no entries."""
        return cls(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))


def best_of(found: SimilarFound, most: int) -> SimilarFound:
    """Return the `most` highest entries of each node, by node, then falling similarity, then key."""
    order = np.lexsort((found.far, -found.similarity, found.near))
    near = found.near[order]
    kept = order[place_in_run(near) < most]
    return SimilarFound(found.near[kept], found.far[kept], found.similarity[kept])


def place_in_run(sorted_values: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the place of each value in its run of equal values, from 0."""
    if not len(sorted_values):
        return np.empty(0, dtype=np.int64)
    begins = np.flatnonzero(np.concatenate(([True], sorted_values[1:] != sorted_values[:-1])))
    lengths = np.diff(np.append(begins, len(sorted_values)))
    return np.arange(len(sorted_values), dtype=np.int64) - np.repeat(begins, lengths)
