"""Reads a plan's JSON into its parts; `search.domain.plan.checks` checks whether they make an executable plan."""

from __future__ import annotations

from typing import Any, NamedTuple, cast, get_args

from search.domain.errors import nearest, pointer
from search.domain.graph import ANY, Direction, Schema
from search.domain.plan.faults import FaultFinder, kind_of, storable
from search.domain.plan.parts import (
    MAX_ANCHORS,
    MAX_HOPS,
    RISKS,
    Anchor,
    Filter,
    Hop,
    MatchMode,
    Operator,
    RetrievalMode,
    Risk,
    Target,
)

MAX_FILTERS = 20
PLAN_KEYS = ("anchors", "hops", "target", "filters", "risk_level", "retrieval_mode")


class Parts(NamedTuple):
    """The parts of a plan, in the order of the fields of `Plan`."""

    anchors: tuple[Anchor, ...]
    hops: tuple[Hop, ...]
    target: Target
    filters: tuple[Filter, ...]
    risk_level: Risk
    retrieval_mode: RetrievalMode | None


class PlanReader(FaultFinder):
    """Reads a plan's JSON over a schema and collects its faults; an instance is used once."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self.types = [t.name for t in schema.node_types]
        self.relations = [r.name for r in schema.relations]

    def read(self, data: dict[str, Any]) -> Parts:
        """Return the parts of the plan; they are usable only if `faults` is empty."""
        for key in data:
            if key not in PLAN_KEYS:
                self.fault(pointer(key), f"A plan has no key {key!r}.", nearest(str(key), PLAN_KEYS))
        mode = data.get("retrieval_mode")
        if mode is not None:
            mode = self.choice(mode, get_args(RetrievalMode), "/retrieval_mode")
        return Parts(
            anchors=tuple(self._anchor(item, f"/anchors/{i}") for i, item in self.items(data, "anchors", MAX_ANCHORS)),
            hops=tuple(self._hop(item, f"/hops/{i}") for i, item in self.items(data, "hops", MAX_HOPS)),
            target=self._target(data.get("target")),
            filters=tuple(self._filter(item, f"/filters/{i}") for i, item in self.items(data, "filters", MAX_FILTERS)),
            risk_level=cast(Risk, self.choice(data.get("risk_level", "normal"), RISKS, "/risk_level")),
            retrieval_mode=cast("RetrievalMode | None", mode),
        )

    def _anchor(self, item: dict[str, Any], at: str) -> Anchor:
        self.keys(item, ("var", "text", "label", "match_mode", "ids"), at)
        mode = self.choice(item.get("match_mode", "name"), get_args(MatchMode), f"{at}/match_mode")
        ids = item.get("ids", [])
        if not (isinstance(ids, list) and all(isinstance(node_id, str) and storable(node_id) for node_id in ids)):
            self.fault(f"{at}/ids", "ids is a list of node ids, each a string of valid characters.")
            ids = []
        text = self.text(item, "text", at, required=not ids)
        label = self.name(item.get("label", ANY), [*self.types, ANY], f"{at}/label", "node type")
        return Anchor(self.var(item, "var", at), text, label, cast(MatchMode, mode), tuple(ids))

    def _hop(self, item: dict[str, Any], at: str) -> Hop:
        self.keys(item, ("from", "rel", "to_var", "to_label", "direction"), at)
        direction = item.get("direction")
        if direction is not None:
            direction = self.choice(direction, get_args(Direction), f"{at}/direction")
        return Hop(
            source=self.var(item, "from", at),
            rel=self.name(item.get("rel"), [*self.relations, ANY], f"{at}/rel", "relation"),
            to_var=self.var(item, "to_var", at),
            to_label=self.name(item.get("to_label", ANY), [*self.types, ANY], f"{at}/to_label", "node type"),
            direction=cast("Direction | None", direction),
        )

    def _target(self, item: object) -> Target:
        if not isinstance(item, dict):
            self.fault("/target", f"target is an object with var, labels and relevance_text, not {kind_of(item)}.")
            return Target()
        self.keys(item, ("var", "labels", "relevance_text"), "/target")
        labels = item.get("labels", [])
        if isinstance(labels, str):
            labels = [labels]
        if not isinstance(labels, list):
            self.fault("/target/labels", f"labels is a list of node types, not {kind_of(labels)}.")
            labels = []
        names = [self.name(n, [*self.types, ANY], f"/target/labels/{i}", "node type") for i, n in enumerate(labels)]
        text = self.text(item, "relevance_text", "/target", required=False)
        return Target(self.var(item, "var", "/target"), () if ANY in names else tuple(dict.fromkeys(names)), text)

    def _filter(self, item: dict[str, Any], at: str) -> Filter:
        self.keys(item, ("var", "field", "op", "value"), at)
        op = self.choice(item.get("op"), get_args(Operator), f"{at}/op")
        if "value" not in item:
            self.fault(f"{at}/value", "A filter needs a value.")
        name = self.text(item, "field", at, required=True)
        return Filter(self.var(item, "var", at), name, cast(Operator, op), item.get("value"))
