"""Ranked lists of candidates. Equal scores are always ordered by the cosine of the question and the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import eq
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
Numbers = NDArray[np.float64]

RECORDED_ENTRIES = 100
"""Number of entries at the top of a list that a trace keeps; mining, tuning and attribution read them."""

Cosines = Callable[[Sequence[int]], Mapping[int, float]]
"""A function: keys → {key: cosine of the question and the node's document}; nodes without a document are absent."""


class Candidate(NamedTuple):
    """A node that may be an answer: its key, and the score that decides its place in the list."""

    key: int
    score: float


class CandidateArrays(Sequence[Candidate]):
    """Candidates in an order, as the arrays `node_keys` and `scores`; a `Candidate` is made when it is read.

    A hub has tens of thousands of them, of which a search reads the first few one by one.
    """

    __slots__ = ("node_keys", "scores")

    def __init__(self, keys: Keys, scores: Numbers) -> None:
        self.node_keys, self.scores = keys, scores

    @classmethod
    def of(cls, several: Sequence[Candidate]) -> CandidateArrays:
        """Return the candidates as arrays."""
        if isinstance(several, cls):
            return several
        keys = np.fromiter((key for key, _ in several), np.int64, len(several))
        return cls(keys, np.fromiter((score for _, score in several), np.float64, len(several)))

    def __len__(self) -> int:
        return len(self.node_keys)

    @overload
    def __getitem__(self, at: int) -> Candidate: ...
    @overload
    def __getitem__(self, at: slice) -> CandidateArrays: ...
    def __getitem__(self, at: int | slice) -> Candidate | CandidateArrays:
        if isinstance(at, slice):
            return CandidateArrays(self.node_keys[at], self.scores[at])
        return Candidate(int(self.node_keys[at]), float(self.scores[at]))

    def __iter__(self) -> Iterator[Candidate]:
        return map(Candidate, self.node_keys.tolist(), self.scores.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Scores(Mapping[int, float]):
    """Key → score, as two arrays in the order of the keys, which are distinct."""

    __slots__ = ("numbers", "order")

    def __init__(self, order: Keys, numbers: Numbers) -> None:
        self.order, self.numbers = order, numbers

    @classmethod
    def of(cls, scores: Mapping[int, float]) -> Scores:
        """Return the scores of a mapping as arrays."""
        if isinstance(scores, cls):
            return scores
        return cls.unordered(
            np.fromiter(scores, np.int64, len(scores)), np.fromiter(scores.values(), np.float64, len(scores))
        )

    @classmethod
    def unordered(cls, keys: Keys, numbers: Numbers) -> Scores:
        """Return the scores of distinct keys in any order."""
        order = np.argsort(keys)
        return cls(keys[order], numbers[order])

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[int]:
        return iter(self.order.tolist())

    def __getitem__(self, key: int) -> float:
        at = int(self.order.searchsorted(key))
        if at == len(self.order) or self.order[at] != key:
            raise KeyError(key)
        return float(self.numbers[at])

    def known(self, keys: Keys) -> Numbers:
        """Return the score of each key, NaN where there is none."""
        if not len(self.order):
            return np.full(len(keys), np.nan)
        places = np.minimum(self.order.searchsorted(keys), len(self.order) - 1)
        return np.where(self.order[places] == keys, self.numbers[places], np.nan)


@dataclass(frozen=True)
class Ranking:
    """Candidates from best to worst, each once; it may be empty.

    `total` is the number of candidates before the list was cut, so that a reader of a trace knows how many are missing.
    """

    candidates: Sequence[Candidate] = ()
    total: int = 0

    @classmethod
    def of(cls, scores: Mapping[int, float], cosines: Cosines, depth: int | None = None) -> Self:
        """Return the ranking of `scores` (key → score), best first.

        Equal scores are ordered by the cosine of the question and the node's document (nodes without a document come
        last), then by key, which is the bytewise order of ids. `cosines` is called at most once, with the keys that
        have equal scores; without equal scores it is not called. `depth` is the largest length (None: no limit).
        """
        scored = Scores.of(scores)
        # Stable: equal scores stay in the order of their keys.
        order = np.argsort(-scored.numbers, kind="stable")
        keys, numbers = scored.order[order], scored.numbers[order]
        level = _level(numbers, len(numbers) if depth is None else depth)
        if len(level):
            equal = keys[level]
            known = cosines(equal.tolist())
            if known:
                lowest = float("-inf")
                found = np.fromiter((known.get(key, lowest) for key in equal.tolist()), np.float64, len(equal))
                keys[level] = equal[np.lexsort((equal, -found, -numbers[level]))]
        return cls(CandidateArrays(keys[:depth], numbers[:depth]), len(keys))

    @classmethod
    def in_order(cls, candidates: Iterable[Candidate], total: int | None = None) -> Ranking:
        """Return a ranking of the candidates in the given order; a repeated key is kept only at its first place."""
        kept: dict[int, Candidate] = {}
        for candidate in candidates:
            kept.setdefault(candidate.key, candidate)
        return cls(tuple(kept.values()), len(kept) if total is None else total)

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    @property
    def ranking(self) -> Ranking:
        """The list itself, so that `Ranking` and `Fusion` can be read with the same attribute."""
        return self

    @property
    def keys(self) -> tuple[int, ...]:
        """Keys from best to worst."""
        return tuple(self.arrays.node_keys.tolist())

    @cached_property
    def arrays(self) -> CandidateArrays:
        """The candidates as arrays."""
        return CandidateArrays.of(self.candidates)

    @cached_property
    def ranks(self) -> Mapping[int, int]:
        """Rank of each key, from 1."""
        return dict(zip(self.keys, range(1, len(self) + 1), strict=True))

    @cached_property
    def scores(self) -> Mapping[int, float]:
        """Score of each key."""
        return Scores.unordered(self.arrays.node_keys, self.arrays.scores)

    def top(self, depth: int) -> Ranking:
        """Return the best `depth` candidates with the same `total`."""
        return Ranking(self.candidates[:depth], self.total)

    def to_json(self) -> dict[str, Any]:
        """Return the first 100 candidates as parallel lists of keys and scores, and `total`."""
        head = CandidateArrays.of(self.candidates[:RECORDED_ENTRIES])
        return {"total": self.total, "keys": head.node_keys.tolist(), "scores": head.scores.tolist()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], key_of: Mapping[str, int] | None = None) -> Ranking:
        """Return the ranking that `to_json` wrote. A recorded list has ids instead of keys: `key_of` maps id → key."""
        pairs = zip(keys_in(data, key_of), data["scores"], strict=True)
        return cls(tuple(Candidate(key, score) for key, score in pairs), data["total"])


@dataclass(frozen=True)
class NotedRanking(Ranking):
    """A ranking with a sentence about how it was made, which pages show beside the step."""

    detail: str = ""


def by_key(keys: Sequence[int]) -> Mapping[int, float]:
    """Return no cosines, so that equal scores are ordered by key; for lists whose scores are already these cosines."""
    return {}


def in_order_of(cosines: Mapping[int, float], keys: Iterable[int]) -> list[int]:
    """Return keys with equal scores in order: by falling cosine (keys without a cosine last), then by key."""
    lowest = float("-inf")
    return sorted(keys, key=lambda key: (-cosines.get(key, lowest), key))


def keys_in(data: Mapping[str, Any], key_of: Mapping[str, int] | None) -> list[int]:
    """Return the keys of a written list; with `key_of` (id → key), the list is a recorded one with ids."""
    return list(data["keys"]) if key_of is None else [key_of[identifier] for identifier in data["ids"]]


def _level(numbers: Numbers, depth: int) -> NDArray[np.intp]:
    """Return the places, in falling order of scores, of those with equal scores that begin before `depth`."""
    begins = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])) if len(numbers) else np.empty(0, np.intp)
    sizes = np.diff(np.append(begins, len(numbers)))
    tied = (sizes > 1) & (begins < depth)
    return np.flatnonzero(np.repeat(tied, sizes))
