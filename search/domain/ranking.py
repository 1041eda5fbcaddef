"""Candidates in order, and the fusion of several orders into one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

RECORDED = 100
"""How many entries of a list a trace keeps at least: mining, tuning and attribution read them."""


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
    def of(
        cls, scores: Mapping[int, float], ties: Mapping[int, float] | None = None, depth: int | None = None
    ) -> Ranking:
        """Rank `scores` (key → score), best first.

        Equal scores are ordered by `ties` (key → cosine of the question and the node's document; absent counts as
        the smallest), then by key, which is the bytewise order of ids. `depth` cuts the list.
        """
        cosine = ties or {}
        lowest = float("-inf")
        order = sorted(scores, key=lambda key: (-scores[key], -cosine.get(key, lowest), key))
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

    def to_json(self) -> dict[str, Any]:
        """Return the first 100 candidates as parallel lists of keys and scores, and how many there were."""
        head = self.candidates[:RECORDED]
        return {"total": self.total, "keys": [c.key for c in head], "scores": [c.score for c in head]}

    def top(self, depth: int) -> Ranking:
        """Return the best `depth` candidates, remembering how many there were."""
        return Ranking(self.candidates[:depth], self.total)


def rrf(rankings: Mapping[str, Ranking], weights: Mapping[str, float], k: float) -> dict[int, float]:
    """Fuse rankings by weighted reciprocal ranks: the sum over lists of weight / (k + rank), ranks from 1.

    A candidate absent from a list gets nothing from it (GRASP, section on fusion; the convention is ours). A list of
    weight 0 takes no part, so that its candidates do not enter at the end of the fused list.
    """
    fused: dict[int, float] = {}
    for name, ranking in rankings.items():
        weight = weights[name]
        if weight <= 0:
            continue
        for rank, candidate in enumerate(ranking, 1):
            fused[candidate.key] = fused.get(candidate.key, 0.0) + weight / (k + rank)
    return fused


@dataclass(frozen=True)
class Fusion:
    """Several rankings made one, with everything needed to do the sum again by hand.

    `weights` holds what each list's 1 / (k + rank) was multiplied by, after bucket and risk; `bucket` is the range of
    `n_cand` that chose the weight ("[1,10]"), `risk` the risk level; both are empty where the method uses neither.
    `leads` says that the graph was sure enough for its order to stand.
    """

    ranking: Ranking
    rankings: Mapping[str, Ranking]
    weights: Mapping[str, float]
    k: float
    method: str = "static"
    bucket: str = ""
    risk: str = ""
    leads: bool = False

    def contribution(self, name: str, key: int) -> float:
        """Return what the list of that name adds to the fused score of a candidate.

        The method `single` passes one list on as it is, so that the score there is the whole of it.
        """
        if self.method == "single":
            return self.rankings[name].scores.get(key, 0.0)
        rank = self.rankings[name].ranks.get(key)
        return 0.0 if rank is None else self.weights[name] / (self.k + rank)

    def to_json(self) -> dict[str, Any]:
        """Return the arithmetic and the lists it was done on."""
        return {
            "method": self.method,
            "k": self.k,
            "weights": dict(self.weights),
            "bucket": self.bucket,
            "risk": self.risk,
            "leads": self.leads,
            "rankings": {name: ranking.to_json() for name, ranking in self.rankings.items()},
            "ranking": self.ranking.to_json(),
        }
