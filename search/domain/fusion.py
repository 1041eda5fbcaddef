"""Several lists made one by weighted reciprocal ranks, to any depth, with the whole arithmetic kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.ranking import RECORDED_ENTRIES, Cosines, Ranking, keys_in
from search.domain.trust import Trust

DIGITS = 12
"""Decimals of a fused score. Sums that are equal on paper may differ in the last bits of their floating point numbers;
rounded they are equal, and the question's cosine orders them."""

ListPath = tuple[str, ...]
"""Where a list stands among nested fusions: the names from the outermost fusion to the list."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one list gave to a result: its rank and score there, the list's weight, and what that adds to the sum.

    `k` is the constant of the fusion that the list stands in, `path` where that is.
    """

    rank: int | None
    score: float | None
    weight: float
    contribution: float
    k: float = 0.0
    path: ListPath = ()

    def to_json(self) -> dict[str, Any]:
        """Return the share; rank and score are null where the list does not hold the result."""
        return {
            "rank": self.rank, "score": self.score, "weight": self.weight, "contribution": self.contribution,
            "k": self.k, "path": list(self.path),
        }  # fmt: skip


@dataclass(frozen=True)
class Fusion:
    """Several lists made one, with everything needed to do the sum again by hand. A list may be a fusion itself.

    `weights` holds what each list's 1 / (k + rank) was multiplied by, after bucket and risk; `bucket` is the range of
    `n_cand` that chose the weight ("[1,10]"), `risk` the risk level; both are empty where the method uses neither.
    `leads` says that the graph was sure enough for its order to stand. `trust` is what lists said of themselves,
    `cosines` (key → cosine of the question and the document) covers the first 100 of every list.

    A list's part in a sum is weight / (k + rank). The part of a list that was fused itself is divided among its lists
    as its own sum is, so that the parts of the lists that were not (the leaves) add up to the fused score.
    """

    ranking: Ranking
    rankings: Mapping[str, Ranking | Fusion]
    weights: Mapping[str, float]
    k: float
    method: str = "static"
    bucket: str = ""
    risk: str = ""
    leads: bool = False
    trust: Mapping[str, Trust] = field(default_factory=dict)
    cosines: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rankings: Mapping[str, Ranking | Fusion],
        weights: Mapping[str, float],
        k: float,
        cosines: Cosines,
        depth: int | None = None,
        **told: Any,
    ) -> Fusion:
        """Fuse lists; equal sums are ordered by cosine, then key. `depth` cuts the result, `told` is further fields."""
        heads = [listed.ranking.candidates[:RECORDED_ENTRIES] for listed in rankings.values()]
        known = dict(cosines(list(dict.fromkeys(candidate.key for head in heads for candidate in head))))

        def of_tied(keys: Sequence[int]) -> Mapping[int, float]:
            further = [key for key in keys if key not in known]
            return {**known, **cosines(further)} if further else known

        ranking = Ranking.of(rrf(rankings, weights, k), of_tied, depth)
        return cls(ranking, dict(rankings), dict(weights), k, cosines=known, **told)

    @classmethod
    def single(cls, name: str, listed: Ranking | Fusion) -> Fusion:
        """Pass one list on as it is, so that the score there is the whole of the score."""
        return cls(listed.ranking, {name: listed}, {name: 1.0}, k=0.0, method="single")

    def contribution(self, name: str, key: int) -> float:
        """Return what the list of that name, one of this fusion's own, adds to the fused score of a candidate."""
        listed = self.rankings[name].ranking
        if self.method == "single":
            return listed.scores.get(key, 0.0)
        rank = listed.ranks.get(key)
        return 0.0 if rank is None or self.weights[name] <= 0 else self.weights[name] / (self.k + rank)

    def leaves(self, key: int) -> dict[str, Share]:
        """Return what each list that was not fused itself gave to a candidate, by its name.

        Names that stand in several fusions are told apart by their path, joined by slashes.
        """
        paths = list(_leaf_paths(self))
        names = [path[-1] for path in paths]
        shares = {share.path: share for share in self._shares(key)}
        return {path[-1] if names.count(path[-1]) == 1 else "/".join(path): shares[path] for path in paths}

    def fused(self, key: int) -> dict[str, Share]:
        """Return what each list that was fused itself gave to a candidate, by its path, joined by slashes."""
        leaves = set(_leaf_paths(self))
        return {"/".join(share.path): share for share in self._shares(key) if share.path not in leaves}

    def _shares(self, key: int, whole: float | None = None, path: ListPath = ()) -> Iterator[Share]:
        """Give the share of every list at every depth; `whole` is what this fusion as a list adds to the outer sum."""
        own = {name: self.contribution(name, key) for name in self.rankings}
        total = math.fsum(own.values())
        for name, listed in self.rankings.items():
            part = own[name]
            if whole is not None:
                # A list passed on alone has the whole of it, whatever the sign of its scores.
                part = whole * (1.0 if len(own) == 1 else part / total if total else 0.0)
            ranking, place = listed.ranking, (*path, name)
            yield Share(ranking.ranks.get(key), ranking.scores.get(key), self.weights[name], part, self.k, place)
            if isinstance(listed, Fusion):
                yield from listed._shares(key, part, place)

    def to_json(self) -> dict[str, Any]:
        """Return the arithmetic and the lists it was done on, each with the cosines of its first 100.

        Of a list that was fused itself only its order is written: how it came about is written with the step that made
        it.
        """
        return {
            "method": self.method,
            "k": self.k,
            "weights": dict(self.weights),
            "bucket": self.bucket,
            "risk": self.risk,
            "leads": self.leads,
            "trust": {name: trust.to_json() for name, trust in self.trust.items()},
            "rankings": {name: self._listed(listed.ranking) for name, listed in self.rankings.items()},
            "ranking": self.ranking.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], key_of: Mapping[str, int] | None = None) -> Fusion:
        """Read `to_json` back. A recorded fusion has ids instead of keys: `key_of` gives the key of each."""
        cosines: dict[int, float] = {}
        for listed in data["rankings"].values():
            pairs = zip(keys_in(listed, key_of), listed["cosines"], strict=True)
            cosines |= {key: cosine for key, cosine in pairs if cosine is not None}
        return cls(
            Ranking.from_json(data["ranking"], key_of),
            {name: Ranking.from_json(listed, key_of) for name, listed in data["rankings"].items()},
            data["weights"],
            data["k"],
            data["method"],
            data["bucket"],
            data["risk"],
            data["leads"],
            {name: Trust.from_json(trust) for name, trust in data["trust"].items()},
            cosines,
        )

    def _listed(self, ranking: Ranking) -> dict[str, Any]:
        written = ranking.to_json()
        return written | {"cosines": [self.cosines.get(key) for key in written["keys"]]}


def rrf(rankings: Mapping[str, Ranking | Fusion], weights: Mapping[str, float], k: float) -> dict[int, float]:
    """Fuse rankings by weighted reciprocal ranks: the sum over lists of weight / (k + rank), ranks from 1.

    A candidate absent from a list gets nothing from it (GRASP, section on fusion; the convention is ours). A list of
    weight 0 takes no part, so that its candidates do not enter at the end of the fused list. Sums are rounded to
    `DIGITS` decimals, so that they do not depend on the order of the lists.
    """
    fused: dict[int, float] = {}
    for name, listed in rankings.items():
        weight = weights[name]
        if weight <= 0:
            continue
        for rank, candidate in enumerate(listed.ranking, 1):
            fused[candidate.key] = fused.get(candidate.key, 0.0) + weight / (k + rank)
    return {key: round(score, DIGITS) for key, score in fused.items()}


def _leaf_paths(fusion: Fusion, path: ListPath = ()) -> Iterator[ListPath]:
    for name, listed in fusion.rankings.items():
        if isinstance(listed, Fusion):
            yield from _leaf_paths(listed, (*path, name))
        else:
            yield (*path, name)
