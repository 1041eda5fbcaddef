"""A plan as chains of chips: from each anchor over its hops to the target."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.plan.routes import routes
from search.plan_words import (
    AGGREGATE_WORDS,
    ASK_WORDS,
    Relations,
    aggregate_words,
    anchor_words,
    edge_filter_words,
    edge_filters,
    exclusion_words,
    field_words,
    filter_words,
    order_words,
    relation_words,
    variables_of,
    walked,
)
from search.sentences.values import type_words
from search.views.shown.wording import RISK_NAMES, RISK_WORDINGS, SOURCES

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """A node that an anchor is bound to, with the cosine of both texts."""

    id: str
    type: str
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class PlanChip:
    """A variable of the plan. Only anchors have `linked` entities; `text` is the text in the question.

    `inner` says that the entities are the answers of a plan inside the anchor, whose wording is `text`; `several` that
    they were given by their ids and are not called `text`, as where a question lets choose between two.
    """

    kind: str
    var: str
    type: str
    text: str = ""
    linked: tuple[LinkedEntity, ...] = ()
    inner: bool = False
    several: bool = False


@dataclass(frozen=True, slots=True)
class PlanArrow:
    """A hop as it is walked towards the target, in words; `direction` is that of the stored edge: out, in or either."""

    index: int
    relation: str
    direction: str


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step of a chain: a chip, and the arrow that leads on from it."""

    chip: PlanChip
    arrow: PlanArrow | None


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A condition beside the walk, and the actions that take it away and turn it round; `turn` may be empty."""

    kind: str
    word: str
    text: str
    drop: str
    turn: str = ""


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """A plan ready to print."""

    index: int
    chains: tuple[tuple[ChainStep, ...], ...]
    target: PlanChip
    residual: str
    filters: tuple[str, ...]
    risk: str
    risk_words: str
    source: str
    given: bool
    probability: float | None
    found: int | None
    json: str
    edge_filters: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    order: str = ""
    ask: str = ""
    show: str = ""
    computes: bool = False
    """Whether what it asks for is computed from a field of all answers."""
    before: str = ""
    """The plan in one line before conditions were dropped to find something; empty if none were dropped."""

    @property
    def risk_name(self) -> str:
        """How far the graph is trusted, in one word."""
        return RISK_NAMES.get(self.risk, self.risk)

    @property
    def parts(self) -> tuple[PlanPart, ...]:
        """The conditions beside the walk, each with the buttons that change it."""
        found = [PlanPart("text", "about", f"“{self.residual}”", "drop-text")] if self.residual else []
        found += [PlanPart("filter", "where", text, f"drop-filter {at}") for at, text in enumerate(self.filters)]
        found += [
            PlanPart("filter", "where", text, f"drop-edge-filter {at}") for at, text in enumerate(self.edge_filters)
        ]
        found += [
            PlanPart("exclude", "not", text, f"drop-exclusion {at}", f"require {at}")
            for at, text in enumerate(self.exclude)
        ]
        found += [PlanPart("order", "order", self.order, "drop-order", "turn-order")] if self.order else []
        found += [PlanPart("show", "shows", self.show, "drop-show")] if self.show else []
        return (*found, *([PlanPart("ask", "asks", self.ask, "drop-ask")] if self.ask else ()))

    @property
    def walks(self) -> bool:
        """Whether the plan queries the graph. Other plans were not run there and have no number of candidates."""
        return bool(self.chains or self.filters or self.exclude or self.order or self.computes)

    @property
    def summary(self) -> str:
        """The plan in one line of text."""
        # What is only compared with is said by its filter.
        chains = [
            " ".join(f"{link.chip.text or link.chip.type} {_arrow_text(link.arrow)}".strip() for link in chain)
            for chain in self.chains
            if chain[0].arrow or chain[0].chip.var == self.target.var
        ]
        alone = self.target.type if self.walks else f"{self.target.type}, by text alone"
        head = " and ".join(chains) + f" {self.target.type}" if chains else alone
        conditions = (*self.filters, *self.edge_filters)
        head += f", where {' and '.join(conditions)}" if conditions else ""
        head += "".join(f", not {pattern}" for pattern in self.exclude)
        head += f", {self.order}" if self.order else ""
        return f"{head}, about “{self.residual}”" if self.residual else head


def show_plan(entry: Json, index: int, linked: Sequence[Json] = (), relations: Relations | None = None) -> ShownPlan:
    """Return an entry of a search's `plans` as chips.

    `linked` are the search's bindings of all plans; `relations` are those of the schema, for their wordings.
    """
    plan = entry["plan"]
    own = [item for item in linked if item["plan_index"] == index and item.get("exclude") is None]
    bindings = {item["anchor"]: item["bindings"] for item in own}
    chips = _chips(plan, bindings)
    target = plan["target"]
    goal = target.get("var", "T")
    risk = plan.get("risk_level", "normal")
    computes = plan.get("ask") in AGGREGATE_WORDS
    return ShownPlan(
        index=index,
        chains=tuple(_chain(plan, anchor["var"], goal, chips, relations) for anchor in plan["anchors"]),
        target=PlanChip("target", goal, " or ".join(map(type_words, target.get("labels") or [""]))),
        residual=target.get("relevance_text", ""),
        filters=tuple(filter_text(one, goal, variables_of(plan), relations) for one in plan.get("filters") or ()),
        edge_filters=tuple(edge_filter_words(plan, *place) for place in edge_filters(plan)),
        exclude=tuple(exclusion_words(pattern, variables_of(plan), relations) for pattern in plan.get("exclude") or ()),
        order=order_words(plan["order"], relations) if plan.get("order") else "",
        ask=aggregate_words(plan["ask"], plan["show"]) if computes else ASK_WORDS.get(plan.get("ask", "which"), ""),
        show="" if computes else field_words(plan.get("show", ""))[0],
        computes=computes,
        risk=risk,
        risk_words=RISK_WORDINGS.get(risk, ""),
        source=SOURCES.get(entry.get("source", ""), ""),
        given=entry.get("source") == "user",
        probability=entry.get("probability"),
        found=entry.get("found"),
        json=json.dumps(plan, indent=2, ensure_ascii=False),
        before=show_plan({"plan": entry["given"]}, index, (), relations).summary if entry.get("dropped") else "",
    )


def filter_text(condition: Json, goal: str, variables: Mapping[str, str], relations: Relations | None = None) -> str:
    """Return a filter in words: `price under 30`, `founded of brand since 1900`."""
    whose = "" if condition["var"] == goal else variables.get(condition["var"], condition["var"])
    return filter_words(condition, whose, variables, relations)


def _chips(plan: Json, bindings: Mapping[str, Sequence[Json]]) -> dict[str, PlanChip]:
    chips = {hop["to_var"]: PlanChip("between", hop["to_var"], type_words(hop["to_label"])) for hop in plan["hops"]}
    for anchor in plan["anchors"]:
        tied = tuple(LinkedEntity(**b["node"], score=b["score"]) for b in bindings.get(anchor["var"], ()))
        kind, inner = type_words(anchor["label"]), bool(anchor.get("plan"))
        text = anchor_words(anchor) if inner else anchor["text"]
        several = len(anchor.get("ids", ())) > 1 and len(tied) > 1 and text != tied[0].name
        chips[anchor["var"]] = PlanChip("anchor", anchor["var"], kind, text, tied, inner, several)
    return chips


def _chain(
    plan: Json, start: str, goal: str, chips: Mapping[str, PlanChip], relations: Relations | None
) -> tuple[ChainStep, ...]:
    """Return the shortest walk from an anchor to the target, without the target, at which every chain ends.

    An anchor in the place of the target, or one that is only compared with, is alone.
    """
    found = routes([(hop["from"], hop["to_var"]) for hop in plan["hops"]], start).get(goal)
    if not found:
        return (ChainStep(chips[start], None),)
    links = []
    for leg in found:
        hop = plan["hops"][leg.hop]
        way = walked(hop, turned=leg.turned)
        arrow = PlanArrow(leg.hop, relation_words(hop["rel"], way, relations), way or "either")
        links.append(ChainStep(chips.get(leg.here) or PlanChip("between", leg.here, type_words("")), arrow))
    return tuple(links)


def _arrow_text(arrow: PlanArrow | None) -> str:
    return f"— {arrow.relation} →" if arrow else ""
