"""The fixed point of triplets: the largest sets of nodes in which every triplet has an edge for every node.

AF-Retriever, algorithm 2, intersects the candidates of both ends of a triplet with the neighbours of the other end, and
repeats this until nothing changes. The result does not depend on the order of the triplets. Here the edges of a triplet
are read from the end that has fewer of them, in blocks, so that memory is bounded by the edges of a block and time can
be checked between blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS, OPPOSITE, Direction
from search.domain.triplets import Triplet
from search.interfaces import Adjacency, Keys

BLOCK = 1_000_000
"""Edges that are read at once; a node with more edges is a block of its own."""
COUNTING = 4
"""Edges that could be read in the time in which the edges of one node over one relation are counted."""
MARKED_FROM = 1 / 32
"""Share of all nodes from which a mark for every node costs less than sorting or looking up keys."""
Way = tuple[int, Direction]
"""Code of a relation and the direction in which it is walked from the head."""


def fixed_point(
    adjacency: Adjacency,
    triplets: Sequence[Triplet],
    sets: Mapping[str, Keys],
    of_type: Callable[[str], Keys],
    check: Callable[[], None],
) -> dict[str, Keys]:
    """Return symbol → sorted keys at the fixed point, for every symbol of the triplets.

    `sets` holds the sorted keys of symbols that are restricted from the start. Any other symbol starts with
    `of_type(symbol)`, which is called only if no restricted symbol reaches it; then the symbol's types are applied to
    what its neighbours allow. `check` is called before each block of edges and may raise.
    """
    return _FixedPoint(adjacency, triplets, dict(sets), of_type, check).run()


class _FixedPoint:
    """The sets of the symbols while they shrink; an instance is used once."""

    def __init__(
        self,
        adjacency: Adjacency,
        triplets: Sequence[Triplet],
        sets: dict[str, Keys],
        of_type: Callable[[str], Keys],
        check: Callable[[], None],
    ) -> None:
        self.adjacency = adjacency
        self.triplets = list(dict.fromkeys(triplets))
        self.sets = sets
        self.of_type = of_type
        self.check = check
        self.typed: dict[str, Keys] = {}

    def run(self) -> dict[str, Keys]:
        """Return the sets at the fixed point."""
        changed = True
        while changed:
            changed = False
            for triplet in self._in_order():
                changed |= self._revise(triplet)
        return {name: self.sets[name] for t in self.triplets for name in (t.head, t.tail)}

    def _in_order(self) -> Iterator[Triplet]:
        """Yield every triplet once, always one of which an end is restricted, smallest end first.

        If there is none, a symbol of the next triplet is restricted to its types.
        """
        waiting = list(self.triplets)
        while waiting:
            waiting.sort(key=self._smallest)
            triplet = waiting.pop(0)
            if triplet.head not in self.sets and triplet.tail not in self.sets:
                heads, tails = self._all_of(triplet.head), self._all_of(triplet.tail)
                name, keys = (triplet.head, heads) if len(heads) <= len(tails) else (triplet.tail, tails)
                self.sets[name] = keys
            yield triplet

    def _smallest(self, triplet: Triplet) -> float:
        sizes = [len(self.sets[name]) for name in (triplet.head, triplet.tail) if name in self.sets]
        return min(sizes, default=float("inf"))

    def _all_of(self, name: str) -> Keys:
        if name not in self.typed:
            self.typed[name] = self.of_type(name)
        return self.typed[name]

    def _revise(self, triplet: Triplet) -> bool:
        """Keep at both ends the nodes with an edge to the other end; return whether a set changed."""
        ways = self._ways(triplet)
        near, far = triplet.head, triplet.tail
        if not self._is_cheaper(near, far, ways):
            near, far = far, near
            ways = _turned(ways)
        starts = self.sets[near]
        other = self.sets[far] if far in self.sets else self._all_of(far)
        kept_near = np.zeros(len(starts), dtype=bool)
        seen: Keys = np.empty(0, dtype=np.int32)
        for relation, way in ways:
            for first, last in self._blocks(starts, relation, way):
                walked = self.adjacency.walk(starts[first:last], relation, way, np.iinfo(np.int64).max)
                assert walked is not None
                there = among(walked[1], other, self.adjacency.size)
                kept_near[first + walked[0][there]] = True
                seen = distinct(np.concatenate((seen, walked[1][there])), self.adjacency.size)
        before = {name: len(self.sets[name]) if name in self.sets else -1 for name in (near, far)}
        if near == far:
            self.sets[near] = starts[kept_near & among(starts, seen, self.adjacency.size)]
        else:
            self.sets[near], self.sets[far] = starts[kept_near], seen
        return any(len(self.sets[name]) != size for name, size in before.items())

    def _ways(self, triplet: Triplet) -> list[Way]:
        schema = self.adjacency.schema
        if triplet.relation is None:
            codes: Sequence[int] = range(len(schema.relations))
        else:
            code = schema.relation_codes.get(triplet.relation)
            codes = [] if code is None else [code]
        directions: tuple[Direction, ...] = ("out",) if triplet.directed else DIRECTIONS
        return [(code, way) for code in codes for way in directions]

    def _is_cheaper(self, near: str, far: str, ways: Sequence[Way]) -> bool:
        """Return whether a revision should read the edges of `near` and not those of `far`; one of them has a set.

        Edges are counted for the smaller set first, and for the larger one only if that is worth it: counting takes
        about as long as reading a few edges for each of its nodes.
        """
        if near not in self.sets or far not in self.sets:
            return near in self.sets
        swapped = len(self.sets[far]) < len(self.sets[near])
        small, large = (far, near) if swapped else (near, far)
        there = _turned(ways) if swapped else ways
        cost = self._cost(small, there)
        worth = cost > COUNTING * len(ways) * len(self.sets[large])
        is_smaller_better = not worth or cost <= self._cost(large, _turned(there))
        return is_smaller_better != swapped

    def _cost(self, name: str, ways: Sequence[Way]) -> int:
        """Return the number of edges that a revision would read from a symbol's nodes."""
        return sum(self.adjacency.edges(self.sets[name], relation, way) for relation, way in ways)

    def _blocks(self, keys: Keys, relation: int, way: Direction) -> Iterator[tuple[int, int]]:
        """Yield ranges of keys with at most `BLOCK` edges each, or a single key; keys without edges cost nothing."""
        self.check()
        if not len(keys):
            return
        ends: NDArray[np.int64] = np.cumsum(self.adjacency.degrees(keys, relation, way))
        first = 0
        while first < len(keys):
            done = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + BLOCK, side="right")))
            self.check()
            yield first, last
            first = last


def among(keys: Keys, held: Keys, size: int) -> NDArray[np.bool_]:
    """Return which keys of a graph of `size` nodes are in `held`, which is sorted and distinct.

    Few keys are looked up one by one; for many of them, a mark for every node costs less.
    """
    if not len(held):
        return np.zeros(len(keys), dtype=bool)
    found: NDArray[np.bool_]
    if len(keys) < MARKED_FROM * size:
        found = held[np.minimum(np.searchsorted(held, keys), len(held) - 1)] == keys
    else:
        marks = np.zeros(size, dtype=bool)
        marks[held] = True
        found = marks[keys]
    return found


def distinct(keys: Keys, size: int) -> Keys:
    """Return the distinct keys of a graph of `size` nodes, sorted."""
    if len(keys) < MARKED_FROM * size:
        return np.unique(keys)
    marks = np.zeros(size, dtype=bool)
    marks[keys] = True
    return np.flatnonzero(marks).astype(np.int32)


def _turned(ways: Sequence[Way]) -> list[Way]:
    """Return the same relations, walked from the other end."""
    return [(relation, OPPOSITE[way]) for relation, way in ways]
