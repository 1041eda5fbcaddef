"""Recorded explained results, the output of the last step of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.conditions import Conditions
from search.domain.evidence import (
    Evidence,
    ExclusionEvidence,
    OrderEvidence,
    Path,
    PathEdge,
    PathNode,
    PlanShare,
    Residual,
    Result,
)
from search.domain.fusion import Share
from search.domain.graph import Node
from search.domain.signals import SignalShare

Json = Mapping[str, Any]
NO_KEY = -1
"""Key of a node that is known only by its id. Keys belong to a snapshot, which may have been deleted."""


@dataclass(frozen=True)
class Results:
    """The results that were explained, best first."""

    entries: tuple[Result, ...] = ()

    @classmethod
    def from_json(cls, data: Sequence[Json]) -> Results:
        """Return the results from a list of outputs of `Result.to_json`."""
        return cls(tuple(map(_result, data)))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the list as it was recorded."""
        return [entry.to_json() for entry in self.entries]


@dataclass(frozen=True)
class Checked:
    """The conditions of the first candidates by id, best first, and the plan that ordered the top of the list."""

    conditions: Mapping[str, Conditions] = field(default_factory=dict)
    leading: int | None = None

    @classmethod
    def from_json(cls, data: Json) -> Checked:
        """Return the conditions that `CheckedConditions.to_json` wrote, with ids in place of keys."""
        read = map(Conditions.from_json, data["conditions"])
        return cls(dict(zip(data["ids"], read, strict=True)), data["leading"])

    def to_json(self) -> dict[str, Any]:
        """Return them as they were recorded."""
        conditions = [one.to_json() for one in self.conditions.values()]
        return {"leading": self.leading, "ids": list(self.conditions), "conditions": conditions}


def _node(data: Json) -> Node:
    return Node(NO_KEY, data["id"], data["type"], data["name"])


def _result(data: Json) -> Result:
    return Result(
        rank=data["rank"],
        score=data["score"],
        node=_node(data["node"]),
        snippet=data["snippet"],
        shares={name: _share(share) for name, share in data["scores"].items()},
        evidence=_evidence(data["evidence"]) if data["evidence"] else None,
        fused={name: _share(share) for name, share in data.get("fused", {}).items()},
        signals=tuple(map(SignalShare.from_json, data.get("signals", ()))),
    )


def _share(data: Json) -> Share:
    return Share(**{**data, "path": tuple(data.get("path", ()))})


def _evidence(data: Json) -> Evidence:
    return Evidence(
        plan_index=data["plan_index"],
        anchors=tuple((anchor["var"], anchor["status"]) for anchor in data["anchors"]),
        hops=tuple(hop["status"] for hop in data["hops"]),
        residual=Residual(**data["residual"]),
        paths=tuple(map(_path, data["paths"])),
        filters=tuple(condition["status"] for condition in data.get("filters", ())),
        plans=tuple(PlanShare(share["plan_index"], share["share"]) for share in data.get("plans", ())),
        whole=data.get("whole", "unknown"),
        exclude=tuple(
            ExclusionEvidence(one["status"], tuple(map(_path, one["paths"]))) for one in data.get("exclude", ())
        ),
        order=OrderEvidence.from_json(data["order"]) if data.get("order") else None,
        value=data.get("value"),
        values=data.get("values", {}),
    )


def _path(walk: Sequence[Json]) -> Path:
    nodes = tuple(PathNode(_node(part["node"]), part.get("var", "")) for part in walk[0::2])
    return Path(nodes, tuple(PathEdge(part["relation"], part["direction"]) for part in walk[1::2]))
