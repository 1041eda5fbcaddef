"""Nodes that are alike in the graph because they share neighbours (Adamic & Adar 2003), in bounded time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from search.domain.graph import Direction
from search.interfaces import Adjacency, Keys

STORED: tuple[Direction, Direction] = ("out", "in")
MOST_NEIGHBOURS = 400
"""Neighbours of the node that are looked at over one relation; a hub has more, and says less by each."""
MOST_EDGES = 200_000
"""Edges of these neighbours that are read in all."""
NAMED = 3
"""Shared neighbours that are returned for each alike node."""


@dataclass(frozen=True, slots=True)
class Alike:
    """A node that shares neighbours: how many over the same relations, its score, and the rarest of them."""

    key: int
    score: float
    shared: int
    over: tuple[int, ...]


def alike_in_graph(adjacency: Adjacency, key: int, most: int, edges: int = MOST_EDGES) -> list[Alike]:
    """Return up to `most` nodes of the same type that share neighbours over the same relation and direction.

    Each shared neighbour counts 1 / log(1 + its edges over the relation), so that a rare one counts more than a hub.
    The neighbours with the fewest edges are read first, up to `edges` edges in all.
    """
    found: dict[int, list[tuple[float, int]]] = {}
    left = edges
    for (relation, direction), count in sorted(adjacency.counts(_keys(key)).items()):
        back: Direction = "in" if direction == "out" else "out"
        near = adjacency.part(key, relation, direction, 0, min(count, MOST_NEIGHBOURS))
        degrees = adjacency.degrees(near, relation, back)
        order = np.argsort(degrees, kind="stable")
        order = order[np.cumsum(degrees[order]) <= left]
        walked = adjacency.walk(near[order], relation, back, left)
        if walked is None or not len(order):
            continue
        left -= len(walked[1])
        others = (adjacency.types[walked[1]] == adjacency.types[key]) & (walked[1] != key)
        for at, other in zip(walked[0][others].tolist(), walked[1][others].tolist(), strict=True):
            weight = 1.0 / float(np.log1p(degrees[order[at]]))
            found.setdefault(other, []).append((weight, int(near[order[at]])))
    alike = [_alike(other, shared) for other, shared in found.items()]
    return sorted(alike, key=lambda one: (-one.score, one.key))[:most]


def _alike(key: int, shared: list[tuple[float, int]]) -> Alike:
    rarest = dict.fromkeys(near for _, near in sorted(shared, key=lambda one: (-one[0], one[1])))
    return Alike(key, sum(weight for weight, _ in shared), len(rarest), tuple(rarest)[:NAMED])


def _keys(key: int) -> Keys:
    return np.array([key], dtype=np.int32)
