"""Signals of the lists: score and rank of a candidate in each list that was fused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.domain.fusion import Fusion
from search.domain.ranking import Ranking
from search.domain.vector_kinds import RELATION
from search.fields.names import PAGERANK, PASSAGES, is_words
from search.interfaces import Adjacency, Keys
from search.signals.table import Column

AGREED_K = 10.0
"""Constant of the reciprocal ranks of `lists:place`."""
FUSED = "fused"
"""Name of the fused list among the lists."""


@dataclass(frozen=True, eq=False)
class Head:
    """The first candidates of a list, as arrays in the order of the list: keys, scores, type codes."""

    name: str
    keys: Keys
    scores: NDArray[np.float32]
    types: NDArray[np.int16]

    @classmethod
    def of(cls, name: str, ranking: Ranking, depth: int, types: NDArray[np.int16]) -> Head:
        """Return the first `depth` candidates; `types` holds the type code of every node."""
        head = ranking.candidates[:depth]
        pairs = np.array(head, dtype=np.float64).reshape(len(head), 2)
        keys = pairs[:, 0].astype(np.int32)
        return cls(name, keys, pairs[:, 1].astype(np.float32), types[keys])

    @property
    def relative(self) -> NDArray[np.float32]:
        """Scores divided by the largest absolute score."""
        return self.scores / max(float(np.abs(self.scores).max(initial=0.0)), 1e-9)

    @property
    def spread(self) -> NDArray[np.float32]:
        """Scores mapped so that the last of the list gets 0.1 and the first 1."""
        if not len(self.scores):
            return self.scores
        low, high = float(self.scores.min()), float(self.scores.max())
        return (0.1 + 0.9 * (self.scores - low) / max(high - low, 1e-9)).astype(np.float32)

    def ranks_in_type(self) -> NDArray[np.float32]:
        """Return the rank of each candidate among those of its type, from 1."""
        order = np.argsort(self.types, kind="stable")
        sorted_types = self.types[order]
        begins = np.concatenate(([True], sorted_types[1:] != sorted_types[:-1])) if len(order) else order.astype(bool)
        first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
        ranks = np.empty(len(order), dtype=np.float32)
        ranks[order] = np.arange(len(order)) - first + 1
        return ranks


def heads(fusion: Fusion, depth: int, adjacency: Adjacency) -> list[Head]:
    """Return the heads of all lists at any depth, and of the fused list.

    A list has the name that it has in `Fusion.leaves` or `Fusion.fused`.
    """
    lists = list(_lists(fusion))
    names = [path[-1] for path, listed in lists if isinstance(listed, Ranking)]
    types = adjacency.types
    found = []
    for path, listed in lists:
        short = isinstance(listed, Ranking) and names.count(path[-1]) == 1
        found.append(Head.of(path[-1] if short else "/".join(path), listed.ranking, depth, types))
    return [*found, Head.of(FUSED, fusion.ranking, depth, types)]


def candidates(found: list[Head]) -> Keys:
    """Return the keys that are in any of the lists, sorted."""
    return np.unique(np.concatenate([head.keys for head in found])) if found else np.empty(0, dtype=np.int32)


def list_signals(found: list[Head], keys: Keys) -> dict[str, Column]:
    """Return the signals of each list: score, score relative to the best, logarithm of the rank, rank in the type.

    `lists:place` is the place (its logarithm) by the sum of 1 / (`AGREED_K` + rank) over all lists.

    A list whose scores are divided by the best one has no `score`. The list of a single relation has `relative` alone:
    there may be many of them, each says little, and trees that may choose among many such signals rank worse.
    """
    columns: dict[str, Column] = {}
    holding, agreed = np.zeros(len(keys), dtype=np.float32), np.zeros(len(keys))
    for head in found:
        at = np.searchsorted(keys, head.keys)
        values = {
            "score": head.scores,
            "relative": head.relative,
            "rank": np.log(np.arange(1, len(at) + 1, dtype=np.float32)),
            "rank in type": np.log(head.ranks_in_type()),
        }
        for what, value in values.items():
            if what in _left_out(head.name):
                continue
            column = np.full(len(keys), np.nan, dtype=np.float32)
            column[at] = value
            columns[f"list:{head.name}:{what}"] = column
        if head.name == FUSED:
            continue
        holding[at] += 1
        if not _of_relation(head.name):
            agreed[at] += 1 / (AGREED_K + np.arange(1, len(at) + 1))
    order = np.lexsort((keys, -agreed))
    places = np.empty(len(keys), dtype=np.float32)
    places[order] = np.log(np.arange(1, len(keys) + 1))
    return {**columns, "lists": holding, "lists:place": places}


def _left_out(name: str) -> tuple[str, ...]:
    """Return the signals that a list does not have."""
    if _of_relation(name):
        return ("score", "rank", "rank in type")
    return ("score",) if is_words(name) or name in (PAGERANK, PASSAGES) else ()


def _of_relation(name: str) -> bool:
    return name.startswith(RELATION) and is_words(name)


def _lists(fusion: Fusion, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Ranking | Fusion]]:
    """Yield every list with its path; a fusion comes before its own lists."""
    for name, listed in fusion.rankings.items():
        yield (*path, name), listed
        if isinstance(listed, Fusion):
            yield from _lists(listed, (*path, name))
