"""Plans whose anchors are bound to nodes, and what the graph answers to them."""

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
    """The graph's list over all plans, how far it is to be trusted, and which plan put each candidate there.

    `trust.n_cand` is how many candidates the best plan found, `trust.risk_level` that plan's: both tell fusion how
    selective and how sure the answer at the top of the list is. The near misses of other plans further down say
    nothing of that. `parts` holds what each plan adds to the scores: index of the plan → key → part. `found` is what
    the plans found in the graph; `name` is what the list is called in a fusion.
    """

    ranking: Ranking
    trust: Trust
    parts: Mapping[int, Mapping[int, float]] = field(default_factory=dict)
    found: Sequence[Traversal] = ()
    name: str = "graph"

    @classmethod
    def empty(cls, found: Sequence[Traversal] = ()) -> GraphRanking:
        """Return the list of a graph that gave no candidate."""
        return cls(Ranking(), Trust.of_nothing(), found=found)

    def shares(self, key: int) -> tuple[PlanShare, ...]:
        """Return the plans that put a candidate into the list, by how much of its score is theirs, largest first.

        Equal shares stand in the order of `parts`, which is that of the plans' probability. A part below zero (a text
        that speaks against the candidate) counts as none.
        """
        parts = {index: max(0.0, scores[key]) for index, scores in self.parts.items() if key in scores}
        total = sum(parts.values())
        even = 1.0 / len(parts) if parts else 0.0
        shares = [PlanShare(index, part / total if total > 0 else even) for index, part in parts.items()]
        return tuple(sorted(shares, key=lambda share: -share.share))

    def plan_of(self, key: int) -> int | None:
        """Return the index of the plan with the largest share in a candidate; None for one that no plan found."""
        shares = self.shares(key)
        return shares[0].plan_index if shares else None

    @property
    def leading(self) -> int | None:
        """The index of the plan that ordered the top: the one with the largest share in the first candidate."""
        return self.plan_of(self.ranking.keys[0]) if len(self.ranking) else None

    def to_json(self) -> dict[str, Any]:
        """Return the list with the plans of each of its first 100 candidates and their shares, and its trust."""
        listed = self.ranking.to_json()
        shares = [self.shares(key) for key in listed["keys"]]
        listed["plans"] = [several[0].plan_index if several else None for several in shares]
        listed["shares"] = [[share.to_json() for share in several] for several in shares]
        return listed | self.trust.to_json()
