"""Several rankings of one question side by side: where each node stands in each of them, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

TOP = 10
"""Ranks that are compared as the first page of results (overlap@10)."""


@dataclass(frozen=True, slots=True)
class RankedNode:
    """A node and its rank, from 1, in each list; None in a list that does not have it."""

    id: str
    ranks: tuple[int | None, ...]

    @property
    def lists(self) -> tuple[int, ...]:
        """The indexes of the lists that have it."""
        return tuple(at for at, rank in enumerate(self.ranks) if rank is not None)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two lists agree.

    `same` nodes are in the first `depth` of both: `depth` is `TOP`, or the length of the longer list if that is less.
    `common` nodes are in both lists as a whole; `correlation` is Kendall's τ over their order, from -1 (reversed) to 1
    (equal), None if fewer than two nodes are common.
    """

    first: int
    second: int
    same: int
    depth: int
    common: int
    correlation: float | None

    @property
    def overlap(self) -> float | None:
        """The share of the first `depth` that is the same; None if both lists are empty."""
        return self.same / self.depth if self.depth else None


def rank_table(lists: Sequence[Sequence[str]]) -> tuple[RankedNode, ...]:
    """Return every node of the lists (ids, best first) once, in the order of its best rank, then of its first list."""
    places: dict[str, list[int | None]] = {}
    for at, ids in enumerate(lists):
        for rank, node in enumerate(ids, 1):
            places.setdefault(node, [None] * len(lists))[at] = rank
    found = [RankedNode(node, tuple(ranks)) for node, ranks in places.items()]
    return tuple(sorted(found, key=lambda one: (min(filter(None, one.ranks)), one.lists[0])))


def agreements(lists: Sequence[Sequence[str]], top: int = TOP) -> tuple[Agreement, ...]:
    """Return how far each pair of lists agrees, in the order of the lists."""
    return tuple(_agreement(first, second, lists, top) for first, second in combinations(range(len(lists)), 2))


def _agreement(first: int, second: int, lists: Sequence[Sequence[str]], top: int) -> Agreement:
    one, other = lists[first], lists[second]
    places = {node: rank for rank, node in enumerate(other)}
    common = [places[node] for node in one if node in places]
    same = len(set(one[:top]) & set(other[:top]))
    return Agreement(first, second, same, min(top, max(len(one), len(other))), len(common), kendall(common))


def kendall(ranks: Sequence[int]) -> float | None:
    """Return Kendall's τ between an order and the ranks that its members have in another order, without ties.

    It is the number of pairs in the same order less that of pairs in the opposite order, as a share of all pairs
    (Kendall 1938). None for fewer than two members.
    """
    pairs = [1 if before < after else -1 for before, after in combinations(ranks, 2)]
    return sum(pairs) / len(pairs) if pairs else None
