"""Ranked lists and their fusion, as steps have recorded them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from search.domain.evidence import PlanShare
from search.domain.plan import RISKS, Risk
from search.domain.trust import Trust

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Listed:
    """The first entries of a list (100 at least), best first, and how many there were in all."""

    ids: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    total: int = 0
    cosines: tuple[float | None, ...] | None = None
    """Of the question and the document of each entry, where the list went into a fusion."""

    @classmethod
    def from_json(cls, data: Json) -> Listed:
        """Read what `Ranking.to_json` wrote, with ids in place of keys."""
        return cls(tuple(data["ids"]), tuple(data["scores"]), data["total"], _several(data.get("cosines")))

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        written = {"total": self.total, "ids": list(self.ids), "scores": list(self.scores)}
        return written if self.cosines is None else written | {"cosines": list(self.cosines)}


@dataclass(frozen=True)
class GraphListed:
    """A list of what the graph leads to, with all that fusion reads of it.

    `plans` and `shares` stand beside the entries of `listed`: the plan with the largest share in each (None for one
    that no plan found), and the shares of all plans that put it there. The risk level says how far the list is to be
    trusted: a list without one cannot be read, for it would be fused with a weight that nobody chose.
    """

    listed: Listed
    plans: tuple[int | None, ...]
    shares: tuple[tuple[PlanShare, ...], ...]
    n_cand: int
    risk_level: Risk
    probability: float

    @classmethod
    def from_json(cls, data: Json) -> GraphListed:
        """Read what `GraphRanking.to_json` wrote; KeyError or ValueError where it does not say how far to trust it."""
        if data["risk_level"] not in RISKS:
            raise ValueError(f"the risk level {data['risk_level']!r} is none of {', '.join(RISKS)}")
        return cls(
            Listed.from_json(data), tuple(data["plans"]), tuple(map(_shares, data["shares"])), data["n_cand"],
            cast(Risk, data["risk_level"]), data["probability"],
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return self.listed.to_json() | {
            "plans": list(self.plans),
            "shares": [[share.to_json() for share in several] for several in self.shares],
            "n_cand": self.n_cand,
            "risk_level": self.risk_level,
            "probability": self.probability,
        }

    @property
    def plan_of(self) -> dict[str, int]:
        """The plan that each entry comes from, by id."""
        pairs = zip(self.listed.ids, self.plans, strict=True)
        return {identifier: plan for identifier, plan in pairs if plan is not None}


@dataclass(frozen=True)
class Fused:
    """Several lists made one: the arithmetic, the lists it was done on by name, and what came out."""

    method: str
    k: float
    weights: Mapping[str, float]
    ranking: Listed
    bucket: str = ""
    risk: str = ""
    leads: bool = False
    rankings: Mapping[str, Listed] = field(default_factory=dict)
    trust: Mapping[str, Trust] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Json) -> Fused:
        """Read what `Fusion.to_json` wrote."""
        rankings = {name: Listed.from_json(listed) for name, listed in data["rankings"].items()}
        return cls(
            data["method"], data["k"], dict(data["weights"]), Listed.from_json(data["ranking"]),
            data["bucket"], data["risk"], data["leads"], rankings,
            {name: Trust.from_json(trust) for name, trust in data["trust"].items()},
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return {
            "method": self.method,
            "k": self.k,
            "weights": dict(self.weights),
            "bucket": self.bucket,
            "risk": self.risk,
            "leads": self.leads,
            "trust": {name: trust.to_json() for name, trust in self.trust.items()},
            "rankings": {name: listed.to_json() for name, listed in self.rankings.items()},
            "ranking": self.ranking.to_json(),
        }


def _several(cosines: list[float | None] | None) -> tuple[float | None, ...] | None:
    return None if cosines is None else tuple(cosines)


def _shares(data: list[Json]) -> tuple[PlanShare, ...]:
    return tuple(PlanShare(share["plan_index"], share["share"]) for share in data)
