"""Sets of nodes as sorted arrays of keys. Large ones are looked up in an array over all nodes, others by sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Keys

SHARE = 1 / 32
"""Share of all nodes above which an array over all nodes is faster than sorting and searching."""


def distinct(keys: NDArray[np.integer], nodes: int) -> Keys:
    """Return the different keys, sorted; `nodes` is the number of all nodes."""
    if len(keys) < SHARE * nodes:
        return np.unique(keys).astype(np.int32)
    seen = np.zeros(nodes, dtype=bool)
    seen[keys] = True
    return np.flatnonzero(seen).astype(np.int32)


def places_in(ordered: Keys, keys: NDArray[np.integer], nodes: int) -> NDArray[np.int64]:
    """Return the position of each key in a sorted array of different keys, -1 where it is not there."""
    if len(keys) < SHARE * nodes:
        if not len(ordered):
            return np.full(len(keys), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(ordered, keys.astype(np.int32)), len(ordered) - 1)
        return np.where(ordered[at] == keys, at, -1)
    places = np.zeros(nodes, dtype=np.int32)
    places[ordered] = np.arange(1, len(ordered) + 1, dtype=np.int32)
    return places[keys].astype(np.int64) - 1


def different(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different numbers, sorted; `np.unique` is very slow where numbers stand for pairs."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def ranked(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the different numbers, sorted, and the position of each number among them."""
    if values.dtype != np.complex128 and len(values):
        low = values.min()
        if values.max() - low <= 2 * len(values) and (values == np.floor(values)).all():
            shifted = (values - low).astype(np.int64)
            there = np.bincount(shifted) > 0
            return (np.flatnonzero(there) + low).astype(values.dtype), (np.cumsum(there) - 1)[shifted]
    distinct_values, positions = np.unique(values, return_inverse=True)
    return distinct_values, positions
