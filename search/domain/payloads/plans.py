"""Recorded plans, their bindings, their traversals and their changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search.domain.aggregates import Aggregated
from search.domain.graph import ANY
from search.domain.linking import Placed
from search.domain.payloads.lists import Listed
from search.domain.plan import (
    Anchor,
    Count,
    EdgeField,
    Exclusion,
    FieldOf,
    Filter,
    Hop,
    Order,
    Plan,
    PlanSource,
    Target,
)

Json = Mapping[str, Any]


def plan_from_json(data: Json) -> Plan:
    """Return the plan that `Plan.to_json` wrote. It is not checked again: its schema may have been deleted."""
    target = data["target"]
    return Plan(
        anchors=_anchors(data),
        hops=_hops(data),
        target=Target(target["var"], tuple(target["labels"]), target["relevance_text"]),
        filters=_filters(data),
        risk_level=data["risk_level"],
        retrieval_mode=data.get("retrieval_mode"),
        exclude=tuple(Exclusion(_anchors(e), _hops(e), _filters(e)) for e in data.get("exclude", ())),
        order=_order(data["order"]) if data.get("order") else None,
        ask=data.get("ask", "which"),
        show=data.get("show", ""),
        show_edge=data.get("show_edge", ""),
    )


def _anchors(data: Json) -> tuple[Anchor, ...]:
    return tuple(
        Anchor(
            a["var"], a["text"], a["label"], a["match_mode"], tuple(a.get("ids", ())),
            plan_from_json(a["plan"]) if a.get("plan") else None,
        )
        for a in data["anchors"]
    )  # fmt: skip


def _hops(data: Json) -> tuple[Hop, ...]:
    return tuple(
        Hop(
            h["from"], h["rel"], h["to_var"], h["to_label"], h.get("direction"),
            tuple(Filter("", one["field"], one["op"], one.get("value")) for one in h.get("where", ())),
        )
        for h in data["hops"]
    )  # fmt: skip


def _filters(data: Json) -> tuple[Filter, ...]:
    def value(given: Any) -> Any:
        return FieldOf(given["var"], given["field"]) if isinstance(given, Mapping) else given

    return tuple(
        Filter(
            f["var"], f.get("field", ""), f["op"], value(f.get("value")), _count(f["count"]) if "count" in f else None
        )
        for f in data.get("filters", ())
    )


def _count(data: Json) -> Count:
    of = data.get("of", "")
    return Count(
        data["rel"], data.get("direction"), data.get("to_label", ANY), data.get("among", ""), data.get("function"),
        _count(of["count"]) if isinstance(of, Mapping) else of,
    )  # fmt: skip


def _order(data: Json) -> Order:
    by = data["by"]
    if "edge" in by:
        return Order(EdgeField(by["field"], by["edge"]), data["direction"], data["limit"])
    if "field" in by:
        return Order(by["field"], data["direction"], data["limit"])
    return Order(_count(by["count"]), data["direction"], data["limit"])


@dataclass(frozen=True)
class PlanEntry:
    """A plan in the list of plans, with its source and its probability.

    If the plan found nothing and was changed, `given` is the plan before the change, and `dropped` names the conditions
    that were moved from the graph to the text. `alike` are the words of the question that are taken for a node
    type or a relation only because they are like its name.
    """

    plan: Plan
    source: PlanSource
    probability: float
    given: Plan | None = None
    dropped: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded; a changed plan also has `given` and `dropped`, a guessed one `alike`."""
        written: dict[str, Any] = {"plan": self.plan.to_json(), "source": self.source, "probability": self.probability}
        written |= {"alike": list(self.alike)} if self.alike else {}
        return written if self.given is None else written | {
            "given": self.given.to_json(), "dropped": list(self.dropped),
        }  # fmt: skip


@dataclass(frozen=True)
class Plans:
    """The plans of a question, best first."""

    entries: tuple[PlanEntry, ...] = ()

    @classmethod
    def from_json(cls, data: Sequence[Json]) -> Plans:
        """Return the plans from a list of outputs of `ScoredPlan.to_json`."""
        return cls(
            tuple(
                PlanEntry(
                    plan_from_json(e["plan"]), e["source"], e["probability"],
                    alike=tuple(e.get("alike", ())),
                )
                for e in data
            )
        )  # fmt: skip

    def to_json(self) -> list[dict[str, Any]]:
        """Return the list as it was recorded."""
        return [entry.to_json() for entry in self.entries]


@dataclass(frozen=True)
class BoundNode:
    """A node that an anchor is bound to, and the cosine of their texts."""

    id: str
    type: str
    name: str
    score: float

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return {"node": {"id": self.id, "type": self.type, "name": self.name}, "score": self.score}


@dataclass(frozen=True)
class BoundAnchor:
    """An anchor of a plan, or of its exclusion with the index `exclude`, with the nodes that it is bound to.

    `reading` holds `how` its text was read as their name, and `others`, better-known nodes; None if it is their name.
    """

    plan_index: int
    anchor: str
    bindings: tuple[BoundNode, ...] = ()
    exclude: int | None = None
    reading: Json | None = None

    @classmethod
    def from_json(cls, data: Json) -> BoundAnchor:
        """Return the anchor from one entry of the output of `LinkedPlan.to_json`."""
        bound = tuple(BoundNode(**binding["node"], score=binding["score"]) for binding in data["bindings"])
        return cls(data["plan_index"], data["anchor"], bound, data.get("exclude"), data.get("reading"))

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        written: dict[str, Any] = {
            "plan_index": self.plan_index, "anchor": self.anchor, "bindings": [b.to_json() for b in self.bindings],
        }  # fmt: skip
        written |= {} if self.reading is None else {"reading": dict(self.reading)}
        return written if self.exclude is None else written | {"exclude": self.exclude}


@dataclass(frozen=True)
class Links:
    """The bound anchors of every plan, in the order of the plans."""

    plans: tuple[tuple[BoundAnchor, ...], ...] = ()

    @classmethod
    def from_json(cls, data: Sequence[Sequence[Json]]) -> Links:
        """Return the bound anchors from a list of outputs of `LinkedPlan.to_json`."""
        return cls(tuple(tuple(map(BoundAnchor.from_json, anchors)) for anchors in data))

    def to_json(self) -> list[list[dict[str, Any]]]:
        """Return the list as it was recorded."""
        return [[anchor.to_json() for anchor in anchors] for anchors in self.plans]


@dataclass(frozen=True)
class Traversed:
    """The candidates that one engine found for one plan, the executed query, and whether a limit cut the result.

    `placed` has the value and the place of each listed candidate if the plan has an order, `aggregate` what the plan
    asks to compute from a field of all its answers, `unlisted` how many further candidates were counted.
    """

    plan_index: int
    backend: str
    listed: Listed
    query: str = ""
    truncated: bool = False
    placed: tuple[Placed, ...] = ()
    aggregate: Aggregated | None = None
    unlisted: int = 0

    @classmethod
    def from_json(cls, data: Json) -> Traversed:
        """Return the traversal that `Traversal.to_json` wrote."""
        placed = tuple(Placed(one["value"], one["place"]) for one in data.get("placed", ()))
        aggregate = Aggregated.from_json(data["aggregate"]) if data.get("aggregate") else None
        return cls(
            data["plan_index"], data["backend"], Listed.from_json(data), data["query"], data["truncated"], placed,
            aggregate, data.get("unlisted", 0),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return (
            self.listed.to_json()
            | {
                "plan_index": self.plan_index,
                "backend": self.backend,
                "query": self.query,
                "truncated": self.truncated,
            }
            | ({"placed": [one.to_json() for one in self.placed]} if self.placed else {})
            | ({"aggregate": self.aggregate.to_json()} if self.aggregate else {})
            | ({"unlisted": self.unlisted} if self.unlisted else {})
        )


@dataclass(frozen=True)
class Traversals:
    """The traversals of all executed plans."""

    entries: tuple[Traversed, ...] = ()

    @classmethod
    def from_json(cls, data: Sequence[Json]) -> Traversals:
        """Return the traversals from a list of outputs of `Traversal.to_json`."""
        return cls(tuple(map(Traversed.from_json, data)))

    def to_json(self) -> list[dict[str, Any]]:
        """Return the list as it was recorded."""
        return [entry.to_json() for entry in self.entries]


@dataclass(frozen=True)
class Recovery:
    """A plan that found nothing and was changed until it found something.

    `given` is the plan before the change, `plan` the plan after it, and `traversal` the candidates of the changed plan.
    `others` are the plan changed otherwise, each as a plan behind all others.
    """

    plan_index: int
    plan: Plan
    given: Plan
    dropped: tuple[str, ...]
    linked: tuple[BoundAnchor, ...]
    traversal: Traversed
    others: tuple[Recovery, ...] = ()

    @classmethod
    def from_json(cls, data: Json) -> Recovery:
        """Return the recovery that a successful attempt wrote."""
        return cls(
            data["plan_index"], plan_from_json(data["plan"]), plan_from_json(data["given"]), tuple(data["dropped"]),
            tuple(map(BoundAnchor.from_json, data["linked"])), Traversed.from_json(data["traversal"]),
            tuple(map(cls.from_json, data.get("others", ()))),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return {
            "plan_index": self.plan_index,
            "plan": self.plan.to_json(),
            "given": self.given.to_json(),
            "dropped": list(self.dropped),
            "linked": [anchor.to_json() for anchor in self.linked],
            "traversal": self.traversal.to_json(),
            **({"others": [one.to_json() for one in self.others]} if self.others else {}),
        }

    def laid_over(self, plans: Plans, links: Links, found: Traversals) -> tuple[Plans, Links, Traversals]:
        """Return plans, bindings and traversals in which the values of the changed plan replace the earlier ones.

        Those of the plan changed otherwise stand behind all others.
        """
        at = self.plan_index
        entries = [self._entry(entry) if place == at else entry for place, entry in enumerate(plans.entries)]
        linked = [self.linked if place == at else bound for place, bound in enumerate(links.plans)]
        traversed = [self.traversal if entry.plan_index == at else entry for entry in found.entries]
        return (
            Plans((*entries, *(one._entry(entries[at]) for one in self.others))),
            Links((*linked, *(one.linked for one in self.others))),
            Traversals((*traversed, *(one.traversal for one in self.others))),
        )

    def _entry(self, entry: PlanEntry) -> PlanEntry:
        return replace(entry, plan=self.plan, given=self.given, dropped=self.dropped)
