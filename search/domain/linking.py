"""Plans whose anchors are bound to nodes, and what the graph answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from search.domain.graph import Node
from search.domain.plan import Plan, PlanSource, Risk
from search.domain.ranking import RECORDED, Candidate, Ranking


@dataclass(frozen=True, slots=True)
class Binding:
    """An anchor bound to a node; `score` is the cosine of the anchor's text and the node's text (1.0 when given)."""

    var: str
    node: Node
    score: float


@dataclass(frozen=True, slots=True)
class Reach:
    """How far linking looks: to so many times K nodes, whose cosine is at least that share of τ."""

    k: float = 1.0
    tau: float = 1.0


@dataclass(frozen=True, slots=True)
class LinkedPlan:
    """A plan with the bindings of its anchors, its place in the list of plans, and its probability in that list."""

    plan: Plan
    bindings: tuple[Binding, ...]
    index: int = 0
    source: PlanSource = "learned"
    probability: float = 1.0

    def bindings_of(self, var: str) -> tuple[Binding, ...]:
        """Return the bindings of the anchor with that variable, best first."""
        return tuple(binding for binding in self.bindings if binding.var == var)

    @property
    def is_bound(self) -> bool:
        """Whether the plan has anchors, and each of them a binding: only then can it be executed."""
        return bool(self.plan.anchors) and all(self.bindings_of(anchor.var) for anchor in self.plan.anchors)

    def to_json(self) -> list[dict[str, Any]]:
        """Return one entry an anchor, as a search shows them."""
        return [
            {
                "plan_index": self.index,
                "anchor": anchor.var,
                "bindings": [
                    {"node": binding.node.to_json(), "score": binding.score} for binding in self.bindings_of(anchor.var)
                ],
            }
            for anchor in self.plan.anchors
        ]


@dataclass(frozen=True, slots=True)
class Traversal:
    """What one engine found for one plan.

    `candidates` carry the anchor score (the largest sum of the anchors' cosines over the rows that reach them), best
    first; `query` is the text that ran, its values as parameters; `truncated` says that a limit cut the result; `note`
    why it was not the configured engine that answered.
    """

    plan_index: int
    backend: str
    candidates: tuple[Candidate, ...]
    truncated: bool = False
    query: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the query and the first 100 candidates."""
        head = self.candidates[:RECORDED]
        return {
            "plan_index": self.plan_index,
            "backend": self.backend,
            "query": self.query,
            "truncated": self.truncated,
            "total": len(self.candidates),
            "keys": [candidate.key for candidate in head],
            "scores": [candidate.score for candidate in head],
        }


@dataclass(frozen=True)
class GraphRanking:
    """The graph's list over all plans: one ranking, the best plan of each candidate, and what fusion has to know.

    `n_cand` is how many candidates the best plan found, `risk_level` that plan's: both tell fusion how selective and
    how sure the answer at the top of the list is. The near misses of other plans further down say nothing of that.
    `ties` (key → cosine of the question and the node's document) orders candidates of equal score, here and when fused.
    """

    ranking: Ranking = field(default_factory=Ranking)
    plan_of: Mapping[int, int] = field(default_factory=dict)
    n_cand: int = 0
    risk_level: Risk = "no_trade"
    ties: Mapping[int, float] = field(default_factory=dict)
    probability: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the list with the plan and cosine of each of its first 100 candidates: all that fusion reads."""
        listed = self.ranking.to_json()
        listed["plans"] = [self.plan_of.get(key, 0) for key in listed["keys"]]
        listed["ties"] = [self.ties.get(key) for key in listed["keys"]]
        return listed | {"n_cand": self.n_cand, "risk_level": self.risk_level, "probability": self.probability}
