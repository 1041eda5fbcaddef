"""What engines find, as arrays: the candidates of a plan, and the values that an order compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from search.domain.linking import Placed, Traversal
from search.domain.ordering import Value, Way, rank
from search.domain.ranking import CandidateArrays
from search.key_sets import ranked

Longs = NDArray[np.int64]


@dataclass(frozen=True)
class RankedValues:
    """The values that an order compares, one for each key.

    `ranks` are their positions among the `distinct` different values in ascending order, -1 where there is none. `read`
    returns the values at some positions.
    """

    ranks: Longs
    distinct: int
    read: Callable[[Longs], list[Value]]

    @classmethod
    def of(cls, values: Sequence[Value | None]) -> RankedValues:
        """Return the ranks of some values."""
        by_rank = {rank(value): value for value in values if value is not None}
        order = sorted(by_rank)
        place = {one: at for at, one in enumerate(order)}
        ranks = np.array([-1 if value is None else place[rank(value)] for value in values], dtype=np.int64)
        return cls(ranks, len(order), lambda some: [by_rank[order[at]] for at in some.tolist()])

    @classmethod
    def of_numbers(cls, numbers: Longs) -> RankedValues:
        """Return the ranks of whole numbers."""
        distinct, ranks = ranked(numbers)
        return cls(ranks, len(distinct), lambda some: distinct[some].tolist())

    def values(self) -> list[Value | None]:
        """Return all values, None where there is none."""
        known = [*self.read(np.arange(self.distinct)), None]
        return [known[at] for at in self.ranks.tolist()]

    def places(self, way: Way) -> Longs:
        """Return the place of each key. Places are counted from 1 without gaps; keys without a value share the last."""
        places = self.ranks + 1 if way == "asc" else self.distinct - self.ranks
        return np.where(self.ranks < 0, self.distinct + 1, places)

    def take(self, rows: Longs | NDArray[np.bool_]) -> RankedValues:
        """Return the values of some of the keys; the ranks stay those among all."""
        return replace(self, ranks=self.ranks[rows])


@dataclass(frozen=True)
class FoundCandidates:
    """The candidates of a plan, the best first, as the arrays `keys` and `scores`; see `Traversal`.

    `truncated` says that the engine stopped early, so that it does not know how many there are.
    """

    backend: str
    keys: Longs
    scores: NDArray[np.float64]
    truncated: bool = False
    query: str = ""
    note: str = ""

    @classmethod
    def of(cls, other: Traversal) -> FoundCandidates:
        """Return the candidates that another engine found."""
        found = CandidateArrays.of(other.candidates)
        return cls(other.backend, found.node_keys, found.scores, other.truncated, other.query, other.note)

    def take(self, rows: Longs | NDArray[np.bool_]) -> FoundCandidates:
        """Return some of the candidates, given by position or as a mask."""
        return replace(self, keys=self.keys[rows], scores=self.scores[rows])

    def also(self, told: str) -> FoundCandidates:
        """Return the candidates with a further line in the text of the executed query."""
        return replace(self, query=f"{self.query}\n{told}".strip())

    def traversal(self, index: int, rows: int, ranked: RankedValues | None, way: Way) -> Traversal:
        """Return the best `rows` candidates of the plan at an index, with their places if they are in an order."""
        candidates = CandidateArrays(self.keys[:rows], self.scores[:rows])
        left = len(self.keys) - len(candidates)
        placed = {}
        if ranked is not None:
            head = ranked.take(np.arange(len(candidates)))
            known = np.flatnonzero(head.ranks >= 0)
            values: list[Value | None] = [None] * len(candidates)
            for at, value in zip(known.tolist(), head.read(head.ranks[known]), strict=True):
                values[at] = value
            placed = dict(
                zip(candidates.node_keys.tolist(), map(Placed, values, head.places(way).tolist()), strict=True)
            )
        return Traversal(
            index, self.backend, candidates, self.truncated or left > 0, self.query, self.note, placed,
            unlisted=0 if self.truncated else left,
        )  # fmt: skip
