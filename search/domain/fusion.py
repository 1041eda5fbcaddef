"""Fusion of several lists: sums of weighted reciprocal ranks, or of weighted scores.

Fusions may be nested; all numbers of the sums are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from search.domain.ranking import RECORDED_ENTRIES, Cosines, Ranking, Scores, keys_in
from search.domain.trust import Trust

DIGITS = 12
"""Decimals of a fused score. Floating point sums that are mathematically equal may differ in their last bits. After
rounding they are equal, and the question's cosine orders them."""

SINGLE, SUM = "single", "sum"
"""Methods without ranks: one list unchanged, and the sum of weight x score over the lists."""

ListPath = tuple[str, ...]
"""The place of a list in nested fusions: the names from the outermost fusion down to the list."""


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one list in a result: rank and score in the list, weight of the list, contribution to the sum.

    `k` is the constant of the fusion that contains the list; `path` is the place of the list in nested fusions.
    `method` is `sum` or `single` if that fusion adds up scores or has one list; empty for reciprocal ranks.
    """

    rank: int | None
    score: float | None
    weight: float
    contribution: float
    k: float = 0.0
    path: ListPath = ()
    method: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the share as a JSON object; rank and score are null if the list does not contain the result."""
        return {
            "rank": self.rank, "score": self.score, "weight": self.weight, "contribution": self.contribution,
            "k": self.k, "path": list(self.path), **({"method": self.method} if self.method else {}),
        }  # fmt: skip


@dataclass(frozen=True)
class Fusion:
    """Several lists fused into one, with all numbers needed to repeat the sums by hand. A list may be a fusion itself.

    `weights` holds the factor of each list's 1 / (k + rank), after bucket and risk level were applied; with method
    `sum`, the factor of each list's score. `bucket` is the range of `n_cand` that chose the weight ("[1,10]"), `risk`
    the risk level; each is empty if the method does not use it. `leads` says that the graph leads: its plan was so
    probable that its order was kept. `surely` says that this plan is called almost surely right, which takes more than
    to lead. `trust` holds the trust that lists declare. `detail` is a sentence for people about a list that is missing.
    `cosines` (key → cosine of the question and the document) covers the first 100 of every list. `probability` is
    that of the first candidate being right, None if the list has not learned to tell it.

    A list's contribution to a sum is weight / (k + rank), or with method `sum` weight x score; a list that does not
    contain a candidate contributes nothing. The contribution of a list that is a fusion is divided among its own lists
    in proportion to their contributions there; a list that lowered the sum there gets nothing. So the contributions of
    all lists that are not fusions (the leaves) add up to the fused score.
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
    detail: str = ""
    probability: float | None = None
    surely: bool = False

    @property
    def status(self) -> Literal["ok", "degraded"]:
        """`degraded` if a list is missing, else `ok`."""
        return "degraded" if self.detail else "ok"

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
        """Return the fusion of lists; equal sums are ordered by cosine, then by key.

        `depth` is the largest length of the fused list (None: no limit); `told` holds values of further fields.
        """
        return cls._ordered(rrf(rankings, weights, k), rankings, weights, k, cosines, depth, **told)

    @classmethod
    def added(
        cls,
        rankings: Mapping[str, Ranking | Fusion],
        weights: Mapping[str, float],
        cosines: Cosines,
        depth: int | None = None,
        **told: Any,
    ) -> Self:
        """Return the fusion of method `sum`: the score is the sum over lists of weight x score in the list.

        The lists must hold comparable scores, such as the scores that a retriever gives to each field. A list with
        weight 0 is ignored. Equal sums are ordered by cosine, then by key. `depth` and `told` are those of `of`.
        """
        summed: dict[int, list[float]] = {}
        for name, listed in rankings.items():
            for candidate in listed.ranking if weights[name] > 0 else ():
                summed.setdefault(candidate.key, []).append(weights[name] * candidate.score)
        scores = {key: round(math.fsum(parts), DIGITS) for key, parts in summed.items()}
        return cls._ordered(scores, rankings, weights, 0.0, cosines, depth, method=SUM, **told)

    @classmethod
    def _ordered(
        cls,
        scores: Mapping[int, float],
        rankings: Mapping[str, Ranking | Fusion],
        weights: Mapping[str, float],
        k: float,
        cosines: Cosines,
        depth: int | None,
        **told: Any,
    ) -> Self:
        """Return the fusion with these fused scores."""
        heads = [listed.ranking.candidates[:RECORDED_ENTRIES] for listed in rankings.values()]
        known = dict(cosines(list(dict.fromkeys(candidate.key for head in heads for candidate in head))))

        def of_tied(keys: Sequence[int]) -> Mapping[int, float]:
            further = [key for key in keys if key not in known]
            return {**known, **cosines(further)} if further else known

        ranking = Ranking.of(scores, of_tied, depth)
        return cls(ranking, dict(rankings), dict(weights), k, cosines=known, **told)

    @classmethod
    def single(cls, name: str, listed: Ranking | Fusion) -> Fusion:
        """Return a fusion of only one list, unchanged: the score in the list is the fused score."""
        return cls(listed.ranking, {name: listed}, {name: 1.0}, k=0.0, method=SINGLE)

    def contribution(self, name: str, key: int) -> float:
        """Return the contribution of this fusion's list `name` to the fused score of a candidate."""
        listed = self.rankings[name].ranking
        if self.method in (SINGLE, SUM):
            return self.weights[name] * listed.scores.get(key, 0.0)
        rank = listed.ranks.get(key)
        return 0.0 if rank is None or self.weights[name] <= 0 else self.weights[name] / (self.k + rank)

    def leaves(self, key: int) -> dict[str, Share]:
        """Return the share in a candidate of each list that is not a fusion, by the name of the list.

        If several lists have the same name, each is named by its path, joined by slashes.
        """
        paths = list(_leaf_paths(self))
        names = [path[-1] for path in paths]
        shares = {share.path: share for share in self._shares(key)}
        return {path[-1] if names.count(path[-1]) == 1 else "/".join(path): shares[path] for path in paths}

    def fused(self, key: int) -> dict[str, Share]:
        """Return the share in a candidate of each list that is a fusion, by its path, joined by slashes."""
        leaves = set(_leaf_paths(self))
        return {"/".join(share.path): share for share in self._shares(key) if share.path not in leaves}

    def _shares(self, key: int, whole: float | None = None, path: ListPath = ()) -> Iterator[Share]:
        """Yield the share of every list at every depth; `whole` is this fusion's contribution to the outer sum."""
        own = {name: self.contribution(name, key) for name in self.rankings}
        # Inside the only list of another fusion, the numbers of the sum stand as they are, also those that lowered it.
        whole_sum = whole is None or math.isclose(math.fsum(own.values()), whole, rel_tol=1e-9, abs_tol=1e-9)
        divided = {} if whole_sum else {name: (whole or 0.0) * part for name, part in self._divided(own, key).items()}
        for name, listed in self.rankings.items():
            part = divided.get(name, own[name])
            ranking, place = listed.ranking, (*path, name)
            rank, score = ranking.ranks.get(key), ranking.scores.get(key)
            method = self.method if self.method in (SINGLE, SUM) else ""
            yield Share(rank, score, self.weights[name], part, self.k, place, method)
            if isinstance(listed, Fusion):
                yield from listed._shares(key, part, place)

    def _divided(self, own: Mapping[str, float], key: int) -> dict[str, float]:
        """Return the fraction of a contribution that each list gets, in proportion to `own`; they add up to 1.

        A list that lowered the sum gets nothing. If no list raised it, the lists that contain the candidate share
        equally, and all lists if none contains it.
        """
        raised = {name: max(0.0, part) for name, part in own.items()}
        if not any(raised.values()):
            holding = [name for name in own if key in self.rankings[name].ranking.ranks]
            raised = dict.fromkeys(own, 0.0) | dict.fromkeys(holding or own, 1.0)
        total = math.fsum(raised.values())
        return {name: part / total for name, part in raised.items()}

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of the sums and the fused lists, each with the cosines of its first 100 candidates.

        For a list that is a fusion, only its candidates are written: the step that made it records its own numbers.
        """
        return {
            "method": self.method,
            "k": self.k,
            "weights": dict(self.weights),
            "bucket": self.bucket,
            "risk": self.risk,
            "leads": self.leads,
            "surely": self.surely,
            "trust": {name: trust.to_json() for name, trust in self.trust.items()},
            "rankings": {name: self._listed(listed.ranking) for name, listed in self.rankings.items()},
            "ranking": self.ranking.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], key_of: Mapping[str, int] | None = None) -> Fusion:
        """Return the fusion that `to_json` wrote. A recorded fusion has ids instead of keys: `key_of` maps id → key."""
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
            surely=data.get("surely", data["leads"]),
        )

    def _listed(self, ranking: Ranking) -> dict[str, Any]:
        written = ranking.to_json()
        return written | {"cosines": [self.cosines.get(key) for key in written["keys"]]}


def rrf(rankings: Mapping[str, Ranking | Fusion], weights: Mapping[str, float], k: float) -> Scores:
    """Return key → fused score: the sum over lists of weight / (k + rank), with ranks from 1.

    A list contributes 0 to a candidate that it does not contain (GRASP, section on fusion; the convention is ours). A
    list with weight 0 is ignored, so that its candidates do not appear at the end of the fused list. Sums are rounded
    to `DIGITS` decimals, so that they do not depend on the order of the lists.
    """
    lists = [(weights[name], listed.ranking.arrays.node_keys) for name, listed in rankings.items() if weights[name] > 0]
    keys = np.unique(np.concatenate([np.empty(0, np.int64), *(listed for _, listed in lists)]))
    fused = np.zeros(len(keys))
    for weight, listed in lists:
        fused[keys.searchsorted(listed)] += weight / (k + np.arange(1, len(listed) + 1))
    return Scores(keys, np.round(fused, DIGITS))


def _leaf_paths(fusion: Fusion, path: ListPath = ()) -> Iterator[ListPath]:
    for name, listed in fusion.rankings.items():
        if isinstance(listed, Fusion):
            yield from _leaf_paths(listed, (*path, name))
        else:
            yield (*path, name)
