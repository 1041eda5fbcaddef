"""Spreads weight from given nodes over the graph: personalised PageRank (Haveliwala 2002) in bounded time.

Used by the stage `pagerank`, and by retrievers and rankers that need the graph's nearness to some nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS
from search.interfaces import Adjacency, Keys

Weights = NDArray[np.float64]
DAMPING = 0.6
STEPS = 3
EDGES = 500_000
"""Most edges read in one step, if nothing else is asked for."""


@dataclass(frozen=True)
class Walkers:
    """Weight on nodes: `keys` are sorted and distinct, `weights` has the same shape.

    `parents` holds, for each node, the neighbour from which most of its weight came; -1 for a seed.
    """

    keys: Keys
    weights: Weights
    parents: Keys


@dataclass(frozen=True)
class Tree:
    """All nodes that were reached, and the node from which each was first reached.

    `keys` are sorted and distinct; `parents` has the same shape and holds -1 for a seed. `named` says whether the walk
    back to the seed ends at an entity that the question names. If several nodes reach a node in the same step, the one
    that carries the most weight is the parent. Each walk is therefore a shortest one, and the heaviest step by step.
    Walks have no cycles, because a parent was reached before its children.
    """

    keys: Keys
    parents: Keys
    named: NDArray[np.bool_]

    def grown(self, at: Walkers) -> Tree:
        """Return the tree with the nodes that the weight reached in one more step.

        A document among the seeds also gets a parent when weight from a named entity reaches it, because the walk from
        an entity explains it better. The walk from that parent back to the entity does not contain the document.
        """
        parents, named = self.parents.copy(), self.named.copy()
        by_name = named[np.searchsorted(self.keys, at.parents)]
        fresh = ~np.isin(at.keys, self.keys, assume_unique=True)
        places = np.searchsorted(self.keys, at.keys[~fresh])
        found = (parents[places] < 0) & ~named[places] & by_name[~fresh]
        parents[places[found]], named[places[found]] = at.parents[~fresh][found], True
        keys = np.append(self.keys, at.keys[fresh])
        order = np.argsort(keys)
        parents, named = np.append(parents, at.parents[fresh]), np.append(named, by_name[fresh])
        return Tree(keys[order], parents[order], named[order])

    def walk(self, key: int) -> tuple[int, ...]:
        """Return the keys from a seed to a node, both included."""
        walk = [key]
        while (parent := int(self.parents[np.searchsorted(self.keys, walk[-1])])) >= 0:
            walk.append(parent)
        return tuple(reversed(walk))


@dataclass(frozen=True)
class Reached:
    """All nodes that weight reached; `scores`, shape (nodes,), are in the order of `tree.keys`."""

    tree: Tree
    scores: Weights


def spread(
    adjacency: Adjacency,
    weights: Mapping[int, float],
    *,
    damping: float = DAMPING,
    steps: int = STEPS,
    edges: int = EDGES,
    named: frozenset[int] = frozenset(),
    check: Callable[[], None] = lambda: None,
) -> Reached:
    """Return the nodes that weight reaches from seeds, and their scores: the sums of the weight that they kept.

    The weight spreads over all relations in both directions. At each step a node keeps `1 - damping` of the weight that
    reached it, and divides the rest evenly among its edges. Weight on a node without edges goes no further. A node
    spreads its weight only if this weight is at least 1 / `edges` for each of its edges. A step therefore reads at most
    `edges` edges, whatever the size of the graph, and skips hubs that would give each neighbour almost nothing.

    Args:
        adjacency: The graph.
        weights: Key of a seed → its weight; the weights add up to at most 1.
        damping: Fraction of its weight that a node passes on, 0 to 1.
        steps: Largest number of edges that weight travels from a seed.
        edges: Largest number of edges read in one step.
        named: The seeds to which walks lead back where there is a choice (`Tree.named`).
        check: Called before each step; raises to end the work.
    """
    start = np.array(sorted(weights), dtype=np.int32)
    nobody = np.full(len(start), -1, dtype=np.int32)
    at = Walkers(start, np.array([weights[int(key)] for key in start], dtype=np.float64), nobody)
    tree = Tree(start, nobody, np.isin(start, list(named)))
    reached, kept = [start], [at.weights]
    for _ in range(steps):
        check()
        at = _step(adjacency, at, damping, edges)
        if not len(at.keys):
            break
        tree = tree.grown(at)
        reached.append(at.keys)
        kept.append(at.weights)
    places = np.searchsorted(tree.keys, np.concatenate(reached))
    sums: Weights = np.bincount(places, np.concatenate(kept), minlength=len(tree.keys)).astype(np.float64)
    return Reached(tree, sums * (1.0 - damping))


def degrees_of(adjacency: Adjacency, keys: Keys) -> NDArray[np.int64]:
    """Return the number of edges of each node, in both directions."""
    degrees = np.zeros(len(keys), dtype=np.int64)
    for direction in DIRECTIONS:
        starts, _ = adjacency.whole(direction)
        degrees += starts[keys + 1] - starts[keys]
    return degrees


def _step(adjacency: Adjacency, at: Walkers, damping: float, edges: int) -> Walkers:
    """Return the weight after one more step."""
    degrees = degrees_of(adjacency, at.keys)
    going = (degrees > 0) & (at.weights * edges >= degrees)
    keys, each = at.keys[going], damping * at.weights[going] / degrees[going]
    targets, carried, sources = [], [], []
    for direction in DIRECTIONS:
        starts, neighbours = adjacency.whole(direction)
        first, counts = starts[keys], starts[keys + 1] - starts[keys]
        targets.append(neighbours[ranges(first, counts)])
        carried.append(np.repeat(each, counts))
        sources.append(np.repeat(keys, counts))
    return _gathered(np.concatenate(targets), np.concatenate(carried), np.concatenate(sources))


def ranges(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers of all half-open ranges [first, first + count), one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    offsets: NDArray[np.int64] = np.repeat(first - (ends - counts), counts)
    return offsets + np.arange(total, dtype=np.int64)


def _gathered(targets: Keys, carried: Weights, sources: Keys) -> Walkers:
    """Return the sum of the weight at each target; its parent is the source with the most weight (first of equals)."""
    order = np.lexsort((sources, targets))
    targets, carried, sources = targets[order], carried[order], sources[order]
    pairs = np.flatnonzero(np.append(True, (np.diff(targets) != 0) | (np.diff(sources) != 0))[: len(targets)])
    if not len(pairs):
        return Walkers(targets, carried, sources)
    targets, carried, sources = targets[pairs], np.add.reduceat(carried, pairs), sources[pairs]
    order = np.lexsort((sources, -carried, targets))
    targets, carried, sources = targets[order], carried[order], sources[order]
    firsts = np.flatnonzero(np.append(True, np.diff(targets) != 0))
    return Walkers(targets[firsts], np.add.reduceat(carried, firsts), sources[firsts])
