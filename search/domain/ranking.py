"""Ranked lists of candidates. Equal scores are always ordered by the cosine of the question and the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any, NamedTuple

RECORDED_ENTRIES = 100
"""Number of entries at the top of a list that a trace keeps; mining, tuning and attribution read them."""

Cosines = Callable[[Sequence[int]], Mapping[int, float]]
"""A function: keys → {key: cosine of the question and the node's document}; nodes without a document are absent."""


class Candidate(NamedTuple):
    """A node that may be an answer: its key, and the score that decides its place in the list.

    It is a tuple because a search creates tens of thousands of them, and a frozen dataclass takes several times longer.
    """

    key: int
    score: float


_candidate = partial(tuple.__new__, Candidate)
"""A function: pair of key and score → Candidate. A search calls it thousands of times; it takes a third of the time."""


def candidates_of(keys: Iterable[int], scores: Iterable[float]) -> tuple[Candidate, ...]:
    """Return a candidate for each key and its score."""
    return tuple(map(_candidate, zip(keys, scores, strict=True)))


@dataclass(frozen=True)
class Ranking:
    """Candidates from best to worst, each once; it may be empty.

    `total` is the number of candidates before the list was cut, so that a reader of a trace knows how many are missing.
    """

    candidates: tuple[Candidate, ...] = ()
    total: int = 0

    @classmethod
    def of(cls, scores: Mapping[int, float], cosines: Cosines, depth: int | None = None) -> Ranking:
        """Return the ranking of `scores` (key → score), best first.

        Equal scores are ordered by the cosine of the question and the node's document (nodes without a document come
        last), then by key, which is the bytewise order of ids. `cosines` is called at most once, with the keys that
        have equal scores; without equal scores it is not called. `depth` is the largest length (None: no limit).
        """
        order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
        if level := _level(order, scores, len(order) if depth is None else depth):
            known = cosines([key for group in level.values() for key in group])
            for start, group in level.items():
                order[start : start + len(group)] = in_order_of(known, group)
        head = order[:depth]
        return cls(candidates_of(head, map(scores.__getitem__, head)), len(order))

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
        return tuple(candidate.key for candidate in self.candidates)

    @cached_property
    def ranks(self) -> dict[int, int]:
        """Rank of each key, from 1."""
        return {candidate.key: rank for rank, candidate in enumerate(self.candidates, 1)}

    @cached_property
    def scores(self) -> dict[int, float]:
        """Score of each key."""
        return {candidate.key: candidate.score for candidate in self.candidates}

    def top(self, depth: int) -> Ranking:
        """Return the best `depth` candidates with the same `total`."""
        return Ranking(self.candidates[:depth], self.total)

    def to_json(self) -> dict[str, Any]:
        """Return the first 100 candidates as parallel lists of keys and scores, and `total`."""
        head = self.candidates[:RECORDED_ENTRIES]
        return {"total": self.total, "keys": [c.key for c in head], "scores": [c.score for c in head]}

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


def _level(order: Sequence[int], scores: Mapping[int, float], depth: int) -> dict[int, list[int]]:
    """Return {position of the first key: keys} for each group of equal scores that begins before `depth`."""
    found: dict[int, list[int]] = {}
    start = 0
    for _, group in groupby(order, key=scores.__getitem__):
        if start >= depth:
            break
        keys = list(group)
        if len(keys) > 1:
            found[start] = keys
        start += len(keys)
    return found
