"""Counts the nodes that nodes are joined with, over the memory-mapped graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from search.adapters.graph_matching.found import Longs
from search.domain.graph import ANY, DIRECTIONS, OPPOSITE, Direction, Schema
from search.domain.plan import Count
from search.interfaces import Adjacency, Keys

AT_ONCE = 50_000
"""Keys whose edges are read together."""
EVERY = np.iinfo(np.int64).max


def counts(graph: Adjacency, schema: Schema, count: Count, keys: Longs, among: Longs | None = None) -> Longs:
    """Return for each key the number of different nodes that it is joined with as `count` says; of those `among`."""
    near, _ = joined(graph, schema, count, keys, among)
    distinct, numbers = np.unique(near, return_counts=True)
    if not len(distinct):
        return np.zeros(len(keys), dtype=np.int64)
    at = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
    found: Longs = np.where(distinct[at] == keys, numbers[at], 0)
    return found


def joined(
    graph: Adjacency, schema: Schema, count: Count, keys: Longs, among: Longs | None = None
) -> tuple[Longs, Longs]:
    """Return (keys, nodes): each different node that `count` counts of a key.

    The edges are read from the keys, or from the nodes `among` if these have fewer.
    """
    steps = list(_steps(schema, count))
    near = np.unique(keys).astype(np.int32)
    far = None if among is None else np.unique(among).astype(np.int32)
    if far is not None and _edges(graph, far, [(rel, OPPOSITE[way]) for rel, way in steps]) < _edges(
        graph, near, steps
    ):
        there, here = _pairs(graph, far, [(rel, OPPOSITE[way]) for rel, way in steps], near)
    else:
        here, there = _pairs(graph, near, steps, far)
    if count.to_label != ANY:
        kept = graph.types[there] == schema.type_codes[count.to_label]
        here, there = here[kept], there[kept]
    return here, there


def _steps(schema: Schema, count: Count) -> Iterator[tuple[int, Direction]]:
    """Yield the relations and directions over which nodes are counted."""
    relations = range(len(schema.relations)) if count.rel == ANY else [schema.relation_codes[count.rel]]
    ways: tuple[Direction, ...] = DIRECTIONS if count.direction is None else (count.direction,)
    for relation in relations:
        for way in ways:
            yield relation, way


def _edges(graph: Adjacency, keys: Keys, steps: list[tuple[int, Direction]]) -> int:
    return sum(graph.edges(keys, relation, way) for relation, way in steps)


def _pairs(graph: Adjacency, keys: Keys, steps: list[tuple[int, Direction]], ends: Keys | None) -> tuple[Longs, Longs]:
    """Return each different pair of a key and a node that it is joined with; only of the sorted nodes `ends`."""
    found = [np.empty(0, dtype=np.int64)]
    for first in range(0, len(keys), AT_ONCE):
        some = keys[first : first + AT_ONCE]
        pairs = [np.empty(0, dtype=np.int64)]
        for relation, way in steps:
            walked = graph.walk(some, relation, way, EVERY)
            assert walked is not None
            place, there = walked
            if ends is not None:
                kept = _are_among(there, ends)
                place, there = place[kept], there[kept]
            pairs.append(some[place].astype(np.int64) * graph.size + there)
        # The edges of one step are different already.
        found.append(pairs[1] if len(steps) == 1 else np.unique(np.concatenate(pairs)))
    near, far = np.divmod(np.concatenate(found), max(graph.size, 1))
    return near, far


def _are_among(keys: Keys, ends: Keys) -> np.typing.NDArray[np.bool_]:
    """Return which keys are among sorted ones."""
    if not len(ends):
        return np.zeros(len(keys), dtype=bool)
    found: np.typing.NDArray[np.bool_] = ends[np.minimum(np.searchsorted(ends, keys), len(ends) - 1)] == keys
    return found
