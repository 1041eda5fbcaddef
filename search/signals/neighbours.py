"""Signals of the neighbourhood: how near a candidate is to names and documents that fit the question.

Nodes that fit are seeds: nodes that the question names, and the first nodes of the lists by words and by vectors. A
candidate gets the best weight and the sum of the weights of the seeds at one hop and at two hops. Paths through a hub
count less: in the sums, weight is divided among the edges of the seed, and by the logarithm of the degree of the node
in the middle (Adamic and Adar, 2003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS
from search.interfaces import Adjacency, Keys
from search.language.entities import Entity
from search.signals.lists import Head
from search.signals.table import Column

MOST_EDGES = 64
"""Edges of a node and a direction that are read; of a node with more, edges at equal distances are read."""
KINDS = ("named", "words", "vectors")
"""Kinds of seeds."""
MOST_SEEDS = 50
_WORDS, _VECTORS = ("bm25", "text/bm25"), ("vss", "document/dense")
"""Names of the lists of documents by words and by vectors: those of the hybrid retrieval and those of the fields."""

T = TypeVar("T", bound=np.generic)
Floats = NDArray[np.float32]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NeighbourSeeds:
    """`keys` are sorted; `weights` has the shape (seeds, kinds). `names` has a bit for each entity that is named."""

    keys: Keys
    weights: Floats
    names: Places


@dataclass(frozen=True, eq=False)
class Near:
    """Neighbours of some nodes, as compressed rows: those of node `i` are `far[starts[i]:starts[i + 1]]`.

    `degrees` are the true numbers of neighbours of the nodes, also of nodes whose edges were not all read.
    """

    starts: Places
    far: Keys
    degrees: Places

    @property
    def owner(self) -> Places:
        """The place of the node of each edge."""
        return np.repeat(np.arange(len(self.degrees)), np.diff(self.starts))

    def highest(self, values: NDArray[T]) -> NDArray[T]:
        """Return the highest value among each node's neighbours; 0 for a node without neighbours.

        `values` has one row for each edge, and may have several columns.
        """
        return self._reduced(np.maximum, values)

    def total(self, values: NDArray[T]) -> NDArray[T]:
        """Return the sum of the values over each node's neighbours; otherwise as `highest`."""
        return self._reduced(np.add, values)

    def union(self, bits: Places) -> Places:
        """Return the bits that any of each node's neighbours has."""
        return self._reduced(np.bitwise_or, bits)

    def _reduced(self, how: np.ufunc, values: NDArray[T]) -> NDArray[T]:
        found = np.zeros((len(self.degrees), *values.shape[1:]), dtype=values.dtype)
        filled = np.flatnonzero(np.diff(self.starts))
        if len(filled):
            found[filled] = how.reduceat(values, self.starts[filled], axis=0)
        return found


def near(keys: Keys, adjacency: Adjacency) -> Near:
    """Return the neighbours of nodes over all relations and both directions, at most `MOST_EDGES` a direction."""
    parts, counts, degrees = [], [], np.zeros(len(keys), dtype=np.int64)
    for direction in DIRECTIONS:
        starts, far = adjacency.whole(direction)
        first, held = starts[keys], starts[keys.astype(np.int64) + 1] - starts[keys]
        degrees += held
        read = np.minimum(held, MOST_EDGES)
        owner = np.repeat(np.arange(len(keys)), read)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(read) - read, read)
        parts.append(far[first[owner] + place * held[owner] // read[owner]])
        counts.append(owner)
    owners = np.concatenate(counts)
    order = np.argsort(owners, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(keys)))))
    return Near(starts, np.concatenate(parts)[order], degrees)


def seeds_of(named: Sequence[Entity], found: Sequence[Head]) -> NeighbourSeeds:
    """Return the nodes that fit the question by names, words or vectors; weights are between 0 and 1."""
    keys: list[Keys] = [np.array(entity.keys, dtype=np.int32) for entity in named]
    values: list[Floats] = [np.full(len(e.keys), e.sure / len(e.keys) ** 0.5, dtype=np.float32) for e in named]
    kinds = [0] * len(named)
    for head in found:
        if head.name in _WORDS or head.name in _VECTORS:
            keys.append(head.keys[:MOST_SEEDS])
            values.append(head.spread[:MOST_SEEDS])
            kinds.append(1 if head.name in _WORDS else 2)
    if not keys:
        return NeighbourSeeds(np.empty(0, np.int32), np.empty((0, len(KINDS)), np.float32), np.empty(0, np.int64))
    every, places = np.unique(np.concatenate(keys), return_inverse=True)
    weights = np.zeros((len(every), len(KINDS)), dtype=np.float32)
    names = np.zeros(len(every), dtype=np.int64)
    first = 0
    for at, (kind, own) in enumerate(zip(kinds, values, strict=True)):
        mine = places[first : first + len(own)]
        first += len(own)
        np.maximum.at(weights[:, kind], mine, own)
        if kind == 0:
            np.bitwise_or.at(names, mine, 1 << min(at, 62))
    return NeighbourSeeds(every, weights, names)


def neighbour_signals(
    named: Sequence[Entity], found: Sequence[Head], keys: Keys, around: Near, adjacency: Adjacency
) -> dict[str, Column]:
    """Return how the candidates and their neighbours fit, and how many neighbours they have."""
    seeds = seeds_of(named, found)
    reached, best, sums, names = _forward(seeds, adjacency)
    one = _looked_up(seeds.keys, seeds.weights, around.far)
    two_best = _looked_up(reached, best, around.far)
    two_sums = _looked_up(reached, sums, around.far) / np.log2(2.0 + _degrees(around.far, adjacency))[:, None]
    bests = around.highest(np.concatenate([one, two_best], axis=1))
    totals = around.total(np.concatenate([one, two_sums], axis=1))
    columns: dict[str, Column] = {"degree": np.log1p(around.degrees).astype(np.float32)}
    columns["named:itself"] = _looked_up(seeds.keys, seeds.weights, keys)[:, 0]
    for hops, first in (("1 hop", 0), ("2 hops", len(KINDS))):
        for at, kind in enumerate(KINDS):
            columns[f"{kind}:best at {hops}"] = bests[:, first + at]
            columns[f"{kind}:sum at {hops}"] = totals[:, first + at]
    bits = around.union(_looked_up(seeds.keys, seeds.names, around.far))
    columns["names at 1 hop"] = np.bitwise_count(bits).astype(np.float32)
    bits |= around.union(_looked_up(reached, names, around.far))
    columns["names at 2 hops"] = np.bitwise_count(bits).astype(np.float32)
    return columns


def _degrees(keys: Keys, adjacency: Adjacency) -> Floats:
    """Return the number of edges of each node, both directions together."""
    wide = keys.astype(np.int64)
    rows = [adjacency.whole(direction)[0] for direction in DIRECTIONS]
    return sum((starts[wide + 1] - starts[wide] for starts in rows), np.zeros(len(keys), np.int64)).astype(np.float32)


def _forward(seeds: NeighbourSeeds, adjacency: Adjacency) -> tuple[Keys, Floats, Floats, Places]:
    """Return the neighbours of the seeds: keys, best weight, sum of weights over square roots of degrees, names."""
    around = near(seeds.keys, adjacency)
    order = np.argsort(around.far, kind="stable")
    far, owner = around.far[order], around.owner[order]
    if not len(far):
        empty = np.empty((0, len(KINDS)), np.float32)
        return far, empty, empty, np.empty(0, np.int64)
    begins = np.flatnonzero(np.concatenate(([True], far[1:] != far[:-1])))
    weights = seeds.weights[owner]
    each = weights / np.sqrt(np.maximum(around.degrees, 1)).astype(np.float32)[owner, None]
    return (
        far[begins], np.maximum.reduceat(weights, begins, axis=0), np.add.reduceat(each, begins, axis=0),
        np.bitwise_or.reduceat(seeds.names[owner], begins),
    )  # fmt: skip


def _looked_up(known: Keys, values: NDArray[T], keys: Keys) -> NDArray[T]:
    """Return the row of `values` of each key, 0 for a key that is not known; `known` is sorted."""
    if not len(known):
        return np.zeros((len(keys), *values.shape[1:]), dtype=values.dtype)
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found = values[at]
    found[known[at] != keys] = 0
    return found
