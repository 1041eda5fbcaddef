"""Plans whose anchors are bound to nodes, and the candidates that the graph finds for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.evidence import PlanShare
from search.domain.graph import Node
from search.domain.plan import Plan, PlanSource
from search.domain.ranking import RECORDED_ENTRIES, Candidate, Ranking
from search.domain.trust import Trust


@dataclass(frozen=True, slots=True)
class Binding:
    """An anchor bound to a node; `score` is the cosine of the anchor's text and the node's text (1.0 when given)."""

    var: str
    node: Node
    score: float


@dataclass(frozen=True, slots=True)
class Reach:
    """Factors on the limits of linking: `k` on the number of nodes K, `tau` on the smallest allowed cosine τ."""

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
        """Whether the plan has anchors and every anchor has a binding; only then can the plan be executed."""
        return bool(self.plan.anchors) and all(self.bindings_of(anchor.var) for anchor in self.plan.anchors)

    def to_json(self) -> list[dict[str, Any]]:
        """Return one entry per anchor, with its bindings."""
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
    """The candidates that one engine found for one plan.

    The score of a candidate is its anchor score: the largest sum of the anchors' cosines over the rows that reach it.
    The best candidate is first. `query` is the text of the executed query, with its values as parameters. `truncated`
    says that a limit cut the result. If another engine than the configured one answered, `note` says why.
    """

    plan_index: int
    backend: str
    candidates: tuple[Candidate, ...]
    truncated: bool = False
    query: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the query, the first 100 candidates as parallel lists, and the number of all candidates (`total`)."""
        head = self.candidates[:RECORDED_ENTRIES]
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
    """The graph's list over all plans, the trust in it, and the plans that put each candidate there.

    `trust.n_cand` is the number of candidates of the best plan and `trust.risk_level` is the risk level of that plan:
    both tell fusion how selective and how certain the top of the list is. Candidates of other plans further down do not
    change them. `parts` holds the part of each plan in the scores: index of the plan → key → part. `found` holds the
    traversals of the plans. `name` is the name of the list in a fusion.
    """

    ranking: Ranking
    trust: Trust
    parts: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    found: Sequence[Traversal] = ()
    name: str = "graph"

    @classmethod
    def empty(cls, found: Sequence[Traversal] = ()) -> GraphRanking:
        """Return an empty list, for a graph that found no candidate."""
        return cls(Ranking(), Trust.of_nothing(), found=found)

    def shares(self, key: int) -> tuple[PlanShare, ...]:
        """Return the plans that put a candidate into the list, with their shares of its score, largest share first.

        Equal shares stand in the order of `parts`, which is the order of the plans' probability. A negative part (a
        text that counts against the candidate) counts as 0. If all parts are 0, all plans get the same share.
        """
        parts = {index: max(0.0, scores[key]) for index, scores in self.parts.items() if key in scores}
        total = sum(parts.values())
        even = 1.0 / len(parts) if parts else 0.0
        shares = [PlanShare(index, part / total if total > 0 else even) for index, part in parts.items()]
        return tuple(sorted(shares, key=lambda share: -share.share))

    def plan_of(self, key: int) -> int | None:
        """Return the index of the plan with the largest share in a candidate, or None if no plan found it."""
        shares = self.shares(key)
        return shares[0].plan_index if shares else None

    @property
    def leading(self) -> int | None:
        """Index of the plan that ordered the top: the plan with the largest share in the first candidate, or None."""
        return self.plan_of(self.ranking.keys[0]) if len(self.ranking) else None

    def to_json(self) -> dict[str, Any]:
        """Return the first 100 candidates of the list, the plans and shares of each, and the trust in the list."""
        listed = self.ranking.to_json()
        shares = [self.shares(key) for key in listed["keys"]]
        listed["plans"] = [several[0].plan_index if several else None for several in shares]
        listed["shares"] = [[share.to_json() for share in several] for several in shares]
        return listed | self.trust.to_json()
