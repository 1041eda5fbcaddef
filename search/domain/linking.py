"""Plans whose anchors are bound to nodes, and the candidates that the graph finds for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from search.domain.aggregates import Aggregated
from search.domain.evidence import PlanShare
from search.domain.graph import Node
from search.domain.plan import Anchor, Plan, PlanSource
from search.domain.ranking import RECORDED_ENTRIES, Candidate, CandidateArrays, Ranking, Scores
from search.domain.trust import Trust


@dataclass(frozen=True, slots=True)
class Binding:
    """An anchor bound to a node; `score` is the cosine of the anchor's text and the node's text (1.0 when given).

    `exclusion` is the index of the exclusion that the anchor belongs to, None for an anchor of the plan itself.
    """

    var: str
    node: Node
    score: float
    exclusion: int | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """Factors on the limits of linking: `k` on the number of nodes K, `tau` on the smallest allowed cosine τ."""

    k: float = 1.0
    tau: float = 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """How the text of an anchor was read, where it is not simply the name of a node.

    `how` says by which way the name was found (`search.interfaces.How`), `name` if it is a name as it is stored.
    `others` are nodes that may be meant instead: with nearly the same name, and with more edges.
    """

    how: str
    others: tuple[Node, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as a linked anchor shows it."""
        return {"how": self.how, "others": [node.to_json() for node in self.others]}


@dataclass(frozen=True, slots=True)
class LinkedPlan:
    """A plan with the bindings of its anchors, its place in the list of plans, and its probability in that list.

    `barred` maps a variable to nodes that it must not take. The engines fill it in from the plan's exclusions.
    `readings` maps the text of an anchor to how it was read; texts that are simply names are absent.
    """

    plan: Plan
    bindings: tuple[Binding, ...]
    index: int = 0
    source: PlanSource = "learned"
    probability: float = 1.0
    barred: Mapping[str, frozenset[int]] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)

    def bindings_of(self, var: str) -> tuple[Binding, ...]:
        """Return the bindings of the plan's own anchor with that variable, best first."""
        return tuple(binding for binding in self.bindings if binding.var == var and binding.exclusion is None)

    def excluded(self, index: int) -> LinkedPlan:
        """Return the pattern of an exclusion as a linked plan; its target is the variable that it begins at."""
        pattern = self.plan.excluded(self.plan.exclude[index])
        bound = tuple(replace(binding, exclusion=None) for binding in self.bindings if binding.exclusion == index)
        return LinkedPlan(pattern, bound, self.index)

    def is_known(self, index: int) -> bool:
        """Whether every anchor of an exclusion is bound. Otherwise it excludes nothing, and its status is unknown."""
        pattern = self.excluded(index)
        return all(pattern.bindings_of(anchor.var) for anchor in pattern.plan.anchors)

    @property
    def is_bound(self) -> bool:
        """Whether the plan has anchors and every anchor has a binding."""
        return bool(self.plan.anchors) and all(self.bindings_of(anchor.var) for anchor in self.plan.anchors)

    @property
    def is_executable(self) -> bool:
        """Whether the graph can execute the plan: its anchors are bound, or it has none and runs over a type."""
        return self.is_bound or self.plan.runs_over_type

    def to_json(self) -> list[dict[str, Any]]:
        """Return one entry per anchor, with its bindings; then those of the exclusions, with the exclusion's index."""
        own = [self._entry(anchor, self) for anchor in self.plan.anchors]
        patterns = [self.excluded(index) for index in range(len(self.plan.exclude))]
        return own + [
            self._entry(anchor, pattern) | {"exclude": index}
            for index, pattern in enumerate(patterns)
            for anchor in pattern.plan.anchors
        ]

    def _entry(self, anchor: Anchor, linked: LinkedPlan) -> dict[str, Any]:
        bindings = [{"node": bound.node.to_json(), "score": bound.score} for bound in linked.bindings_of(anchor.var)]
        entry: dict[str, Any] = {"plan_index": self.index, "anchor": anchor.var, "bindings": bindings}
        reading = self.readings.get(anchor.text)
        return entry if reading is None else entry | {"reading": reading.to_json()}


@dataclass(frozen=True, slots=True)
class Placed:
    """The value by which a plan's order compares an answer, None if it has none, and its place from 1.

    Equal values share a place; answers without a value share the last place.
    """

    value: int | float | str | None
    place: int

    def to_json(self) -> dict[str, Any]:
        """Return value and place."""
        return {"value": self.value, "place": self.place}


@dataclass(frozen=True, slots=True)
class Traversal:
    """The candidates that one engine found for one plan.

    The score of a candidate is its anchor score: the largest sum of the anchors' cosines over the rows that reach it.
    The best candidate is first. If the plan has an order, the candidates are in it, equal ones by anchor score, and
    `placed` holds the place of each; those beyond the order's limit are left out. `query` is the text of the executed
    query, with its values as parameters. `truncated` says that a limit cut the result, and `unlisted` how many further
    candidates were counted then; it is 0 if the engine stopped early and does not know how many there are. If another
    engine than the configured one answered, `note` says why. `aggregate` is what the plan asks to compute from a field
    of all answers, also of those that are not among the candidates.
    """

    plan_index: int
    backend: str
    candidates: Sequence[Candidate]
    truncated: bool = False
    query: str = ""
    note: str = ""
    placed: Mapping[int, Placed] = field(default_factory=dict)
    aggregate: Aggregated | None = None
    unlisted: int = 0

    @property
    def total(self) -> int:
        """Number of all candidates that are known, listed or not."""
        return len(self.candidates) + self.unlisted

    def to_json(self) -> dict[str, Any]:
        """Return the query, the first 100 candidates as parallel lists, and the number of all candidates (`total`)."""
        head = CandidateArrays.of(self.candidates[:RECORDED_ENTRIES])
        keys = head.node_keys.tolist()
        written = {} if self.aggregate is None else {"aggregate": self.aggregate.to_json()}
        return (
            written
            | {
                "plan_index": self.plan_index,
                "backend": self.backend,
                "query": self.query,
                "truncated": self.truncated,
                "total": self.total,
                "keys": keys,
                "scores": head.scores.tolist(),
            }
            | ({"placed": [self.placed[key].to_json() for key in keys]} if self.placed else {})
            | ({"unlisted": self.unlisted} if self.unlisted else {})
        )


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

    def shares(self, keys: Sequence[int]) -> list[tuple[PlanShare, ...]]:
        """Return for each candidate the plans that put it into the list, with their shares of its score, largest first.

        Equal shares stand in the order of `parts`, which is the order of the plans' probability. A negative part (a
        text that counts against the candidate) counts as 0. If all parts are 0, all plans get the same share.
        """
        asked = np.array(keys, dtype=np.int64)
        parts = {index: Scores.of(scores).known(asked).tolist() for index, scores in self.parts.items()}
        return [_shares({index: scores[at] for index, scores in parts.items()}) for at in range(len(keys))]

    def plan_of(self, key: int) -> int | None:
        """Return the index of the plan with the largest share in a candidate, or None if no plan found it."""
        (shares,) = self.shares([key])
        return shares[0].plan_index if shares else None

    @property
    def leading(self) -> int | None:
        """Index of the plan that ordered the top: the plan with the largest share in the first candidate, or None."""
        return self.plan_of(self.ranking.keys[0]) if len(self.ranking) else None

    def to_json(self) -> dict[str, Any]:
        """Return the first 100 candidates of the list, the plans and shares of each, and the trust in the list."""
        listed = self.ranking.to_json()
        shares = self.shares(listed["keys"])
        listed["plans"] = [several[0].plan_index if several else None for several in shares]
        listed["shares"] = [[share.to_json() for share in several] for several in shares]
        return listed | self.trust.to_json()


def _shares(parts: Mapping[int, float]) -> tuple[PlanShare, ...]:
    """Return the shares of plans in a candidate, from their parts in its score; NaN where a plan has not found it."""
    found = {index: max(0.0, part) for index, part in parts.items() if not math.isnan(part)}
    total = sum(found.values())
    even = 1.0 / len(found) if found else 0.0
    shares = [PlanShare(index, part / total if total > 0 else even) for index, part in found.items()]
    return tuple(sorted(shares, key=lambda share: -share.share))
