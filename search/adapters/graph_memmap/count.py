"""Counts the nodes that nodes are joined with, over the memory-mapped graph."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import ANY, DIRECTIONS, Direction, Schema
from search.domain.ordering import Value
from search.domain.plan import Count
from search.interfaces import Adjacency

AT_ONCE = 50_000
"""Keys whose edges are read together."""


def counts(
    graph: Adjacency, schema: Schema, count: Count, keys: Sequence[int], among: Collection[int] | None = None
) -> dict[int, Value | None]:
    """Return for each key the number of different nodes that it is joined with as `count` says; of those `among`."""
    found: dict[int, Value | None] = {}
    for some, places, _ in _pairs(graph, schema, count, keys, among):
        found |= dict(zip(some.tolist(), np.bincount(places, minlength=len(some)).tolist(), strict=True))
    return found


def joined(
    graph: Adjacency, schema: Schema, count: Count, keys: Sequence[int], among: Collection[int] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (keys, nodes): each different node that `count` counts of a key."""
    found = [(some[places], there) for some, places, there in _pairs(graph, schema, count, keys, among)]
    if not found:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    near, far = zip(*found, strict=True)
    return np.concatenate(near).astype(np.int64), np.concatenate(far)


def _pairs(
    graph: Adjacency, schema: Schema, count: Count, keys: Sequence[int], among: Collection[int] | None
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield some of the keys, with (place among them, node) for each different node that is counted, as two arrays."""
    allowed = None
    if among is not None:
        allowed = np.zeros(graph.size, dtype=bool)
        allowed[np.fromiter(among, dtype=np.int64, count=len(among))] = True
    relations = range(len(schema.relations)) if count.rel == ANY else [schema.relation_codes[count.rel]]
    ways: tuple[Direction, ...] = DIRECTIONS if count.direction is None else (count.direction,)
    for first in range(0, len(keys), AT_ONCE):
        some = np.asarray(keys[first : first + AT_ONCE], dtype=np.int32)
        pairs = [np.empty(0, dtype=np.int64)]
        for relation in relations:
            for way in ways:
                walked = graph.walk(some, relation, way, np.iinfo(np.int64).max)
                assert walked is not None
                place, there = walked
                if count.to_label != ANY:
                    kept = graph.types[there] == schema.type_codes[count.to_label]
                    place, there = place[kept], there[kept]
                if allowed is not None:
                    kept = allowed[there]
                    place, there = place[kept], there[kept]
                pairs.append(place * graph.size + there)
        distinct = np.unique(np.concatenate(pairs))
        yield some, *np.divmod(distinct, max(graph.size, 1))
