"""The nodes within a few edges of a start, in bounded time: the most promising nodes are walked on from first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS
from search.interfaces import Adjacency, Keys
from search.spreading import degrees_of, ranges


class NeighbourOrder(Protocol):
    """Says which nodes are walked on from first."""

    def in_order(self, keys: Iterable[int]) -> list[int]:
        """Return keys, the most promising first."""
        ...


@dataclass(frozen=True)
class Neighbourhood:
    """The nodes that were reached from `start`.

    `parents` maps each of them, without the start, to the node from which it was reached: of several in the hop before,
    the most promising one. Each walk is therefore a shortest one. `passed` is the number of nodes that were not walked
    on from, or not over all edges, because they have too many.
    """

    start: int
    parents: Mapping[int, int]
    passed: int

    def walk(self, key: int) -> tuple[int, ...]:
        """Return the keys from the start to a node, both included."""
        walk = [key]
        while walk[-1] != self.start:
            walk.append(self.parents[walk[-1]])
        return tuple(reversed(walk))


def neighbourhood(
    adjacency: Adjacency, order: NeighbourOrder, start: int, hops: int, edges: int, check: Callable[[], None]
) -> Neighbourhood:
    """Return the nodes within `hops` edges of a start, over all relations in both directions.

    A hop reads at most `edges` edges: nodes are walked on from in their order, and one that has more edges than are
    left is passed over. Of the start itself, edges at equal distances are read if it has too many. `check` is called
    before each hop; it raises to end the work.
    """
    reached = np.array([start], dtype=np.int32)
    parents: dict[int, int] = {}
    frontier, passed = np.array([start], dtype=np.int32), 0
    for hop in range(hops):
        check()
        chosen = _affordable(degrees_of(adjacency, frontier), edges) if hop else np.ones(1, dtype=bool)
        sources, targets = _edges(adjacency, frontier[chosen])
        passed += int((~chosen).sum()) + (len(targets) > edges)
        if len(targets) > edges:
            kept = np.linspace(0, len(targets) - 1, edges).astype(np.int64)
            sources, targets = sources[kept], targets[kept]
        fresh = np.isin(targets, reached, invert=True)
        new, parent = _first(targets[fresh], sources[fresh])
        if not len(new):
            break
        parents |= dict(zip(new.tolist(), frontier[chosen][parent].tolist(), strict=True))
        reached = np.union1d(reached, new)
        frontier = np.array(order.in_order(new.tolist()) if hop + 1 < hops else [], dtype=np.int32)
    return Neighbourhood(start, parents, passed)


def _affordable(degrees: NDArray[np.int64], edges: int) -> NDArray[np.bool_]:
    """Return which nodes are walked on from: each whose edges fit into what the nodes before it have left."""
    chosen = np.ones(len(degrees), dtype=bool)
    if int(degrees.sum()) <= edges:
        return chosen
    left = edges
    for at, degree in enumerate(degrees.tolist()):
        chosen[at] = degree <= left
        left -= degree if degree <= left else 0
    return chosen


def _edges(adjacency: Adjacency, keys: Keys) -> tuple[NDArray[np.int64], Keys]:
    """Return the position among `keys` and the far node of every edge of these nodes, in both directions."""
    sources, targets = [], []
    for direction in DIRECTIONS:
        starts, neighbours = adjacency.whole(direction)
        first, counts = starts[keys], starts[keys + 1] - starts[keys]
        sources.append(np.repeat(np.arange(len(keys)), counts))
        targets.append(neighbours[ranges(first, counts)])
    return np.concatenate(sources), np.concatenate(targets)


def _first(targets: Keys, sources: NDArray[np.int64]) -> tuple[Keys, NDArray[np.int64]]:
    """Return the distinct targets, and the smallest source of each."""
    order = np.lexsort((sources, targets))
    targets, sources = targets[order], sources[order]
    firsts = np.flatnonzero(np.append(True, np.diff(targets) != 0)[: len(targets)])
    return targets[firsts], sources[firsts]
