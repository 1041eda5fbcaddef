"""The explanation of a result: the status of each condition, paths through the graph, the arithmetic of its rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from search.domain.fusion import Share
from search.domain.graph import Direction, FieldValue, Node
from search.domain.signals import SignalShare

ConditionStatus = Literal["met", "not_met", "unknown"]


@dataclass(frozen=True, slots=True)
class PathNode:
    """A node on a path, with the plan's variable that takes it."""

    node: Node
    var: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the node, and its variable if there is one."""
        return {"var": self.var, "node": self.node.to_json()} if self.var else {"node": self.node.to_json()}


@dataclass(frozen=True, slots=True)
class PathEdge:
    """An edge on a path; its direction is `out` if it is walked in its stored direction."""

    relation: str
    direction: Direction

    def to_json(self) -> dict[str, Any]:
        """Return relation and direction."""
        return {"relation": self.relation, "direction": self.direction}


@dataclass(frozen=True, slots=True)
class Path:
    """An alternating walk from an anchor's node to the target: `edges[i]` joins `nodes[i]` and `nodes[i + 1]`."""

    nodes: tuple[PathNode, ...]
    edges: tuple[PathEdge, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the nodes and edges as one list, alternating, beginning with a node."""
        walk: list[dict[str, Any]] = [self.nodes[0].to_json()]
        for edge, node in zip(self.edges, self.nodes[1:], strict=True):
            walk += [edge.to_json(), node.to_json()]
        return walk


@dataclass(frozen=True, slots=True)
class Residual:
    """Whether a result meets the residual text of the plan.

    `score` is the cosine of the text and the document, `threshold` the smallest cosine that counts as met for the type.
    """

    text: str = ""
    status: ConditionStatus = "unknown"
    score: float | None = None
    threshold: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return text, status, score and threshold."""
        return {"text": self.text, "status": self.status, "score": self.score, "threshold": self.threshold}


@dataclass(frozen=True, slots=True)
class OrderEvidence:
    """How a plan's order treats a result.

    `value` is what ordered it, None if the node does not have the field; `place` is its place, None if it has none
    among the answers. The status is `not_met` if the order's limit or another condition leaves the result out.
    """

    status: ConditionStatus
    value: int | float | str | None = None
    place: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return status, value and place."""
        return {"status": self.status, "value": self.value, "place": self.place}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OrderEvidence:
        """Return what `to_json` wrote."""
        return cls(data["status"], data["value"], data["place"])


@dataclass(frozen=True, slots=True)
class ExclusionEvidence:
    """Whether a result meets an exclusion: met if it was checked that the pattern has no match.

    `breaks` are the paths of a match, if there is one.
    """

    status: ConditionStatus
    breaks: tuple[Path, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the status, and the paths of a match that breaks the exclusion."""
        return {"status": self.status, "paths": [path.to_json() for path in self.breaks]}


@dataclass(frozen=True, slots=True)
class PlanShare:
    """The fraction of a candidate's score in the graph's list that comes from one plan; its fractions add up to 1."""

    plan_index: int
    share: float

    def to_json(self) -> dict[str, Any]:
        """Return index and share."""
        return {"plan_index": self.plan_index, "share": self.share}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The conditions of one plan, each with its status for one result.

    `plans` are the plans that put the result into the graph's list, the one with the largest share first. The result is
    checked against the conditions of that first plan. A result that no plan found has no plans; it is checked against
    the plan that ordered the top of the graph's list. `whole` says whether it meets that plan as a whole. `value` is
    that of the field which the plan shows, None without such a field or value. `values` are those of the fields of the
    result that the plan's filters compare.
    """

    plan_index: int
    anchors: tuple[tuple[str, ConditionStatus], ...] = ()
    hops: tuple[ConditionStatus, ...] = ()
    residual: Residual = field(default_factory=Residual)
    paths: tuple[Path, ...] = ()
    filters: tuple[ConditionStatus, ...] = ()
    plans: tuple[PlanShare, ...] = ()
    whole: ConditionStatus = "unknown"
    exclude: tuple[ExclusionEvidence, ...] = ()
    order: OrderEvidence | None = None
    value: FieldValue | None = None
    values: Mapping[str, FieldValue] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as a search shows it; exclusions, order and values only if there are any."""
        written: dict[str, Any] = {
            "plan_index": self.plan_index,
            "whole": self.whole,
            "plans": [share.to_json() for share in self.plans],
            "anchors": [{"var": var, "status": status} for var, status in self.anchors],
            "hops": [{"index": index, "status": status} for index, status in enumerate(self.hops)],
            "filters": [{"index": index, "status": status} for index, status in enumerate(self.filters)],
            "residual": self.residual.to_json(),
            "paths": [path.to_json() for path in self.paths],
        }
        if self.exclude:
            written["exclude"] = [{"index": index, **one.to_json()} for index, one in enumerate(self.exclude)]
        written |= {"order": self.order.to_json()} if self.order else {}
        written |= {"values": dict(self.values)} if self.values else {}
        return written | ({"value": self.value} if self.value is not None else {})


@dataclass(frozen=True, slots=True)
class Result:
    """One explained result of the final ranking.

    `shares` holds the share of each list that is not a fusion; their contributions add up to the score. `fused` holds
    the shares of the lists that are fusions of some of these lists. `signals` are the signals that moved the result
    most, if a learned ranker ordered the list.
    """

    rank: int
    score: float
    node: Node
    snippet: str
    shares: dict[str, Share]
    evidence: Evidence | None = None
    fused: dict[str, Share] = field(default_factory=dict)
    signals: tuple[SignalShare, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as a search shows it."""
        return {
            "rank": self.rank,
            "score": self.score,
            "node": self.node.to_json(),
            "snippet": self.snippet,
            "scores": {name: share.to_json() for name, share in self.shares.items()},
            "fused": {name: share.to_json() for name, share in self.fused.items()},
            "signals": [signal.to_json() for signal in self.signals],
            "evidence": self.evidence.to_json() if self.evidence else None,
        }
