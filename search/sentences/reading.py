"""A plan as one phrase, for somebody who knows no plans, and its conditions in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from search.domain.graph import ANY
from search.domain.plan.routes import routes
from search.language.units import unit_of_name
from search.plan_words import (
    AGGREGATE_WORDS,
    DATED_WORDS,
    Relations,
    anchor_words,
    compared_only,
    exclusion_words,
    filter_words,
    happened,
    most_words,
    order_words,
    relation_words,
    variables_of,
    walked,
    where_words,
)
from search.sentences.values import type_words

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedCondition:
    """What a name asks of an answer, in words, with the variable of its anchor and the indexes of its hops."""

    words: str
    var: str
    hops: tuple[int, ...]


def reading_words(plan: Json, relations: Relations) -> str:
    """Return what a plan asks for: `drug that treats “headache”`, `price of the product with the lowest weight`."""
    kind, parts, excluded, named = conditions_of(plan, relations)
    order = plan.get("order") or {}
    placed = order_words(order, relations) if order else ""
    if order.get("limit"):
        parts = [*parts, _first(order, placed, relations) if order["limit"] == 1 else f"is one of the {placed}"]
    said = f"{kind} that {' and '.join(parts)}" if parts else kind
    said = f"{named}, the {said}" if named else said
    if order and not order.get("limit"):
        said = f"{said}, {placed}"
    said = ", ".join([said, *excluded])
    if text := plan["target"].get("relevance_text"):
        said = f"{said}, about “{text}”"
    return _asked(plan, said)


def _first(order: Json, placed: str, relations: Relations) -> str:
    """Return what the first of an order is: `is the lightest one`, `was founded first`, `wrote the most papers`."""
    count = order["by"].get("count")
    if count is not None and not count.get("function"):
        return most_words(count, order["direction"], relations)
    what = placed.removeprefix("one ")
    if happened(str(order["by"].get("field", ""))):
        return f"was {what}"
    return f"has {what.removeprefix('with ')}" if what.startswith("with ") else f"is the {placed}"


def _asked(plan: Json, said: str) -> str:
    ask, show = plan.get("ask", "which"), plan.get("show") or ""
    if ask in AGGREGATE_WORDS:
        return f"{AGGREGATE_WORDS[ask]} {unit_of_name(show)[0]} of each {said}"
    if ask == "how many":
        return f"how many there are: {said}"
    if ask == "whether":
        return f"whether there is any {said}"
    return f"{unit_of_name(show)[0]} of {said}" if show else said


def conditions_of(plan: Json, relations: Relations) -> tuple[str, list[str], list[str], str]:
    """Return the kind of the answers with its filters, what they have to be, what not, and the name they have to have.

    `product with price under 50`, [`is made of “oak”`, …], [`not “written by Ada”`, …], and mostly no name.
    """
    parts = [*_joined(plan, relations), *(one.words for one in named_conditions(plan, relations))]
    labels = plan["target"].get("labels") or [ANY]
    kind = " or ".join(map(type_words, labels)) if ANY not in labels else "thing"
    dated, others = _of_filters(plan, relations)
    if dated:
        kind = f"{kind} {' and '.join(dated)}"
    if others:
        kind = f"{kind} with {', '.join(others)}"
    goal = plan["target"].get("var", "T")
    named = next((name_words(anchor, relations) for anchor in plan["anchors"] if anchor["var"] == goal), "")
    return kind, parts, list(exclusions(plan, relations)), named


def named_conditions(plan: Json, relations: Relations) -> Iterator[NamedCondition]:
    """Yield what each name asks of an answer, from the answer outwards: `works at an institution that is in “X”`."""
    goal = plan["target"].get("var", "T")
    hops = plan["hops"]
    types = {hop["to_var"]: hop["to_label"] for hop in hops}
    reached = routes([(hop["from"], hop["to_var"]) for hop in hops], goal)
    apart = compared_only(plan)
    for anchor in plan["anchors"]:
        if anchor["var"] in apart:
            # The filter that compares with it says it.
            continue
        said: list[str] = []
        legs = reached.get(anchor["var"], ())
        for leg in legs:
            hop = hops[leg.hop]
            said.append(relation_words(hop["rel"], walked(hop, turned=leg.turned), relations) + where_words(hop))
            if leg.there != anchor["var"]:
                label = types.get(leg.there, ANY)
                said.append(f"{'something' if label == ANY else with_article(type_words(label))} that")
        if anchor["var"] != goal:
            told = " ".join([*said, name_words(anchor, relations)]) if said else f"is {name_words(anchor, relations)}"
            yield NamedCondition(told, anchor["var"], tuple(leg.hop for leg in legs))


def _joined(plan: Json, relations: Relations) -> Iterator[str]:
    """Yield the filters that ask an answer for any neighbour, as conditions: `treats a disease`."""
    for condition in plan.get("filters") or ():
        if _is_any_neighbour(plan, condition):
            count = condition["count"]
            far = count.get("to_label", ANY)
            said = relation_words(count["rel"], count.get("direction"), relations)
            yield f"{said} {'something' if far == ANY else with_article(type_words(far))}"


def _is_any_neighbour(plan: Json, condition: Json) -> bool:
    own = condition["var"] == plan["target"].get("var", "T") and (condition["op"], condition.get("value")) == (">=", 1)
    return own and "count" in condition and not condition["count"].get("among") and condition["count"]["rel"] != ANY


def name_words(anchor: Json, relations: Relations) -> str:
    """Return a name in quotation marks, or what the plan inside an anchor asks for: `the brand that has the …`."""
    inside = anchor.get("plan")
    return f"the {reading_words(inside, relations)}" if inside else f"“{anchor_words(anchor)}”"


def _of_filters(plan: Json, relations: Relations) -> tuple[list[str], list[str]]:
    """Return the filters in words: those that say when something happened to the answer, and the others."""
    goal = plan["target"].get("var", "T")
    variables = variables_of(plan)
    dated, others = list[str](), list[str]()
    for condition in plan.get("filters") or ():
        if _is_any_neighbour(plan, condition):
            continue
        whose = "" if condition["var"] == goal else variables.get(condition["var"], condition["var"])
        when = not whose and condition["op"] in DATED_WORDS and happened(condition.get("field") or "")
        (dated if when else others).append(filter_words(condition, whose, variables, relations))
    return dated, others


def exclusions(plan: Json, relations: Relations) -> Iterator[str]:
    """Yield what an answer must not be: `not “written by Ada”`."""
    variables = variables_of(plan)
    for pattern in plan.get("exclude") or ():
        yield f"not “{exclusion_words(pattern, variables, relations)}”"


def with_article(noun: str) -> str:
    """Return a noun, or a phrase that begins with it, with its indefinite article."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
