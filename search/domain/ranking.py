"""Candidates in order. Equal scores are ordered by the cosine of the question and the document, everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

RECORDED_ENTRIES = 100
"""How many entries of a list a trace keeps at least: mining, tuning and attribution read them."""

Cosines = Callable[[Sequence[int]], Mapping[int, float]]
"""Keys → the cosine of the question and the document of each; a node without a document is absent."""


class Candidate(NamedTuple):
    """A node that may be an answer, by its key, with the score that put it where it stands.

    A search makes tens of thousands of them: tuples are made several times as fast as frozen data classes.
    """

    key: int
    score: float


@dataclass(frozen=True)
class Ranking:
    """Candidates from best to worst, each once; it may be empty.

    `total` is how many there were before the list was cut, so that a reader of a trace knows what is missing.
    """

    candidates: tuple[Candidate, ...] = ()
    total: int = 0

    @classmethod
    def of(cls, scores: Mapping[int, float], cosines: Cosines, depth: int | None = None) -> Ranking:
        """Rank `scores` (key → score), best first.

        Equal scores are ordered by the cosine of the question and the node's document (a node without one comes last),
        then by key, which is the bytewise order of ids. `cosines` is asked once, for the keys that share their score
        with another, and not at all where none do. `depth` cuts the list.
        """
        order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
        if level := _level(order, scores, len(order) if depth is None else depth):
            known = cosines([key for group in level.values() for key in group])
            for start, group in level.items():
                order[start : start + len(group)] = in_order_of(known, group)
        return cls(tuple(Candidate(key, scores[key]) for key in order[:depth]), len(order))

    @classmethod
    def in_order(cls, candidates: Iterable[Candidate], total: int | None = None) -> Ranking:
        """Keep candidates in the order given (a later copy of a key is dropped)."""
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
        """The list itself, so that one that was fused of others and one that was not are read alike."""
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
        """Return the best `depth` candidates, remembering how many there were."""
        return Ranking(self.candidates[:depth], self.total)

    def to_json(self) -> dict[str, Any]:
        """Return the first 100 candidates as parallel lists of keys and scores, and how many there were."""
        head = self.candidates[:RECORDED_ENTRIES]
        return {"total": self.total, "keys": [c.key for c in head], "scores": [c.score for c in head]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], key_of: Mapping[str, int] | None = None) -> Ranking:
        """Read `to_json` back. A recorded list has ids instead of keys: `key_of` gives the key of each."""
        pairs = zip(keys_in(data, key_of), data["scores"], strict=True)
        return cls(tuple(Candidate(key, score) for key, score in pairs), data["total"])


def by_key(keys: Sequence[int]) -> Mapping[int, float]:
    """Give no cosines: equal scores stand in the order of keys. For lists whose scores are these cosines already."""
    return {}


def in_order_of(cosines: Mapping[int, float], keys: Iterable[int]) -> list[int]:
    """Return keys of one score in their order: by cosine, those without one last, then by key."""
    lowest = float("-inf")
    return sorted(keys, key=lambda key: (-cosines.get(key, lowest), key))


def keys_in(data: Mapping[str, Any], key_of: Mapping[str, int] | None) -> list[int]:
    """Return the keys of a list as it was written, or by the ids that stand for them in a record."""
    return list(data["keys"]) if key_of is None else [key_of[identifier] for identifier in data["ids"]]


def _level(order: Sequence[int], scores: Mapping[int, float], depth: int) -> dict[int, list[int]]:
    """Return the groups of keys with equal scores that begin before `depth`, by the place where each begins."""
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
