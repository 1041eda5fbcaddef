"""Shortest paths between two nodes in bounded time: breadth-first search from both ends over the memory-mapped graph.

Edges are followed in both directions. Each step expands the side that has fewer edges to read (bidirectional search,
Pohl 1971). The search therefore never reads more than a given number of edges; nodes with more edges than are left are
passed over, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Direction
from search.interfaces import Adjacency, Keys

Weights = NDArray[np.float64]
STORED: tuple[Direction, Direction] = ("out", "in")
MOST_HOPS = 4
MOST_EDGES = 2_000_000
"""Most edges that are read to find the paths between two nodes; as many again tell which of them lie on one."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkedStep:
    """Edges from one layer of nodes to the next, one entry each, sorted by `near`, then `far`.

    `forward` says whether the stored edge leads from `near` to `far`.
    """

    near: Keys
    far: Keys
    relation: NDArray[np.int16]
    forward: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.near)


@dataclass(frozen=True)
class Between:
    """All shortest paths between two nodes: `layers` of nodes from the first to the second, and the steps between them.

    Without a path, both are empty. `passed_over` nodes had more edges than could be read, so that a path over them may
    be missing, and even a shorter one. `edges` were read.
    """

    layers: tuple[Keys, ...] = ()
    steps: tuple[WalkedStep, ...] = ()
    passed_over: int = 0
    edges: int = 0

    @property
    def hops(self) -> int:
        """Number of edges of each path; 0 without a path."""
        return len(self.steps)

    @property
    def paths(self) -> int:
        """Number of different paths; two nodes that two relations join count as two edges."""
        if not self.layers:
            return 0
        ways = np.ones(1, dtype=np.int64)
        for before, after, step in zip(self.layers, self.layers[1:], self.steps, strict=False):
            fresh = np.zeros(len(after), dtype=np.int64)
            np.add.at(fresh, np.searchsorted(after, step.far), ways[np.searchsorted(before, step.near)])
            ways = fresh
        return int(ways.sum())


@dataclass
class _Side:
    """What was reached from one end: `levels[n]` are the nodes n hops away, `steps[n]` the edges from n to n + 1."""

    levels: list[Keys]
    steps: list[WalkedStep] = field(default_factory=list)

    @property
    def seen(self) -> Keys:
        return np.unique(np.concatenate(self.levels))


def shortest_paths(
    adjacency: Adjacency,
    start: int,
    end: int,
    hops: int = MOST_HOPS,
    edges: int = MOST_EDGES,
    without: Collection[int] = (),
) -> Between:
    """Return the shortest paths between two nodes, of at most `hops` edges, over at most `edges` edges.

    `without` are codes of node types that no node between the two may have. From a node to itself there is no path.
    """
    if start == end:
        return Between()
    sides = _Side([_keys(start)]), _Side([_keys(end)])
    ends, passed, read = _keys(start, end), 0, 0
    for _ in range(hops):
        side = min(sides, key=lambda one: _cost(adjacency, one.levels[-1]))
        frontier, skipped, cost = _affordable(adjacency, side.levels[-1], edges - read)
        passed, read = passed + skipped, read + cost
        step = _edges_of(adjacency, frontier)
        step = _picked(step, ~np.isin(step.far, side.seen) & _allowed(adjacency, step.far, ends, without))
        side.steps.append(step)
        side.levels.append(np.unique(step.far))
        if not len(side.levels[-1]):
            break
        if len(np.intersect1d(sides[0].levels[-1], sides[1].levels[-1])):
            return replace(_joined(*sides), passed_over=passed, edges=read)
    return Between(passed_over=passed, edges=read)


def _keys(*keys: int) -> Keys:
    return np.array(sorted(keys), dtype=np.int32)


def _cost(adjacency: Adjacency, keys: Keys) -> int:
    return int(degrees_of(adjacency, keys).sum())


def _affordable(adjacency: Adjacency, keys: Keys, most: int) -> tuple[Keys, int, int]:
    """Return the nodes with the fewest edges whose edges can all be read, how many are left out, and their edges."""
    degrees = degrees_of(adjacency, keys)
    order = np.argsort(degrees, kind="stable")
    totals = np.cumsum(degrees[order])
    kept = int(np.searchsorted(totals, most, "right"))
    return np.sort(keys[order[:kept]]), len(keys) - kept, int(totals[kept - 1]) if kept else 0


def _edges_of(adjacency: Adjacency, keys: Keys) -> WalkedStep:
    """Return all edges of these nodes, over all relations in both directions."""
    near, far, relations, forward = [_keys()], [_keys()], [np.empty(0, np.int16)], [np.empty(0, bool)]
    for (relation, direction), count in adjacency.counts(keys).items():
        walked = adjacency.walk(keys, relation, direction, count)
        if walked is None:
            continue
        near.append(keys[walked[0]])
        far.append(walked[1])
        relations.append(np.full(len(walked[1]), relation, dtype=np.int16))
        forward.append(np.full(len(walked[1]), direction == "out"))
    return WalkedStep(np.concatenate(near), np.concatenate(far), np.concatenate(relations), np.concatenate(forward))


def _allowed(adjacency: Adjacency, keys: Keys, ends: Keys, without: Collection[int]) -> NDArray[np.bool_]:
    if not without:
        return np.ones(len(keys), dtype=bool)
    allowed: NDArray[np.bool_] = np.isin(keys, ends) | ~np.isin(adjacency.types[keys], list(without))
    return allowed


def _picked(step: WalkedStep, which: NDArray[Any]) -> WalkedStep:
    return WalkedStep(step.near[which], step.far[which], step.relation[which], step.forward[which])


def _turned(step: WalkedStep) -> WalkedStep:
    """Return the edges as seen from their far ends."""
    return WalkedStep(step.far, step.near, step.relation, ~step.forward)


def _sorted(step: WalkedStep) -> WalkedStep:
    return _picked(step, np.lexsort((step.forward, step.relation, step.far, step.near)))


def _joined(first: _Side, last: _Side) -> Between:
    """Return the paths through the nodes in which the two sides meet; only edges that a side has read are looked at."""
    layer = np.intersect1d(first.levels[-1], last.levels[-1])
    before, after = _towards(first, layer), _towards(last, layer)
    steps = [_sorted(step) for step in (*reversed(before), *(_turned(step) for step in after))]
    layers = [np.unique(steps[0].near), *(np.unique(step.far) for step in steps)]
    return Between(tuple(layers), tuple(steps))


def _towards(side: _Side, layer: Keys) -> list[WalkedStep]:
    """Return the side's edges that lie on a path to `layer`, the last step first."""
    found = []
    for step in reversed(side.steps):
        step = _picked(step, np.isin(step.far, layer))
        found.append(step)
        layer = np.unique(step.near)
    return found


@dataclass(frozen=True, slots=True)
class WalkedEdge:
    """One edge of a path, in the direction in which the path follows it."""

    near: int
    far: int
    relation: int
    forward: bool


def best_paths(between: Between, degrees: Callable[[Keys], NDArray[np.int64]]) -> Iterator[list[WalkedEdge]]:
    """Yield the paths one by one, those over the most specific nodes first, then in the order of keys.

    The cost of a path is the sum of log(1 + edges of the node) over the nodes between its ends: a path over a node with
    few edges says more than one over a hub. Each path costs time for its own length only: best-first search with the
    exact cost of the rest, in which a prefix knows its next best sibling.
    """
    if not between.steps:
        return
    costs = [np.log1p(degrees(layer)) for layer in between.layers[1:-1]]
    rest = np.zeros(1)
    steps: list[WalkedStep] = []
    starts: list[NDArray[np.int64]] = []
    totals: list[Weights] = []
    for at in range(len(between.steps) - 1, -1, -1):
        step, layer = between.steps[at], between.layers[at]
        after = rest[np.searchsorted(between.layers[at + 1], step.far)]
        order = np.lexsort((step.relation, step.far, after, step.near))
        begin = np.searchsorted(step.near[order], layer)
        rest = after[order][begin] + (costs[at - 1] if at else 0.0)
        steps, starts = [_picked(step, order), *steps], [np.append(begin, len(step)), *starts]
        totals = [after[order], *totals]
    yield from _in_order(between.layers, steps, starts, totals)


def _in_order(
    layers: Sequence[Keys], steps: Sequence[WalkedStep], starts: Sequence[NDArray[np.int64]], totals: Sequence[Weights]
) -> Iterator[list[WalkedEdge]]:
    """Yield paths by their cost: an entry of the heap is a prefix, its cost with the best rest, and its last edge."""
    heap: list[tuple[float, int, tuple[int, ...]]] = [(float(totals[0][0]), 0, (0,))]
    made = 0
    while heap:
        cost, _, prefix = heappop(heap)
        at, last = len(prefix) - 1, prefix[-1]
        step, place = steps[at], int(np.searchsorted(layers[at], steps[at].near[last]))
        if last + 1 < starts[at][place + 1]:
            made += 1
            further = cost + float(totals[at][last + 1] - totals[at][last])
            heappush(heap, (further, made, (*prefix[:-1], last + 1)))
        if at + 1 == len(steps):
            yield [_edge(one, where) for one, where in zip(steps, prefix, strict=True)]
        else:
            made += 1
            first = int(starts[at + 1][np.searchsorted(layers[at + 1], step.far[last])])
            heappush(heap, (cost, made, (*prefix, first)))


def _edge(step: WalkedStep, at: int) -> WalkedEdge:
    return WalkedEdge(int(step.near[at]), int(step.far[at]), int(step.relation[at]), bool(step.forward[at]))


def degrees_of(adjacency: Adjacency, keys: Keys) -> NDArray[np.int64]:
    """Return the number of edges of each node over all relations and both directions, from offsets alone."""
    total = np.zeros(len(keys), dtype=np.int64)
    for direction in STORED:
        starts, _ = adjacency.whole(direction)
        total += starts[keys + 1] - starts[keys]
    return total
