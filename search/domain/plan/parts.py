"""The parts of a plan: anchors, hops, target, filters, exclusions, order, and the words that they may use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from search.domain.graph import ANY, Direction

if TYPE_CHECKING:
    from search.domain.plan.plan import Plan

MatchMode = Literal["name", "doc"]
Risk = Literal["no_trade", "weak", "normal", "aggressive"]
RISKS: tuple[Risk, ...] = get_args(Risk)
"""Risk levels from the most careful to the boldest."""
RetrievalMode = Literal["doc_search", "graph_filter_doc", "graph_expand", "graph_strict", "skip"]
Operator = Literal[
    "=", "<", "<=", ">", ">=", "between", "contains", "in", "!=", "not in", "not contains", "exists", "missing"
]
NEGATED: dict[str, Operator] = {"!=": "=", "not in": "in", "not contains": "contains", "missing": "exists"}
"""Operator → the operator that it negates: a node meets it exactly if it does not meet the other."""
DENIED: dict[Operator, Operator] = {
    "<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "contains": "not contains",
}  # fmt: skip
"""Operator → what is asked for behind a word such as *not*: *not after 2015* is `<= 2015`. A range has no opposite."""
WITHOUT_VALUE: tuple[Operator, ...] = ("exists", "missing")
"""Operators of filters that have no value."""
COMPARING: tuple[Operator, ...] = ("=", "!=", "<", "<=", ">", ">=")
"""Operators of filters whose value may be the field of another node of the plan."""
Aggregate = Literal["sum", "mean", "min", "max"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)
"""What is computed from a number field of all answers of a plan; `show` names the field."""
Ask = Literal["which", "how many", "whether", Aggregate]
PlanSource = Literal["schema", "llm", "learned", "user", "follow-up"]

COUNTING: tuple[Operator, ...] = ("=", "!=", "<", "<=", ">", ">=", "between")
"""Operators of filters on a count."""

MAX_HOPS = 6
MAX_ANCHORS = 6
MAX_TEXT = 2_000
MAX_VALUES = 200
MAX_IDS = 10_000
"""Most nodes that an anchor may give by their ids: so many may bear one name."""
MAX_NUMBER = 10**300
MAX_EXCLUSIONS = 10
MAX_CONDITIONS = 12
"""Most conditions that a planner reads from a question. What more of them mean together takes too long to find out."""
MAX_PLACES = 10_000
"""Largest limit of an order."""
MAX_DEPTH = 3
"""Largest depth of plans inside plans; a plan without another plan inside has depth 1."""
MAX_INNER = 6
"""Largest number of plans inside a plan, at any depth: each is executed."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entity that the question names or describes.

    `label` is its node type. `match_mode` says whether `text` is a short exact name or a descriptive phrase. If `ids`
    are given they are the anchor's nodes, found by name or picked by a person, and no look-up is needed. If `plan` is
    given, its answers are the anchor's nodes (*rivers in the state with the largest population*), and `text` is only
    its wording.
    """

    var: str
    text: str
    label: str = ANY
    match_mode: MatchMode = "name"
    ids: tuple[str, ...] = ()
    # Filters of the plan may hold lists, which have no hash.
    plan: Plan | None = field(default=None, hash=False)

    def to_json(self) -> dict[str, Any]:
        """Return the anchor as it is written in a plan's JSON."""
        written: dict[str, Any] = {
            "var": self.var, "text": self.text, "label": self.label, "match_mode": self.match_mode,
        }  # fmt: skip
        written |= {"ids": list(self.ids)} if self.ids else {}
        return written | ({"plan": self.plan.to_json()} if self.plan is not None else {})


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge from the variable `source` to the variable `to_var`, a node of type `to_label`.

    `direction` is `out` if the edge is stored from `source` to `to_var`, `in` if it is stored the other way, and None
    if both are allowed. `rel` and `to_label` may be `*`. `where` are filters on fields of the edge (*sold for less than
    20 euros*), whose `var` is empty; one edge has to meet all of them.
    """

    source: str
    rel: str
    to_var: str
    to_label: str = ANY
    direction: Direction | None = None
    # Filters may hold lists, which have no hash.
    where: tuple[Filter, ...] = field(default=(), hash=False)

    def to_json(self) -> dict[str, Any]:
        """Return the hop as it is written in a plan's JSON."""
        written: dict[str, Any] = {
            "from": self.source, "rel": self.rel, "to_var": self.to_var, "to_label": self.to_label,
        }  # fmt: skip
        written |= {"direction": self.direction} if self.direction else {}
        return written | ({"where": [condition.to_json() for condition in self.where]} if self.where else {})

    def joins(self, one: str, other: str) -> bool:
        """Whether the hop leads from one variable to another, in either direction."""
        return {self.source, self.to_var} == {one, other}


@dataclass(frozen=True, slots=True)
class Target:
    """The variable that the answers take, its node types (none: any), and the residual of the question.

    The residual, `relevance_text`, is the part of the question that hops and filters cannot express.
    """

    var: str = "T"
    labels: tuple[str, ...] = ()
    relevance_text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the target as it is written in a plan's JSON."""
        return {"var": self.var, "labels": list(self.labels), "relevance_text": self.relevance_text}


@dataclass(frozen=True, slots=True)
class FieldOf:
    """A field of the node that the variable `var` takes, as the value of a filter: *cheaper than X*."""

    var: str
    field: str

    def to_json(self) -> dict[str, Any]:
        """Return it as it is written in a plan's JSON."""
        return {"var": self.var, "field": self.field}


@dataclass(frozen=True, slots=True)
class Count:
    """The number of different nodes that a node is joined with over a relation: what an order or a filter compares.

    `direction` is `out` if the edges are stored from the node; None allows both. `rel` and `to_label` may be `*`. With
    `among`, a variable of the plan, only those nodes are counted that it takes in a match of the hops around it
    (*brands with more than two products made of wool*).

    With a `function` those nodes are not counted: it is computed from a number field of theirs, named by `of` (*brands
    by total sales*), or from a count of theirs (*authors by average number of citations of their papers*). A node
    without any such number has no value.
    """

    rel: str
    direction: Direction | None = None
    to_label: str = ANY
    among: str = ""
    function: Aggregate | None = None
    of: str | Count = ""

    @property
    def about(self) -> str:
        """What is compared, in a few words: `number of cites`, `sum of price over has brand`."""
        if self.function is None:
            return f"number of {self.rel}"
        return f"{self.function} of {self.of if isinstance(self.of, str) else self.of.about} over {self.rel}"

    def to_json(self) -> dict[str, Any]:
        """Return it as it is written in a plan's JSON."""
        written: dict[str, Any] = {"rel": self.rel}
        written |= {"direction": self.direction} if self.direction else {}
        written |= {"to_label": self.to_label} if self.to_label != ANY else {}
        written |= {"among": self.among} if self.among else {}
        if self.function is None:
            return written
        of = self.of if isinstance(self.of, str) else {"count": self.of.to_json()}
        return written | {"function": self.function, "of": of}


@dataclass(frozen=True, slots=True)
class EdgeField:
    """A field of the edge between an answer and the node that the variable `var` takes: *which shop sells X cheapest*.

    One hop of the plan joins both. An answer with several such edges has the values of all of them.
    """

    field: str
    var: str

    def to_json(self) -> dict[str, Any]:
        """Return it as it is written in a plan's JSON."""
        return {"field": self.field, "edge": self.var}


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a typed field of the node that the variable `var` takes, or on a count of its neighbours.

    `value` is a value, a list of values (`between`, `in`, `not in`), a `FieldOf`, or None (`exists`, `missing`). With a
    `count` (*brands with more than ten products*) `field` is empty, and `value` is a whole number or, for `between`,
    two; a node without any neighbour counts 0. What a count with a function computes is compared with any number.
    """

    var: str
    field: str
    op: Operator
    value: Any = None
    count: Count | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the filter as it is written in a plan's JSON."""
        what = {"field": self.field} if self.count is None else {"count": self.count.to_json()}
        written: dict[str, Any] = {**({"var": self.var} if self.var else {}), **what, "op": self.op}
        if self.op in WITHOUT_VALUE and self.value is None:
            return written
        return written | {"value": self.value.to_json() if isinstance(self.value, FieldOf) else self.value}

    def wording(self, names: Mapping[str, str]) -> str:
        """Return the filter in a few words: `price < 50`; `names` are those of the plan's variables."""
        about = self.count.about if self.count else self.field
        if isinstance(self.value, FieldOf):
            return f"{about} {self.op} that of {names.get(self.value.var, self.value.var)}"
        several = self.value if isinstance(self.value, list) else [] if self.value is None else [self.value]
        return " ".join([about, self.op, *([", ".join(map(str, several))] if several else [])])

    @property
    def others(self) -> frozenset[str]:
        """The other variables of the plan that this filter needs: those that it compares or counts among."""
        among = self.count.among if self.count is not None else ""
        return frozenset(filter(None, (among, self.compared.var if self.compared else "")))

    @property
    def compared(self) -> FieldOf | None:
        """The field that this filter compares with, or None if it has a value of its own."""
        return self.value if isinstance(self.value, FieldOf) else None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A pattern that must have no match: anchors, hops and filters around one variable of the plan.

    The pattern begins at the only variable that it shares with the plan. Its other variables are its own.
    """

    anchors: tuple[Anchor, ...] = ()
    hops: tuple[Hop, ...] = ()
    filters: tuple[Filter, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable of the pattern once."""
        names = [anchor.var for anchor in self.anchors]
        for hop in self.hops:
            names += [hop.source, hop.to_var]
        return tuple(dict.fromkeys(names))

    @property
    def wording(self) -> str:
        """The exclusion in a few words: its names, or its relations if it has none."""
        names = [anchor.text or ", ".join(anchor.ids) for anchor in self.anchors]
        return ", ".join(names or [hop.rel for hop in self.hops])

    def to_json(self) -> dict[str, Any]:
        """Return the exclusion as it is written in a plan's JSON."""
        written: dict[str, Any] = {
            "anchors": [anchor.to_json() for anchor in self.anchors], "hops": [hop.to_json() for hop in self.hops],
        }  # fmt: skip
        return written | ({"filters": [f.to_json() for f in self.filters]} if self.filters else {})


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the answers, by a field of theirs, by a count, or by a field of an edge that leads to them.

    Equal values share a place, and places are counted without gaps. Answers without the field share the last place.
    Only the answers of the first `limit` places are kept; None keeps all.
    """

    by: str | Count | EdgeField
    direction: Literal["asc", "desc"] = "desc"
    limit: int | None = None

    @property
    def field(self) -> str:
        """The field that the order compares, of the answers or of an edge; empty if it compares a count."""
        return "" if isinstance(self.by, Count) else self.by if isinstance(self.by, str) else self.by.field

    def within(self, variables: Collection[str]) -> Order | None:
        """Return the order for a plan of which only these variables are left: it counts all where its own is gone.

        Without the variable at the other end of the edge that it compares there is no order.
        """
        if isinstance(self.by, EdgeField) and self.by.var not in variables:
            return None
        if isinstance(self.by, Count) and self.by.among and self.by.among not in variables:
            return replace(self, by=replace(self.by, among=""))
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the order as it is written in a plan's JSON."""
        by: dict[str, Any] = {"field": self.by} if isinstance(self.by, str) else self.by.to_json()
        by = {"count": by} if isinstance(self.by, Count) else by
        return {"by": by, "direction": self.direction, "limit": self.limit}
