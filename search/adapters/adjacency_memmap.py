"""The graph of a release in memory-mapped arrays: neighbours of sets of nodes, with counts that need no edge read.

For each direction, three arrays hold every edge, sorted by (node, relation, neighbour). A *segment* is the run of edges
of one node over one relation. Its code is `node * relations + relation`, so that binary search finds the segments of a
node, and those of a set of nodes over one relation. Memory grows with the number of edges and does not depend on the
number of relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters import edge_values_memmap
from search.adapters.array_writer import ArrayWriter
from search.adapters.edge_values_memmap import MemmapEdgeValues
from search.domain.graph import DIRECTIONS, Direction, Schema
from search.interfaces import Keys
from search.key_sets import distinct
from search.spreading import ranges

Longs = NDArray[np.int64]
EdgeBlock = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]
"""Relation code, near node and far node of each edge of a block."""


def build(
    directory: Path,
    *,
    nodes: int,
    types: NDArray[np.int16],
    relations: int,
    edges: Callable[[Direction], Iterable[EdgeBlock]],
) -> None:
    """Write the arrays of a graph into the existing folder `directory`.

    `types` holds the type code of each key. `edges` returns all edges of a direction in blocks, each one an array of
    relations, of near nodes and of far nodes; they are sorted by near node, relation and far node. Parallel edges of
    one relation count once. Raises ValueError if an edge refers to a node or a relation that does not exist.
    """
    if len(types) != nodes:
        raise ValueError(f"{len(types)} types for {nodes} entities.")
    np.save(directory / "types.npy", np.asarray(types, dtype=np.int16))
    for direction in DIRECTIONS:
        names = ("relation", "source", "target") if direction == "out" else ("relation", "target", "source")
        bounds = dict(zip(names, (relations, nodes, nodes), strict=True))
        _write(directory, direction, (_codes(block, bounds) for block in edges(direction) if len(block[0])))


def _codes(block: EdgeBlock, bounds: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the segment and the far node of each edge of a block; ValueError for an edge of something unknown.

    `bounds` has the number of relations, then that of nodes by the name of either end.
    """
    for codes, (name, bound) in zip(block, bounds.items(), strict=True):
        if int(codes.min()) < 0 or int(codes.max()) >= bound:
            raise ValueError(f"A relation has a {name} outside 0 … {bound - 1}.")
    relation, near, far = block
    return near.astype(np.int64) * bounds["relation"] + relation, far.astype(np.int32)


def _write(directory: Path, direction: str, blocks: Iterable[tuple[NDArray[np.int64], NDArray[np.int32]]]) -> None:
    written, last_code, last_far = 0, -1, -1
    with (
        ArrayWriter(directory / f"{direction}_segments.npy", np.int64) as segments,
        ArrayWriter(directory / f"{direction}_starts.npy", np.int64) as starts,
        ArrayWriter(directory / f"{direction}_neighbours.npy", np.int32) as neighbours,
    ):
        for code, far in blocks:
            begins = np.diff(code, prepend=last_code) != 0
            kept = begins | (np.diff(far, prepend=last_far) != 0)
            last_code, last_far = code[-1], far[-1]
            begins, code, far = begins[kept], code[kept], far[kept]
            segments.add(code[begins])
            starts.add(written + np.flatnonzero(begins))
            neighbours.add(far)
            written += len(far)
        starts.add(np.array([written]))


@dataclass(frozen=True)
class MemmapAdjacency:
    """The arrays that `build` wrote (interfaces.Adjacency); opened on first use, read-only, shared by threads."""

    directory: Path
    schema: Schema
    _single: dict[tuple[int, int, Direction], bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def types(self) -> NDArray[np.int16]:
        """Type code of each key, shape (nodes,)."""
        return _open(self.directory / "types.npy")

    def neighbours(self, keys: Keys, relation: int, direction: Direction) -> Keys:
        """Return the distinct neighbours of a set of nodes over one relation (its code), as sorted keys."""
        first, last = self._segments_of(keys, relation, direction)
        far = self._arrays[direction][2]
        if len(first) == 1:
            return np.array(far[first[0] : last[0]])
        return distinct(far[ranges(first, last - first)], self.size)

    def part(self, key: int, relation: int, direction: Direction, first: int, most: int) -> Keys:
        """Return up to `most` neighbours of one node from position `first` in the order of keys; reads no other."""
        start, end = self._segments_of(np.array([key], dtype=np.int32), relation, direction)
        if not len(start):
            return np.empty(0, dtype=np.int32)
        low = min(int(start[0]) + first, int(end[0]))
        return np.array(self._arrays[direction][2][low : min(low + most, int(end[0]))])

    def walk(
        self, keys: Keys, relation: int | None, direction: Direction, most: int
    ) -> tuple[NDArray[np.int64], Keys] | None:
        """Return the position among `keys` and the far node of every edge of a relation; None for more than `most`."""
        first, last = self._edges_of(keys, relation, direction)
        lengths = last - first
        if int(lengths.sum()) > most:
            return None
        return np.repeat(np.arange(len(lengths)), lengths), self._arrays[direction][2][ranges(first, lengths)]

    def edges(self, keys: Keys, relation: int | None, direction: Direction) -> int:
        """Return the number of edges of a relation from these keys; a repeated key counts each time."""
        first, last = self._edges_of(keys, relation, direction)
        return int((last - first).sum())

    def joined(self, near: Keys, far: Keys, relation: int, direction: Direction) -> NDArray[np.bool_]:
        """Return for each pair of keys whether an edge of a relation leads from `near` to `far`, by binary search."""
        return _find(self._arrays[direction][2], far, *self._edges_of(near, relation, direction))[1]

    def degree(self, key: int, relation: int, direction: Direction) -> int:
        """Return the number of edges of a relation that a node has in one direction."""
        first, last = self._segments_of(np.array([key], dtype=np.int32), relation, direction)
        return int((last - first).sum())

    def degrees(self, keys: Keys, relation: int, direction: Direction) -> NDArray[np.int64]:
        """Return the number of edges of a relation that each of the nodes has in one direction."""
        first, last = self._edges_of(keys, relation, direction)
        found: NDArray[np.int64] = last - first
        return found

    def has_edges(self, keys: Keys) -> list[tuple[int, Direction]]:
        """Return the (relation, direction) pairs over which any of the nodes has an edge, `out` before `in`."""
        return list(self.counts(keys))

    def counts(self, keys: Keys) -> dict[tuple[int, Direction], int]:
        """Return (relation, direction) → number of edges of a set of nodes; pairs without edges are absent."""
        return self.counts_of([np.asarray(keys)])[0]

    def counts_of(self, sets: Sequence[Keys]) -> list[dict[tuple[int, Direction], int]]:
        """Return `counts` of each of several sets of nodes, with a few operations on arrays for all of them."""
        found: list[dict[tuple[int, Direction], int]] = [{} for _ in sets]
        if not sets:
            return found
        keys = np.concatenate(sets)
        owner = np.repeat(np.arange(len(sets)) * self._relations, [len(keys) for keys in sets])
        for direction in DIRECTIONS:
            segments, starts, _ = self._arrays[direction]
            first = self._first[direction][keys].astype(np.int64)
            several = self._first[direction][keys + 1] - first
            chosen = ranges(first, several)
            place = np.repeat(owner, several) + segments[chosen] % self._relations
            edges = np.bincount(place, weights=starts[chosen + 1] - starts[chosen])
            there = np.flatnonzero(edges)
            for at, number in zip(there.tolist(), edges[there].tolist(), strict=True):
                found[at // self._relations][at % self._relations, direction] = int(number)
        return found

    def first_of(self, first: int, last: int, most: int) -> tuple[Keys, NDArray[np.int64], Keys]:
        """Return the first neighbours of each node with a key in [first, last); see the protocol."""
        codes, keys = [], []
        for direction in DIRECTIONS:
            segments, starts, neighbours = self._arrays[direction]
            low, high = self._first[direction][[first, last]]
            counts = np.minimum(np.diff(starts[low : high + 1]), most)
            codes.append(np.repeat(segments[low:high], counts))
            keys.append(neighbours[ranges(starts[low:high], counts)])
        code, far = np.concatenate(codes), np.concatenate(keys)
        order = np.lexsort((far, code))
        code, far = code[order], far[order]
        fresh = (np.diff(code, prepend=-1) != 0) | (np.diff(far, prepend=-1) != 0)
        code, far = code[fresh], far[fresh]
        kept = np.arange(len(code)) - np.searchsorted(code, code) < most
        owners, relations = np.divmod(code[kept], self._relations)
        return owners.astype(np.int32), relations, far[kept]

    def of_types(self, codes: Sequence[int]) -> Keys:
        """Return the sorted keys of all nodes of these types; those of one type are not copied."""
        if len(codes) == 1:
            return self._of_type[codes[0]]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int32), *(self._of_type[code] for code in set(codes))]))

    def is_single(self, code: int, relation: int, direction: Direction) -> bool:
        """Return whether no node of a type has several neighbours over a relation; counted once for a release."""
        key = code, relation, direction
        if key not in self._single:
            degrees = self.degrees(self.of_types([code]), relation, direction)
            self._single[key] = int(degrees.max(initial=0)) <= 1
        return self._single[key]

    @cached_property
    def _of_type(self) -> list[Keys]:
        """The keys of each type, by code: the nodes in the order of their types, cut where a type begins."""
        order = np.argsort(self.types, kind="stable").astype(np.int32)
        order.flags.writeable = False
        codes = range(len(self.schema.node_types))
        return np.split(order, np.searchsorted(self.types[order], codes[1:])) if codes else []

    def values_of(self, relation: int, field: str) -> MemmapEdgeValues | None:
        """Return the values that a field of a relation's edges has; None if there are no files of it."""
        return self._edge_values.get((relation, field))

    @cached_property
    def _edge_values(self) -> dict[tuple[int, str], MemmapEdgeValues]:
        return edge_values_memmap.read(self.directory, self.size)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.types)

    def whole(self, direction: Direction) -> tuple[NDArray[np.int64], Keys]:
        """Return the whole graph in one direction as compressed rows; see the protocol."""
        return self._rows[direction], self._arrays[direction][2]

    @cached_property
    def _rows(self) -> dict[Direction, NDArray[np.int64]]:
        """Where the edges of each node begin, whatever their relation: they lie side by side already."""
        return {direction: starts[self._first[direction]] for direction, (_, starts, _) in self._arrays.items()}

    @cached_property
    def _first(self) -> dict[Direction, NDArray[np.int32]]:
        """The place of the first segment of each node, and behind the last node the number of all.

        A search in all segments instead reads memory all over them: from 20,000 nodes on it takes several times longer.
        """
        codes = np.arange(self.size + 1, dtype=np.int64) * self._relations
        return {
            direction: np.searchsorted(segments, codes).astype(np.int32)
            for direction, (segments, _, _) in self._arrays.items()
        }

    @cached_property
    def _relations(self) -> int:
        return max(len(self.schema.relations), 1)

    @cached_property
    def _arrays(self) -> dict[Direction, tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]]:
        return {
            direction: (
                _open(self.directory / f"{direction}_segments.npy"),
                _open(self.directory / f"{direction}_starts.npy"),
                _open(self.directory / f"{direction}_neighbours.npy"),
            )
            for direction in DIRECTIONS
        }

    def _edges_of(
        self, keys: Keys, relation: int | None, direction: Direction
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the last + 1 position of the edges of each key; equal for a key without edges."""
        starts = self._arrays[direction][1]
        if relation is None:
            first = self._first[direction]
            return starts[first[keys]], starts[first[keys + 1]]
        at, held = self._segment_of(keys, relation, direction)
        # `starts` has one entry more than there are segments, so a place behind the last one is a place in it too.
        return starts[at], starts[at + held]

    def _segments_of(
        self, keys: Keys, relation: int, direction: Direction
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the last + 1 position of the edges, for those of the keys that have any."""
        at, held = self._segment_of(keys, relation, direction)
        starts, at = self._arrays[direction][1], at[held]
        return starts[at], starts[at + 1]

    def _segment_of(self, keys: Keys, relation: int, direction: Direction) -> tuple[Longs, NDArray[np.bool_]]:
        """Return the place of each key's segment of a relation, or where it would be, and whether it is there."""
        first, keys = self._first[direction], np.asarray(keys)
        code = keys.astype(np.int64) * self._relations + relation
        return _find(self._arrays[direction][0], code, first[keys], first[keys + 1])


def _find(
    ordered: NDArray[Any], wanted: NDArray[Any], low: NDArray[Any], end: NDArray[Any]
) -> tuple[Longs, NDArray[np.bool_]]:
    """Return for each number its place between two places of an array that is ordered there, and whether it is there.

    All are looked for at once, by halving the stretches.
    """
    if not len(ordered):
        return low, np.zeros(len(low), dtype=bool)
    last, high = len(ordered) - 1, end
    for _ in range(int((end - low).max(initial=0)).bit_length()):
        middle = (low + high) // 2
        below = (ordered[np.minimum(middle, last)] < wanted) & (low < high)
        low, high = np.where(below, middle + 1, low), np.where(below, high, np.maximum(middle, low))
    found: NDArray[np.bool_] = (low < end) & (ordered[np.minimum(low, last)] == wanted)
    return low, found


def _open(path: Path) -> NDArray[Any]:
    """Map an array into memory (an empty array is loaded, because an empty file cannot be mapped).

    Returned as a plain ndarray, which is faster to index than a memmap.
    """
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array.view(np.ndarray)
