"""The parts of a plan: anchors, hops, target, filters, and the words that they may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from search.domain.graph import ANY, Direction

MatchMode = Literal["name", "doc"]
Risk = Literal["no_trade", "weak", "normal", "aggressive"]
RISKS: tuple[Risk, ...] = get_args(Risk)
"""Risk levels from the most careful to the boldest."""
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

    `label` is its node type. `match_mode` says whether `text` is a short exact name or a descriptive phrase. If `ids`
    are given they are the anchor's nodes, found by name or picked by a person, and no look-up is needed.
    """

    var: str
    text: str
    label: str = ANY
    match_mode: MatchMode = "name"
    ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the anchor as it is written in a plan's JSON."""
        written: dict[str, Any] = {
            "var": self.var, "text": self.text, "label": self.label, "match_mode": self.match_mode,
        }  # fmt: skip
        return written | ({"ids": list(self.ids)} if self.ids else {})


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge from the variable `source` to the variable `to_var`, a node of type `to_label`.

    `direction` is `out` if the edge is stored from `source` to `to_var`, `in` if it is stored the other way, and None
    if both are allowed. `rel` and `to_label` may be `*`.
    """

    source: str
    rel: str
    to_var: str
    to_label: str = ANY
    direction: Direction | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the hop as it is written in a plan's JSON."""
        written: dict[str, Any] = {
            "from": self.source, "rel": self.rel, "to_var": self.to_var, "to_label": self.to_label,
        }  # fmt: skip
        return written | ({"direction": self.direction} if self.direction else {})


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
class Filter:
    """A condition on a typed field of the node that the variable `var` takes."""

    var: str
    field: str
    op: Operator
    value: Any

    def to_json(self) -> dict[str, Any]:
        """Return the filter as it is written in a plan's JSON."""
        return {"var": self.var, "field": self.field, "op": self.op, "value": self.value}
