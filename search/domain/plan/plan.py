"""The plan of a question: anchors, hops, target, filters. `Plan.parse` reports every fault at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from search.domain.errors import Fault, PlanInvalid
from search.domain.graph import ANY, Schema
from search.domain.plan.checks import misfits
from search.domain.plan.faults import kind_of
from search.domain.plan.parse import PlanReader
from search.domain.plan.parts import (
    AGGREGATES,
    MAX_TEXT,
    Aggregate,
    Anchor,
    Ask,
    Count,
    EdgeField,
    Exclusion,
    Filter,
    Hop,
    Order,
    PlanSource,
    RetrievalMode,
    Risk,
    Target,
)
from search.domain.plan.routes import routes


@dataclass(frozen=True)
class Plan:
    """A chain or tree of hops from anchors to the target.

    GRASP, section on planning. Filters, directions, exclusions, order and `ask` are new. A plan without anchors is
    executed over all nodes of its target's types if it has a condition or an order; else text alone answers it.
    """

    anchors: tuple[Anchor, ...] = ()
    hops: tuple[Hop, ...] = ()
    target: Target = field(default_factory=Target)
    filters: tuple[Filter, ...] = ()
    risk_level: Risk = "normal"
    retrieval_mode: RetrievalMode | None = None
    exclude: tuple[Exclusion, ...] = ()
    order: Order | None = None
    ask: Ask = "which"
    show: str = ""
    """The field of the target that is asked for (*what does X cost*); empty if the answers themselves are.

    If `ask` is an aggregate, its value over all answers is asked for (*the average price of …*).
    """
    show_edge: str = ""
    """If `show` is a field of the edge between the target and another variable (*what does X cost at Y*): that one."""

    @classmethod
    def parse(cls, data: object, schema: Schema) -> Plan:
        """Return the plan that the JSON describes.

        Raises PlanInvalid with every fault, each with its pointer and the nearest valid name.
        """
        if not isinstance(data, dict):
            raise PlanInvalid([Fault("", f"A plan is a JSON object, not {kind_of(data)}.")])
        reader = PlanReader(schema, lambda parts: cls(*parts))
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
        written |= {"exclude": [exclusion.to_json() for exclusion in self.exclude]} if self.exclude else {}
        written |= {"order": self.order.to_json()} if self.order else {}
        written |= {"ask": self.ask} if self.ask != "which" else {}
        written |= {"show": self.show} if self.show else {}
        written |= {"show_edge": self.show_edge} if self.show_edge else {}
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
    def wording(self) -> str:
        """What the plan finds, in a few words: how an anchor is called whose nodes the plan finds.

        It has the node types, then the names, the filters, the exclusions, and what the order goes by.
        """
        names = {anchor.var: anchor.text or ", ".join(anchor.ids) for anchor in self.anchors}
        names |= {anchor.var: f"the {names[anchor.var]}" for anchor in self.anchors if anchor.plan is not None}
        joined = {self.target.var, *(end for hop in self.hops for end in (hop.source, hop.to_var))}
        told = [" or ".join(self.target.labels) or "nodes", *(f"of {names[var]}" for var in names if var in joined)]
        told += [f"with {' and '.join(one.wording({}) for one in hop.where)}" for hop in self.hops if hop.where]
        told += [f"with {' and '.join(one.wording(names) for one in self.filters)}"] if self.filters else []
        told += [f"without {exclusion.wording}" for exclusion in self.exclude]
        if self.order is not None:
            by = self.order.by.about if isinstance(self.order.by, Count) else self.order.field
            told.append(f"with the {'lowest' if self.order.direction == 'asc' else 'highest'} {by}")
        return " ".join(told).replace("_", " ")[:MAX_TEXT]

    @property
    def all_anchors(self) -> list[tuple[int | None, Anchor]]:
        """The anchors of the plan and of its exclusions, each with the index of its exclusion."""
        own: list[tuple[int | None, Anchor]] = [(None, anchor) for anchor in self.anchors]
        return own + [(index, anchor) for index, pattern in enumerate(self.exclude) for anchor in pattern.anchors]

    @property
    def anchors_by_pointer(self) -> list[tuple[str, Anchor]]:
        """The anchors of the plan and of its exclusions, each with its JSON pointer."""
        own = [(f"/anchors/{i}", anchor) for i, anchor in enumerate(self.anchors)]
        return own + [
            (f"/exclude/{index}/anchors/{i}", anchor)
            for index, pattern in enumerate(self.exclude)
            for i, anchor in enumerate(pattern.anchors)
        ]

    @property
    def runs_over_type(self) -> bool:
        """Whether the plan names no entity and is executed over all nodes of a type.

        Conditions or an order select among these, or an aggregate is computed from them.
        """
        return not self.anchors and bool(self.hops or self.filters or self.exclude or self.order or self.aggregate)

    @property
    def aggregate(self) -> Aggregate | None:
        """What is computed from the field `show` of all answers, or None if the answers are asked for."""
        return self.ask if self.ask in AGGREGATES else None

    def edge_of(self, var: str) -> Hop | None:
        """Return the hop that joins the target with a variable; None if there is none, or several."""
        found = [hop for hop in self.hops if hop.joins(self.target.var, var)]
        return found[0] if len(found) == 1 else None

    def within(self, variables: Collection[str]) -> Plan:
        """Return the plan as it orders and shows its answers where only these variables are left of it."""
        gone = bool(self.show_edge) and self.show_edge not in variables
        order = self.order.within(variables) if self.order is not None else None
        return replace(self, order=order, show="" if gone else self.show, show_edge="" if gone else self.show_edge)

    @property
    def shown_edge(self) -> EdgeField | None:
        """The field of an edge that is asked for, or None."""
        return EdgeField(self.show, self.show_edge) if self.show_edge else None

    @property
    def comparisons(self) -> tuple[Filter, ...]:
        """The filters that compare with a field of a node of the plan."""
        return tuple(condition for condition in self.filters if condition.compared is not None)

    def excluded(self, exclusion: Exclusion) -> Plan:
        """Return the pattern of an exclusion as a plan whose target is the variable that the pattern begins at."""
        start = next((var for var in exclusion.variables if var in self.variables), self.target.var)
        return Plan(exclusion.anchors, exclusion.hops, Target(start), exclusion.filters)

    @property
    def searches_documents(self) -> bool:
        """Whether the plan is a single description of the target, which all documents are searched for."""
        if self.hops or len(self.anchors) != 1:
            return False
        anchor = self.anchors[0]
        return anchor.var == self.target.var and anchor.match_mode == "doc" and not anchor.ids

    @property
    def reads_type(self) -> bool:
        """Whether the plan leaves the question to the documents of its target's types: it has no other condition."""
        return bool(self.target.labels and self.target.relevance_text) and not (self.anchors or self.runs_over_type)

    def branch(self, var: str) -> Plan:
        """Return the plan of one anchor alone: its shortest chain of hops to the target, with the filters on the chain.

        In a tree this is the only chain. If several shortest chains exist, the first in the order of the hops is taken.
        A comparison may be a part of the chain. Exclusions and order belong to the whole plan and are left out.
        """
        chain, _ = self.chain(var)
        kept = {end for hop in chain for end in (hop.source, hop.to_var)} | {var, self.target.var}
        return replace(
            self,
            anchors=tuple(anchor for anchor in self.anchors if anchor.var == var),
            hops=chain,
            filters=tuple(f for f in self.filters if {f.var} | f.others <= kept),
            exclude=(),
            order=None,
        )

    def chain(self, var: str) -> tuple[tuple[Hop, ...], tuple[Filter, ...]]:
        """Return the hops and the comparisons of a shortest undirected path from a variable to the target.

        A path of hops alone is preferred. Both are empty if there is no path.
        """
        joined = [(hop.source, hop.to_var) for hop in self.hops]
        compared = [(f.var, f.compared.var) for f in self.comparisons if f.compared]
        for ends in (joined, joined + compared):
            if legs := routes(ends, var).get(self.target.var, ()):
                taken = sorted(leg.hop for leg in legs)
                hops = tuple(self.hops[index] for index in taken if index < len(joined))
                return hops, tuple(self.comparisons[i - len(joined)] for i in taken if i >= len(joined))
        return (), ()


@dataclass(frozen=True, slots=True)
class ScoredPlan:
    """A plan with its source and its probability among the plans of a search (they sum to at most 1).

    `grounds` are the facts, by name, that a calibrated probability stands on; None where there are none. `alike` are
    the words of the question that are taken for a type or a relation only because they are like its name.
    """

    plan: Plan
    source: PlanSource
    probability: float
    grounds: Mapping[str, float] | None = None
    alike: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a JSON object, as searches show it."""
        written: dict[str, Any] = {"plan": self.plan.to_json(), "source": self.source, "probability": self.probability}
        written |= {"alike": list(self.alike)} if self.alike else {}
        return written | ({} if self.grounds is None else {"grounds": dict(self.grounds)})
