"""Reads a plan's JSON into its parts; `search.domain.plan.checks` checks whether they make an executable plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from search.domain.errors import nearest, pointer
from search.domain.graph import ANY, Direction, Schema
from search.domain.plan.faults import FaultFinder, kind_of, quoted
from search.domain.plan.parts import (
    AGGREGATES,
    COMPARING,
    COUNTING,
    MAX_ANCHORS,
    MAX_DEPTH,
    MAX_EXCLUSIONS,
    MAX_HOPS,
    MAX_IDS,
    MAX_INNER,
    MAX_NUMBER,
    MAX_PLACES,
    MAX_VALUES,
    RISKS,
    WITHOUT_VALUE,
    Aggregate,
    Anchor,
    Ask,
    Count,
    EdgeField,
    Exclusion,
    FieldOf,
    Filter,
    Hop,
    MatchMode,
    Operator,
    Order,
    RetrievalMode,
    Risk,
    Target,
)
from search.domain.unstorable import storable

if TYPE_CHECKING:
    from search.domain.plan.plan import Plan

MAX_FILTERS = 20
MAX_COUNT = 10**9
"""Largest number that a count is compared with."""
PLAN_KEYS = (
    "anchors", "hops", "target", "filters", "exclude", "order", "ask", "show", "show_edge", "risk_level",
    "retrieval_mode",
)  # fmt: skip


class PlanParts(NamedTuple):
    """The parts of a plan, in the order of the fields of `Plan`."""

    anchors: tuple[Anchor, ...]
    hops: tuple[Hop, ...]
    target: Target
    filters: tuple[Filter, ...]
    risk_level: Risk
    retrieval_mode: RetrievalMode | None
    exclude: tuple[Exclusion, ...]
    order: Order | None
    ask: Ask
    show: str
    show_edge: str


class PlanReader(FaultFinder):
    """Reads a plan's JSON over a schema and collects its faults; an instance is used once.

    `build` makes the plan inside an anchor of its parts, `depth` is the depth of the plan that is read, and `inner`
    holds the pointers of the plans inside the outermost one that were read before.
    """

    def __init__(
        self, schema: Schema, build: Callable[[PlanParts], Plan], depth: int = 1, inner: list[str] | None = None
    ) -> None:
        super().__init__()
        self._schema, self._build, self._depth = schema, build, depth
        self._inner_plans = [] if inner is None else inner
        self.types = [t.name for t in schema.node_types]
        self.relations = [r.name for r in schema.relations]

    def read(self, data: dict[str, Any]) -> PlanParts:
        """Return the parts of the plan; they are usable only if `faults` is empty."""
        for key in data:
            if not self.full and key not in PLAN_KEYS:
                self.fault(pointer(key), f"A plan has no key {quoted(key)}.", nearest(str(key), PLAN_KEYS))
        mode = data.get("retrieval_mode")
        if mode is not None:
            mode = self.choice(mode, get_args(RetrievalMode), "/retrieval_mode")
        return PlanParts(
            anchors=self._anchors(data, ""),
            hops=self._hops(data, ""),
            target=self._target(data.get("target")),
            filters=self._filters(data, ""),
            risk_level=cast(Risk, self.choice(data.get("risk_level", "normal"), RISKS, "/risk_level")),
            retrieval_mode=cast("RetrievalMode | None", mode),
            exclude=tuple(
                self._exclusion(item, at)
                for at, item in self.items(data, "exclude", MAX_EXCLUSIONS, plural="exclusions")
            ),
            order=self._order(data["order"]) if data.get("order") is not None else None,
            ask=cast(Ask, self.choice(data.get("ask") or "which", get_args(Ask), "/ask")),
            show=self.text(data, "show", "", required=False) if data.get("show") is not None else "",
            show_edge=self.var(data, "show_edge", "") if data.get("show_edge") else "",
        )

    def _anchors(self, data: dict[str, Any], at: str) -> tuple[Anchor, ...]:
        return tuple(self._anchor(item, place) for place, item in self.items(data, "anchors", MAX_ANCHORS, at))

    def _hops(self, data: dict[str, Any], at: str) -> tuple[Hop, ...]:
        return tuple(self._hop(item, place) for place, item in self.items(data, "hops", MAX_HOPS, at))

    def _filters(self, data: dict[str, Any], at: str) -> tuple[Filter, ...]:
        return tuple(self._filter(item, place) for place, item in self.items(data, "filters", MAX_FILTERS, at))

    def _exclusion(self, item: dict[str, Any], at: str) -> Exclusion:
        self.keys(item, ("anchors", "hops", "filters"), at)
        before = len(self.faults)
        read = Exclusion(self._anchors(item, at), self._hops(item, at), self._filters(item, at))
        if not read.variables and len(self.faults) == before:
            self.fault(at, "An exclusion says what must not be: it needs at least one starting point or step.")
        return read

    def _order(self, item: object) -> Order | None:
        if not isinstance(item, dict):
            self.fault("/order", f"order is an object with by, direction and limit, not {kind_of(item)}.")
            return None
        self.keys(item, ("by", "direction", "limit"), "/order")
        direction = self.choice(item.get("direction") or "desc", ("desc", "asc"), "/order/direction")
        limit = item.get("limit")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            self.fault("/order/limit", f"limit is a whole number of places, or null for all, not {kind_of(limit)}.")
            limit = None
        elif limit is not None and not 1 <= limit <= MAX_PLACES:
            message = (
                f"limit is the number of places to keep, from 1 to {MAX_PLACES}, or null for all; not {limit!s:.20}."
            )
            self.fault("/order/limit", message)
            limit = None
        by = self._order_by(item.get("by"))
        return None if by is None else Order(by, "asc" if direction == "asc" else "desc", limit)

    def _order_by(self, item: object) -> str | Count | EdgeField | None:
        shape = 'by is {"field": …} or {"count": {"rel": …}}'
        if not isinstance(item, dict):
            self.fault("/order/by", f"{shape}, not {kind_of(item)}.")
            return None
        self.keys(item, ("field", "edge", "count"), "/order/by")
        if ("field" in item) == ("count" in item):
            self.fault("/order/by", f"{shape}: one of the two.")
            return None
        if "field" in item:
            field = self.text(item, "field", "/order/by", required=True)
            return EdgeField(field, self.var(item, "edge", "/order/by")) if item.get("edge") else field or None
        return self._count(item["count"], "/order/by/count")

    def _count(self, count: object, at: str) -> Count | None:
        if not isinstance(count, dict):
            self.fault(at, f"count is an object with rel, direction, to_label and among, not {kind_of(count)}.")
            return None
        self.keys(count, ("rel", "direction", "to_label", "among", "function", "of"), at)
        function, of = self._function(count, at)
        return Count(
            self.name(count.get("rel"), [*self.relations, ANY], f"{at}/rel", "relation"),
            self._direction(count, at),
            self.name(count.get("to_label") or ANY, [*self.types, ANY], f"{at}/to_label", "type"),
            self.var(count, "among", at) if count.get("among") else "",
            function,
            of,
        )

    def _function(self, count: dict[str, Any], at: str) -> tuple[Aggregate | None, str | Count]:
        """Return the function that is computed from the counted nodes, and from which field or count of theirs."""
        of = count.get("of") or ""
        if count.get("function") is None:
            if of:
                self.fault(f"{at}/of", f"of needs a function: one of {', '.join(AGGREGATES)}.")
            return None, ""
        function = cast(Aggregate, self.choice(count["function"], AGGREGATES, f"{at}/function"))
        if not isinstance(of, dict):
            return function, self.text(count, "of", at, required=True)
        self.keys(of, ("count",), f"{at}/of")
        inner = self._count(of.get("count"), f"{at}/of/count")
        if inner is not None and (inner.function is not None or inner.among):
            self.fault(f"{at}/of/count", "What a function is computed from is a field or a plain count.")
            inner = None
        return function, inner or ""

    def _direction(self, item: dict[str, Any], at: str) -> Direction | None:
        direction = item.get("direction")
        if direction is not None:
            direction = self.choice(direction, get_args(Direction), f"{at}/direction")
        return cast("Direction | None", direction)

    def _anchor(self, item: dict[str, Any], at: str) -> Anchor:
        self.keys(item, ("var", "text", "label", "match_mode", "ids", "plan"), at)
        mode = self.choice(item.get("match_mode", "name"), get_args(MatchMode), f"{at}/match_mode")
        ids = item.get("ids", [])
        if not (isinstance(ids, list) and all(isinstance(node_id, str) and storable(node_id) for node_id in ids)):
            self.fault(f"{at}/ids", "ids is a list of entity ids, each a string of valid characters.")
            ids = []
        if len(ids) > MAX_IDS:
            self.fault(f"{at}/ids", f"A starting point has at most {MAX_IDS:,} ids, not {len(ids):,}.")
            ids = ids[:1]
        inner = self._inner(item["plan"], f"{at}/plan") if item.get("plan") is not None else None
        if ids and inner is not None:
            self.fault(f"{at}/ids", "The entities of a starting point are given by ids or by a plan: one of the two.")
        text = self.text(item, "text", at, required=not ids and item.get("plan") is None)
        label = self.name(item.get("label", ANY), [*self.types, ANY], f"{at}/label", "type")
        if inner is not None:
            text = text or inner.wording
            label = inner.target.labels[0] if label == ANY and len(inner.target.labels) == 1 else label
        return Anchor(self.var(item, "var", at), text, label, cast(MatchMode, mode), tuple(ids), inner)

    def _inner(self, item: object, at: str) -> Plan | None:
        """Return the plan inside an anchor, whose answers are the anchor's nodes."""
        if not isinstance(item, dict):
            self.fault(at, f"plan is a plan, an object as the whole plan is, not {kind_of(item)}.")
            return None
        if self._depth == MAX_DEPTH:
            self.fault(at, f"Plans are nested at most {MAX_DEPTH} deep; this one would be deeper.")
            return None
        self._inner_plans.append(at)
        if len(self._inner_plans) > MAX_INNER:
            self.fault(at, f"A plan has at most {MAX_INNER} plans inside it, at any depth.")
            return None
        reader = PlanReader(self._schema, self._build, self._depth + 1, self._inner_plans)
        parts = reader.read(item)
        if parts.ask != "which":
            reader.fault("/ask", "A plan inside another one asks which entities there are; leave ask out.")
        for key, given in (
            ("show", parts.show), ("show_edge", parts.show_edge), ("retrieval_mode", parts.retrieval_mode),
        ):  # fmt: skip
            if given:
                reader.fault(pointer(key), f"Only the outermost plan has {key}.")
        if parts.target.relevance_text:
            reader.fault("/target/relevance_text", "A plan inside another one has no text: its documents are not read.")
        self.faults += [fault.below(at) for fault in reader.faults]
        return self._build(parts) if not reader.faults else None

    def _hop(self, item: dict[str, Any], at: str) -> Hop:
        self.keys(item, ("from", "rel", "to_var", "to_label", "direction", "where"), at)
        return Hop(
            source=self.var(item, "from", at),
            rel=self.name(item.get("rel"), [*self.relations, ANY], f"{at}/rel", "relation"),
            to_var=self.var(item, "to_var", at),
            to_label=self.name(item.get("to_label", ANY), [*self.types, ANY], f"{at}/to_label", "type"),
            direction=self._direction(item, at),
            where=tuple(self._edge_filter(one, place) for place, one in self.items(item, "where", MAX_FILTERS, at)),
        )

    def _edge_filter(self, item: dict[str, Any], at: str) -> Filter:
        """Return a filter on a field of a hop's edge."""
        self.keys(item, ("field", "op", "value"), at)
        if isinstance(item.get("value"), dict):
            self.fault(f"{at}/value", "A filter of a relation takes a value; only one of an entity compares.")
            return Filter("", "", "=")
        return self._field_filter(item, at, "")

    def _target(self, item: object) -> Target:
        if not isinstance(item, dict):
            self.fault("/target", f"target is an object with var, labels and relevance_text, not {kind_of(item)}.")
            return Target()
        self.keys(item, ("var", "labels", "relevance_text"), "/target")
        labels = item.get("labels", [])
        if isinstance(labels, str):
            labels = [labels]
        if not isinstance(labels, list):
            self.fault("/target/labels", f"labels is a list of types, not {kind_of(labels)}.")
            labels = []
        most = max(MAX_VALUES, len(self.types))
        if len(labels) > most:
            self.fault("/target/labels", f"labels holds at most {most:,} types, not {len(labels):,}.")
            labels = []
        names = [self.name(n, [*self.types, ANY], f"/target/labels/{i}", "type") for i, n in enumerate(labels)]
        text = self.text(item, "relevance_text", "/target", required=False)
        return Target(self.var(item, "var", "/target"), () if ANY in names else tuple(dict.fromkeys(names)), text)

    def _filter(self, item: dict[str, Any], at: str) -> Filter:
        self.keys(item, ("var", "field", "count", "op", "value"), at)
        if "count" in item:
            return self._count_filter(item, at)
        return self._field_filter(item, at, self.var(item, "var", at))

    def _field_filter(self, item: dict[str, Any], at: str, var: str) -> Filter:
        op = cast(Operator, self.choice(item.get("op"), get_args(Operator), f"{at}/op"))
        value = item.get("value")
        if op in WITHOUT_VALUE:
            if value is not None:
                self.fault(f"{at}/value", f"{op} says all by itself; leave the value out.")
        elif "value" not in item:
            self.fault(f"{at}/value", "A filter needs a value.")
        elif isinstance(value, dict):
            value = self._compared(value, op, f"{at}/value")
        return Filter(var, self.text(item, "field", at, required=True), op, value)

    def _count_filter(self, item: dict[str, Any], at: str) -> Filter:
        if item.get("field"):
            self.fault(at, "A filter is about a field or about a count: one of the two.")
        op = cast(Operator, self.choice(item.get("op"), COUNTING, f"{at}/op"))
        value = item.get("value")
        ends: list[Any] = value if op == "between" and isinstance(value, list) else [value]
        count = self._count(item["count"], f"{at}/count")
        computed = count is not None and count.function is not None
        right = all(_is_number(one) if computed else _is_count(one) for one in ends)
        if not right or (op == "between" and (len(ends) != 2 or ends[0] > ends[1])):
            kind = "number" if computed else "whole number"
            wanted = f"two {kind}s, the lower first" if op == "between" else f"a {kind}"
            wanted += "" if computed else f", from 0 to {MAX_COUNT}"
            what = count.function if computed and count is not None else "count"
            self.fault(f"{at}/value", f"A {what} is compared with {wanted}.")
        return Filter(self.var(item, "var", at), "", op, value, count)

    def _compared(self, value: dict[str, Any], op: Operator, at: str) -> FieldOf:
        self.keys(value, ("var", "field"), at)
        if op not in COMPARING:
            self.fault(at, f"{op} takes no field of another entity; one of {', '.join(COMPARING)} does.")
        return FieldOf(self.var(value, "var", at), self.text(value, "field", at, required=True))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -MAX_NUMBER <= value <= MAX_NUMBER
