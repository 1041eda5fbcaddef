"""The plan of a question: anchors, hops, target, filters. `Plan.parse` reports every fault at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

from search.domain.errors import Fault, PlanInvalid
from search.domain.graph import ANY, Direction, Schema

MatchMode = Literal["name", "doc"]
Risk = Literal["no_trade", "weak", "normal", "aggressive"]
RetrievalMode = Literal["doc_search", "graph_filter_doc", "graph_expand", "graph_strict", "skip"]
Operator = Literal["=", "<", "<=", ">", ">=", "between", "contains", "in"]
PlanSource = Literal["schema", "llm", "learned", "user"]

MAX_HOPS = 6
MAX_ANCHORS = 6
MAX_TEXT = 2_000
MAX_VALUES = 200
MAX_NUMBER = 10**300


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entity that the question names or describes.

    `label` is its node type, `match_mode` says whether `text` is a short exact name or a descriptive phrase. `ids`,
    when given, are the nodes themselves: the planner found them by name, or a person picked them, and nothing is
    looked up.
    """

    var: str
    text: str
    label: str = ANY
    match_mode: MatchMode = "name"
    ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the anchor as plans write it."""
        written: dict[str, Any] = {
            "var": self.var, "text": self.text, "label": self.label, "match_mode": self.match_mode,
        }  # fmt: skip
        return written | ({"ids": list(self.ids)} if self.ids else {})


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge from `source` (a variable) to `to_var`, a node of type `to_label`.

    `direction` is `out` where the edge is stored from `source` to `to_var`, `in` where it is stored the other way,
    and None where either will do. `rel` and `to_label` may be `*`.
    """

    source: str
    rel: str
    to_var: str
    to_label: str = ANY
    direction: Direction | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the hop as plans write it."""
        written: dict[str, Any] = {
            "from": self.source, "rel": self.rel, "to_var": self.to_var, "to_label": self.to_label,
        }  # fmt: skip
        return written | ({"direction": self.direction} if self.direction else {})


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked for: a variable, the node types it may have (none: any), and the text that hops cannot say."""

    var: str = "T"
    labels: tuple[str, ...] = ()
    relevance_text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the target as plans write it."""
        return {"var": self.var, "labels": list(self.labels), "relevance_text": self.relevance_text}


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a typed field of the node that `var` stands for."""

    var: str
    field: str
    op: Operator
    value: Any

    def to_json(self) -> dict[str, Any]:
        """Return the filter as plans write it."""
        return {"var": self.var, "field": self.field, "op": self.op, "value": self.value}


@dataclass(frozen=True)
class Plan:
    """A walk or tree from anchors to the target (GRASP, section on planning; filters and direction are ours).

    A plan without anchors has no hops either: its answer is found by text alone.
    """

    anchors: tuple[Anchor, ...] = ()
    hops: tuple[Hop, ...] = ()
    target: Target = field(default_factory=Target)
    filters: tuple[Filter, ...] = ()
    risk_level: Risk = "normal"
    retrieval_mode: RetrievalMode | None = None

    @classmethod
    def parse(cls, data: object, schema: Schema) -> Plan:
        """Read a plan from JSON; PlanInvalid with every fault, each with its pointer and the nearest valid name."""
        return _Parser(schema).parse(data)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as INTERFACES describes it; `parse` reads it back equal."""
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
        """Every set of types a variable must satisfy, by variable; a node has to be in one type of each set."""
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
        """Every variable once, anchors first, then in the order of the hops, then the target."""
        names = [anchor.var for anchor in self.anchors]
        for hop in self.hops:
            names += [hop.source, hop.to_var]
        return tuple(dict.fromkeys([*names, self.target.var]))

    def branch(self, var: str) -> Plan:
        """Return the plan of one anchor alone: its shortest chain of hops to the target, and the filters on that chain.

        For a tree this is the only chain. Where an anchor reaches the target by several chains, the first shortest
        in the order of the hops is taken.
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
    """A plan in the list of plans: where it came from and how probable it is among them (they sum to at most 1)."""

    plan: Plan
    source: PlanSource
    probability: float

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a search shows it."""
        return {"plan": self.plan.to_json(), "source": self.source, "probability": self.probability}


def _chain(hops: Sequence[Hop], start: str, goal: str) -> tuple[Hop, ...]:
    """Breadth-first walk over the hops, undirected, from one variable to another."""
    if start == goal:
        return ()
    reached: dict[str, tuple[int, ...]] = {start: ()}
    frontier = [start]
    while frontier:
        following: list[str] = []
        for var in frontier:
            for index, hop in enumerate(hops):
                for here, there in ((hop.source, hop.to_var), (hop.to_var, hop.source)):
                    if here == var and there not in reached:
                        reached[there] = (*reached[var], index)
                        following.append(there)
        if goal in reached:
            return tuple(hops[index] for index in sorted(reached[goal]))
        frontier = following
    return ()


class _Parser:
    """Collects faults while it reads; used once."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.faults: list[Fault] = []
        self.types = [t.name for t in schema.node_types]
        self.relations = [r.name for r in schema.relations]

    def parse(self, data: object) -> Plan:
        if not isinstance(data, dict):
            raise PlanInvalid([Fault("", f"A plan is a JSON object, not {_kind(data)}.")])
        known = ("anchors", "hops", "target", "filters", "risk_level", "retrieval_mode")
        for key in data:
            if key not in known:
                self._fault(f"/{_escape(str(key))}", f"A plan has no key {key!r}.", _nearest(str(key), known))
        anchors = tuple(self._anchor(item, f"/anchors/{i}") for i, item in self._items(data, "anchors", MAX_ANCHORS))
        hops = tuple(self._hop(item, f"/hops/{i}") for i, item in self._items(data, "hops", MAX_HOPS))
        target = self._target(data.get("target"))
        filters = tuple(self._filter(item, f"/filters/{i}") for i, item in self._items(data, "filters", 20))
        risk = self._choice(data.get("risk_level", "normal"), get_args(Risk), "/risk_level")
        mode = data.get("retrieval_mode")
        if mode is not None:
            mode = self._choice(mode, get_args(RetrievalMode), "/retrieval_mode")
        plan = Plan(anchors, hops, target, filters, cast(Risk, risk), cast("RetrievalMode | None", mode))
        if not self.faults:
            self._check_shape(plan)
            self._check_fields(plan)
        if self.faults:
            raise PlanInvalid(self.faults)
        return plan

    def _anchor(self, item: dict[str, Any], at: str) -> Anchor:
        self._keys(item, ("var", "text", "label", "match_mode", "ids"), at)
        mode = self._choice(item.get("match_mode", "name"), get_args(MatchMode), f"{at}/match_mode")
        ids = item.get("ids", [])
        if not (isinstance(ids, list) and all(isinstance(node_id, str) and _storable(node_id) for node_id in ids)):
            self._fault(f"{at}/ids", "ids is a list of node ids, each a string of valid characters.")
            ids = []
        text = self._text(item, "text", at, required=not ids)
        label = self._name(item.get("label", ANY), [*self.types, ANY], f"{at}/label", "node type")
        return Anchor(self._var(item, "var", at), text, label, cast(MatchMode, mode), tuple(ids))

    def _hop(self, item: dict[str, Any], at: str) -> Hop:
        self._keys(item, ("from", "rel", "to_var", "to_label", "direction"), at)
        direction = item.get("direction")
        if direction is not None:
            direction = self._choice(direction, get_args(Direction), f"{at}/direction")
        return Hop(
            source=self._var(item, "from", at),
            rel=self._name(item.get("rel"), [*self.relations, ANY], f"{at}/rel", "relation"),
            to_var=self._var(item, "to_var", at),
            to_label=self._name(item.get("to_label", ANY), [*self.types, ANY], f"{at}/to_label", "node type"),
            direction=cast("Direction | None", direction),
        )

    def _target(self, item: object) -> Target:
        if not isinstance(item, dict):
            self._fault("/target", f"target is an object with var, labels and relevance_text, not {_kind(item)}.")
            return Target()
        self._keys(item, ("var", "labels", "relevance_text"), "/target")
        labels = item.get("labels", [])
        if isinstance(labels, str):
            labels = [labels]
        if not isinstance(labels, list):
            self._fault("/target/labels", f"labels is a list of node types, not {_kind(labels)}.")
            labels = []
        names = [self._name(n, [*self.types, ANY], f"/target/labels/{i}", "node type") for i, n in enumerate(labels)]
        text = self._text(item, "relevance_text", "/target", required=False)
        return Target(self._var(item, "var", "/target"), () if ANY in names else tuple(dict.fromkeys(names)), text)

    def _filter(self, item: dict[str, Any], at: str) -> Filter:
        self._keys(item, ("var", "field", "op", "value"), at)
        op = self._choice(item.get("op"), get_args(Operator), f"{at}/op")
        if "value" not in item:
            self._fault(f"{at}/value", "A filter needs a value.")
        name = self._text(item, "field", at, required=True)
        return Filter(self._var(item, "var", at), name, cast(Operator, op), item.get("value"))

    def _check_shape(self, plan: Plan) -> None:
        """Say what keeps the plan from being executed as a whole."""
        bound = [anchor.var for anchor in plan.anchors]
        for i, var in enumerate(bound):
            if var in bound[:i]:
                self._fault(f"/anchors/{i}/var", f"The variable {var!r} belongs to another anchor already.")
        if plan.hops and not plan.anchors:
            self._fault("/anchors", "A plan with hops needs at least one anchor to start from.")
        reach = {plan.target.var}
        for _ in plan.hops:
            for hop in plan.hops:
                if hop.source in reach or hop.to_var in reach:
                    reach |= {hop.source, hop.to_var}
        touched = {var for hop in plan.hops for var in (hop.source, hop.to_var)}
        if plan.anchors and plan.target.var not in touched | set(bound):
            self._fault(
                "/target/var", f"No hop reaches the target {plan.target.var!r}.", _nearest(plan.target.var, touched)
            )
            return
        for i, anchor in enumerate(plan.anchors):
            if anchor.var not in reach:
                self._fault(f"/anchors/{i}/var", f"No hops lead from the anchor {anchor.var!r} to the target.")
        for i, hop in enumerate(plan.hops):
            if hop.source == hop.to_var:
                self._fault(
                    f"/hops/{i}/to_var", f"The hop leads from {hop.source!r} to itself; give it another to_var."
                )
            if hop.source not in reach:
                self._fault(f"/hops/{i}/from", f"The hop from {hop.source!r} is not connected to the target.")
        for i, condition in enumerate(plan.filters):
            if condition.var not in plan.variables:
                message = f"No anchor, hop or target has the variable {condition.var!r}."
                self._fault(f"/filters/{i}/var", message, _nearest(condition.var, plan.variables))

    def _check_fields(self, plan: Plan) -> None:
        """Hold every filter against the fields of the types its variable may have."""
        labels = plan.labels_of
        for i, condition in enumerate(plan.filters):
            sets = labels.get(condition.var, ())
            types = [t for t in self.schema.node_types if all(t.name in allowed for allowed in sets)]
            fields = {f.name: f for t in types for f in t.fields}
            at = f"/filters/{i}"
            if condition.field != "name" and condition.field not in fields:
                where = " or ".join(t.name for t in types[:4]) or "that node"
                message = f"{where} has no field {condition.field!r}."
                self._fault(f"{at}/field", message, _nearest(condition.field, [*fields, "name"]))
                continue
            kind = fields[condition.field].kind if condition.field in fields else "keyword"
            self._check_value(condition, kind, at)

    def _check_value(self, condition: Filter, kind: str, at: str) -> None:
        values = condition.value if condition.op in ("between", "in") else [condition.value]
        if condition.op in ("between", "in") and not isinstance(values, list):
            self._fault(f"{at}/value", f"{condition.op} takes a list of values, not {_kind(condition.value)}.")
            return
        if condition.op == "between" and len(values) != 2:
            self._fault(f"{at}/value", f"between takes two values, the lowest and the highest, not {len(values)}.")
        if condition.op == "contains" and kind == "number":
            self._fault(f"{at}/op", f"contains looks inside text, and {condition.field} is a number; use = or between.")
        if condition.op in ("<", "<=", ">", ">=", "between") and kind == "text":
            self._fault(f"{at}/op", f"{condition.field} is text and has no order; use contains.")
        if len(values) > MAX_VALUES:
            self._fault(f"{at}/value", f"in takes at most {MAX_VALUES} values, not {len(values)}.")
        for value in values[:MAX_VALUES]:
            if kind == "number":
                right = isinstance(value, int | float) and not isinstance(value, bool)
                if right and not -MAX_NUMBER <= value <= MAX_NUMBER:
                    self._fault(f"{at}/value", f"{value!s:.20} is too large for a number, or none at all.")
            else:
                right = isinstance(value, str) and len(value) <= MAX_TEXT and _storable(value)
            if not right:
                self._fault(f"{at}/value", f"{condition.field} holds {_article(kind)}, not {_kind(value)}.")

    def _items(self, data: Mapping[str, Any], key: str, most: int) -> Iterable[tuple[int, dict[str, Any]]]:
        items = data.get(key, [])
        if not isinstance(items, list):
            self._fault(f"/{key}", f"{key} is a list, not {_kind(items)}.")
            return
        if len(items) > most:
            self._fault(f"/{key}", f"A plan has at most {most} {key}, not {len(items)}.")
        for i, item in enumerate(items[:most]):
            if isinstance(item, dict):
                yield i, item
            else:
                self._fault(f"/{key}/{i}", f"Each of {key} is an object, not {_kind(item)}.")

    def _keys(self, item: Mapping[str, Any], known: Sequence[str], at: str) -> None:
        for key in item:
            if key not in known:
                self._fault(f"{at}/{_escape(str(key))}", f"There is no key {key!r} here.", _nearest(str(key), known))

    def _var(self, item: Mapping[str, Any], key: str, at: str) -> str:
        value = item.get(key)
        if isinstance(value, str) and 0 < len(value) <= 64 and value.isprintable():
            return value
        self._fault(f"{at}/{key}", f"{key} is a variable: a string of 1 to 64 characters, not {_kind(value)}.")
        return ""

    def _text(self, item: Mapping[str, Any], key: str, at: str, *, required: bool) -> str:
        value = item.get(key, "")
        if not isinstance(value, str):
            self._fault(f"{at}/{key}", f"{key} is a string, not {_kind(value)}.")
            return ""
        if required and not value.strip():
            self._fault(f"{at}/{key}", f"{key} must not be empty.")
        if len(value) > MAX_TEXT:
            self._fault(f"{at}/{key}", f"{key} has {len(value)} characters; {MAX_TEXT} are the most.")
        if not _storable(value):
            self._fault(f"{at}/{key}", f"{key} holds a NUL character or half of a character, which no text has.")
        return value.strip()

    def _name(self, value: object, valid: Sequence[str], at: str, what: str) -> str:
        if isinstance(value, str) and value in valid:
            return value
        if not isinstance(value, str):
            self._fault(at, f"A {what} is a string, not {_kind(value)}.")
            return ANY
        self._fault(at, f"There is no {what} {value!r}.", _nearest(value, valid))
        return ANY

    def _choice(self, value: object, valid: Sequence[str], at: str) -> str:
        if isinstance(value, str) and value in valid:
            return value
        shown = repr(value) if isinstance(value, str) else _kind(value)
        self._fault(at, f"It is one of {', '.join(valid)}, not {shown}.", _nearest(str(value), valid))
        return valid[0]

    def _fault(self, pointer: str, message: str, nearest: str | None = None) -> None:
        if nearest is not None:
            message = f"{message} Did you mean {nearest!r}?"
        self.faults.append(Fault(pointer, message, nearest))


def _nearest(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name closest to a faulty one, ignoring case, or None where none is close."""
    folded = {candidate.casefold(): candidate for candidate in valid if candidate != ANY}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def _storable(text: str) -> bool:
    """Whether a text can be written as UTF-8 and kept in a database: no NUL, no half of a surrogate pair."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)


def _article(kind: str) -> str:
    return {"number": "a number", "date": "a date as YYYY-MM-DD", "keyword": "a string", "text": "a string"}[kind]


def _escape(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
