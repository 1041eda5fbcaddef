"""Counts the nodes that nodes are joined with, over the memory-mapped graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from search.adapters.graph_matching.found import Longs
from search.adapters.key_sets import distinct, places_in
from search.domain.graph import ANY, DIRECTIONS, OPPOSITE, Direction, Schema
from search.domain.plan import Count
from search.interfaces import Adjacency, Keys

AT_ONCE = 50_000
"""Keys whose edges are read together."""
EVERY = np.iinfo(np.int64).max

Steps = Sequence[tuple[int, Direction]]
"""Relations and directions over which nodes are counted."""


def counts(graph: Adjacency, schema: Schema, count: Count, keys: Longs, among: Longs | None = None) -> Longs:
    """Return for each key the number of different nodes that it is joined with as `count` says; of those `among`."""
    steps = list(_steps(schema, count))
    if among is None and len(steps) == 1 and _is_only_type(schema, count, *steps[0]):
        return graph.degrees(keys.astype(np.int32), *steps[0])
    near = distinct(keys, graph.size)
    places, _ = _pairs(graph, schema, count, near, among)
    numbers = np.bincount(places, minlength=len(near))
    found: Longs = numbers[places_in(near, keys, graph.size)]
    return found


def joined(
    graph: Adjacency, schema: Schema, count: Count, keys: Longs, among: Longs | None = None
) -> tuple[Longs, Longs]:
    """Return (keys, nodes): each different node that `count` counts of a key."""
    near = distinct(keys, graph.size)
    places, far = _pairs(graph, schema, count, near, among)
    return near[places].astype(np.int64), far


def _pairs(graph: Adjacency, schema: Schema, count: Count, near: Keys, among: Longs | None) -> tuple[Longs, Longs]:
    """Return each different pair of a position among sorted keys and a node that `count` counts of this key.

    The edges are read from the keys, or from the nodes `among` if these have fewer.
    """
    steps = list(_steps(schema, count))
    back = [(relation, OPPOSITE[way]) for relation, way in steps]
    ends = None if among is None else distinct(among, graph.size)
    if ends is not None and _edges(graph, ends, back) < _edges(graph, near, steps):
        at, here = _walked(graph, ends, back)
        places, far = places_in(near, here, graph.size), ends[at].astype(np.int64)
        kept = places >= 0
    else:
        places, far = _walked(graph, near, steps)
        kept = np.ones(len(far), dtype=bool) if ends is None else places_in(ends, far, graph.size) >= 0
    if count.to_label != ANY:
        kept &= graph.types[far] == schema.type_codes[count.to_label]
    places, far = places[kept], far[kept]
    if len(steps) == 1:
        return places, far
    # A node that is reached over several relations counts once.
    near_of, far_of = np.divmod(np.unique(places * graph.size + far), max(graph.size, 1))
    return near_of, far_of


def _walked(graph: Adjacency, keys: Keys, steps: Steps) -> tuple[Longs, Longs]:
    """Return the position of the key and the far node of each edge."""
    places, ends = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for first in range(0, len(keys), AT_ONCE):
        for relation, way in steps:
            walked = graph.walk(keys[first : first + AT_ONCE], relation, way, EVERY)
            assert walked is not None
            places.append(first + walked[0])
            ends.append(walked[1].astype(np.int64))
    return np.concatenate(places), np.concatenate(ends)


def _steps(schema: Schema, count: Count) -> Iterator[tuple[int, Direction]]:
    relations = range(len(schema.relations)) if count.rel == ANY else [schema.relation_codes[count.rel]]
    ways: tuple[Direction, ...] = DIRECTIONS if count.direction is None else (count.direction,)
    for relation in relations:
        for way in ways:
            yield relation, way


def _edges(graph: Adjacency, keys: Keys, steps: Steps) -> int:
    return sum(graph.edges(keys, relation, way) for relation, way in steps)


def _is_only_type(schema: Schema, count: Count, relation: int, way: Direction) -> bool:
    """Return whether all edges of a relation lead to nodes of the type that is counted."""
    pairs = schema.ends.get(schema.relations[relation].name, frozenset())
    ends = {target if way == "out" else source for source, target in pairs}
    return count.to_label == ANY or ends <= {schema.type_codes[count.to_label]}
