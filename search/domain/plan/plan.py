"""The plan of a question: anchors, hops, target, filters. `Plan.parse` reports every fault at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from search.domain.errors import Fault, PlanInvalid
from search.domain.graph import ANY, Schema
from search.domain.plan.checks import misfits
from search.domain.plan.faults import kind_of
from search.domain.plan.parse import PlanReader
from search.domain.plan.parts import (
    Anchor,
    Filter,
    Hop,
    PlanSource,
    RetrievalMode,
    Risk,
    Target,
)
from search.domain.plan.routes import routes


@dataclass(frozen=True)
class Plan:
    """A chain or tree of hops from anchors to the target (GRASP, section on planning; filters and directions are new).

    A plan without anchors has no hops either; text alone answers it.
    """

    anchors: tuple[Anchor, ...] = ()
    hops: tuple[Hop, ...] = ()
    target: Target = field(default_factory=Target)
    filters: tuple[Filter, ...] = ()
    risk_level: Risk = "normal"
    retrieval_mode: RetrievalMode | None = None

    @classmethod
    def parse(cls, data: object, schema: Schema) -> Plan:
        """Return the plan that the JSON describes.

        Raises PlanInvalid with every fault, each with its pointer and the nearest valid name.
        """
        if not isinstance(data, dict):
            raise PlanInvalid([Fault("", f"A plan is a JSON object, not {kind_of(data)}.")])
        reader = PlanReader(schema)
        plan = cls(*reader.read(data))
        if faults := reader.faults or misfits(plan, schema):
            raise PlanInvalid(faults)
        return plan

    def to_json(self) -> dict[str, Any]:
        """Return the plan as a JSON object; `parse` reads it back equal."""
        written: dict[str, Any] = {
            "anchors": [anchor.to_json() for anchor in self.anchors],
            "hops": [hop.to_json() for hop in self.hops],
            "target": self.target.to_json(),
            "filters": [condition.to_json() for condition in self.filters],
            "risk_level": self.risk_level,
        }
        return written | ({"retrieval_mode": self.retrieval_mode} if self.retrieval_mode else {})

    @property
    def labels_of(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Variable → sets of node types; the type of its node must be in each of the sets."""
        wanted: dict[str, list[tuple[str, ...]]] = {}
        for anchor in self.anchors:
            if anchor.label != ANY:
                wanted.setdefault(anchor.var, []).append((anchor.label,))
        for hop in self.hops:
            if hop.to_label != ANY:
                wanted.setdefault(hop.to_var, []).append((hop.to_label,))
        if self.target.labels:
            wanted.setdefault(self.target.var, []).append(self.target.labels)
        return {var: tuple(dict.fromkeys(labels)) for var, labels in wanted.items()}

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable once: those of the anchors, then of the hops in their order, then the target."""
        names = [anchor.var for anchor in self.anchors]
        for hop in self.hops:
            names += [hop.source, hop.to_var]
        return tuple(dict.fromkeys([*names, self.target.var]))

    @property
    def searches_documents(self) -> bool:
        """Whether the plan is a single description of the target, which all documents are searched for."""
        if self.hops or len(self.anchors) != 1:
            return False
        anchor = self.anchors[0]
        return anchor.var == self.target.var and anchor.match_mode == "doc" and not anchor.ids

    def branch(self, var: str) -> Plan:
        """Return the plan of one anchor alone: its shortest chain of hops to the target, with the filters on the chain.

        In a tree this is the only chain. If several shortest chains exist, the first in the order of the hops is taken.
        """
        chain = _chain(self.hops, var, self.target.var)
        kept = {end for hop in chain for end in (hop.source, hop.to_var)} | {var, self.target.var}
        return replace(
            self,
            anchors=tuple(anchor for anchor in self.anchors if anchor.var == var),
            hops=chain,
            filters=tuple(condition for condition in self.filters if condition.var in kept),
        )


@dataclass(frozen=True, slots=True)
class ScoredPlan:
    """A plan with its source and its probability among the plans of a search (they sum to at most 1)."""

    plan: Plan
    source: PlanSource
    probability: float

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a JSON object, as searches show it."""
        return {"plan": self.plan.to_json(), "source": self.source, "probability": self.probability}


def _chain(hops: Sequence[Hop], start: str, goal: str) -> tuple[Hop, ...]:
    """Return the hops of a shortest undirected path between two variables; empty if there is none."""
    legs = routes([(hop.source, hop.to_var) for hop in hops], start).get(goal, ())
    return tuple(hops[index] for index in sorted(leg.hop for leg in legs))
