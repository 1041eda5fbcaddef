"""The nodes that each node of a set is joined with: what counts, and computations from neighbours, are made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import OPPOSITE, Direction
from search.interfaces import Adjacency, Keys
from search.key_sets import different, places_in

AT_ONCE = 50_000
"""Keys whose edges are read together."""
EVERY = np.iinfo(np.int64).max

Steps = Sequence[tuple[int, Direction]]
"""Relations and directions over which nodes are joined."""
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Positions among the nodes, and the key of the node that each is joined with."""


def numbers_of_joined(
    graph: Adjacency, steps: Steps, near: Keys, types: Collection[int], among: Keys | None, most: int = EVERY
) -> NDArray[np.int64] | None:
    """Return for each of the sorted keys `near` the number of pairs of `joined`."""
    if among is None and len(steps) == 1 and _far_types(graph, *steps[0]) <= set(types):
        return graph.degrees(near, *steps[0])
    pairs = joined(graph, steps, near, types, among, most)
    return None if pairs is None else np.bincount(pairs[0], minlength=len(near))


def joined(
    graph: Adjacency, steps: Steps, near: Keys, types: Collection[int], among: Keys | None, most: int = EVERY
) -> Pairs | None:
    """Return each different node of some types that a node is joined with, for the sorted keys `near`.

    `among` are the only nodes to join with, as sorted keys. The edges are read from that side that has fewer; None if
    there are more than `most`.
    """
    back = [(relation, OPPOSITE[way]) for relation, way in steps]
    edges = _edges(graph, near, steps)
    behind = edges if among is None else _edges(graph, among, back)
    if min(edges, behind) > most:
        return None
    if among is not None and behind < edges:
        at, here = _walked(graph, among, back)
        places, far = places_in(near, here, graph.size), among[at].astype(np.int64)
        kept = places >= 0
    else:
        places, far = _walked(graph, near, steps)
        kept = np.ones(len(far), dtype=bool) if among is None else places_in(among, far, graph.size) >= 0
    if len(wanted := set(types)) < len(graph.schema.node_types):
        fitting = np.zeros(len(graph.schema.node_types), dtype=bool)
        fitting[list(wanted)] = True
        kept &= fitting[graph.types[far]]
    places, far = places[kept], far[kept]
    if len(steps) == 1:
        return places, far
    # A node that is reached over several relations counts once.
    near_of, far_of = np.divmod(different(places * graph.size + far), max(graph.size, 1))
    return near_of, far_of


def _walked(graph: Adjacency, keys: Keys, steps: Steps) -> Pairs:
    """Return the position of the key and the far node of each edge."""
    places, ends = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for first in range(0, len(keys), AT_ONCE):
        for relation, way in steps:
            walked = graph.walk(keys[first : first + AT_ONCE], relation, way, EVERY)
            assert walked is not None
            places.append(first + walked[0])
            ends.append(walked[1].astype(np.int64))
    return np.concatenate(places), np.concatenate(ends)


def _edges(graph: Adjacency, keys: Keys, steps: Steps) -> int:
    return sum(graph.edges(keys, relation, way) for relation, way in steps)


def _far_types(graph: Adjacency, relation: int, way: Direction) -> set[int]:
    """Return the codes of the types that edges of a relation lead to."""
    pairs = graph.schema.ends.get(graph.schema.relations[relation].name, frozenset())
    return {target if way == "out" else source for source, target in pairs}
