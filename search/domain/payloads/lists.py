"""Recorded ranked lists and fusions."""

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
    """The first entries of a list (100, or all if there are fewer), best first, and the number of all entries."""

    ids: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    total: int = 0
    cosines: tuple[float | None, ...] | None = None
    """Cosine of the question and the document of each entry, if the list was an input of a fusion."""

    @classmethod
    def from_json(cls, data: Json) -> Listed:
        """Return the list that `Ranking.to_json` wrote, with ids in place of keys."""
        return cls(tuple(data["ids"]), tuple(data["scores"]), data["total"], _several(data.get("cosines")))

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        written = {"total": self.total, "ids": list(self.ids), "scores": list(self.scores)}
        return written if self.cosines is None else written | {"cosines": list(self.cosines)}


@dataclass(frozen=True)
class GraphListed:
    """The list of nodes found in the graph, with all facts that fusion reads from it.

    `plans` and `shares` are parallel to the entries of `listed`: the plan with the largest share in the entry (None if
    no plan found it), and the shares of all plans that put it there. The risk level says how far the list is trusted,
    `exact` that its best plan leaves no word over (lists that do not record it were made when all plans counted so). A
    list without a risk level is not read, because it would be fused with a weight that nobody chose.
    """

    listed: Listed
    plans: tuple[int | None, ...]
    shares: tuple[tuple[PlanShare, ...], ...]
    n_cand: int
    risk_level: Risk
    probability: float
    exact: bool = True

    @classmethod
    def from_json(cls, data: Json) -> GraphListed:
        """Return the list that `GraphRanking.to_json` wrote.

        Raises KeyError if a value is missing, and ValueError if the risk level is unknown.
        """
        if data["risk_level"] not in RISKS:
            raise ValueError(f"the level of trust {data['risk_level']!r} is none of {', '.join(RISKS)}")
        return cls(
            Listed.from_json(data), tuple(data["plans"]), tuple(map(_shares, data["shares"])), data["n_cand"],
            cast(Risk, data["risk_level"]), data["probability"], data.get("exact", True),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return self.listed.to_json() | {
            "plans": list(self.plans),
            "shares": [[share.to_json() for share in several] for several in self.shares],
            "n_cand": self.n_cand,
            "risk_level": self.risk_level,
            "probability": self.probability,
            "exact": self.exact,
        }

    @property
    def plan_of(self) -> dict[str, int]:
        """Id → index of the plan with the largest share, for the entries that a plan found."""
        pairs = zip(self.listed.ids, self.plans, strict=True)
        return {identifier: plan for identifier, plan in pairs if plan is not None}


@dataclass(frozen=True)
class Fused:
    """A fusion of several lists: the numbers of the sums, the lists by name, and the fused list (`ranking`).

    `probability` is the calibrated one of the first entry being right, None where no reranker has learned to tell it.
    """

    method: str
    k: float
    weights: Mapping[str, float]
    ranking: Listed
    bucket: str = ""
    risk: str = ""
    leads: bool = False
    rankings: Mapping[str, Listed] = field(default_factory=dict)
    trust: Mapping[str, Trust] = field(default_factory=dict)
    surely: bool = False
    probability: float | None = None

    @classmethod
    def from_json(cls, data: Json) -> Fused:
        """Return the fusion that `Fusion.to_json` wrote."""
        rankings = {name: Listed.from_json(listed) for name, listed in data["rankings"].items()}
        return cls(
            data["method"], data["k"], dict(data["weights"]), Listed.from_json(data["ranking"]),
            data["bucket"], data["risk"], data["leads"], rankings,
            {name: Trust.from_json(trust) for name, trust in data["trust"].items()}, data.get("surely", data["leads"]),
            data.get("probability"),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        written = {
            "method": self.method,
            "k": self.k,
            "weights": dict(self.weights),
            "bucket": self.bucket,
            "risk": self.risk,
            "leads": self.leads,
            "surely": self.surely,
            "trust": {name: trust.to_json() for name, trust in self.trust.items()},
            "rankings": {name: listed.to_json() for name, listed in self.rankings.items()},
            "ranking": self.ranking.to_json(),
        }
        return written if self.probability is None else written | {"probability": self.probability}


def _several(cosines: list[float | None] | None) -> tuple[float | None, ...] | None:
    return None if cosines is None else tuple(cosines)


def _shares(data: list[Json]) -> tuple[PlanShare, ...]:
    return tuple(PlanShare(share["plan_index"], share["share"]) for share in data)
