"""A plan as one phrase, so that somebody who knows no plans can say whether it is what they meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search.domain.graph import ANY, Relation
from search.language.units import unit_of_name
from search.plan_words import AGGREGATE_WORDS, plural
from search.sentences.nothing import conditions_of
from search.sentences.values import type_words
from search.text import words

Json = Mapping[str, Any]


def reading_words(plan: Json, relations: Mapping[str, Relation]) -> str:
    """Return what a plan asks for: `drug that treats “headache”`, `price of the product with the lowest weight`."""
    kind, parts, excluded, named = conditions_of(plan, relations)
    order = _order(plan["order"], relations) if plan.get("order") else ""
    if named:
        said = f"{named}, the {kind}" + (f" that {' and '.join(parts)}" if parts else "")
    else:
        told = " and ".join([*parts, *([order] if order.startswith("has the ") else [])])
        said = f"{kind} that {told}" if told else kind
    if order and (named or not order.startswith("has the ")):
        said = f"{said}, {order}"
    said = ", ".join([said, *excluded])
    if text := plan["target"].get("relevance_text"):
        said = f"{said}, about “{text}”"
    return _asked(plan, said)


def _asked(plan: Json, said: str) -> str:
    ask, show = plan.get("ask", "which"), plan.get("show") or ""
    if ask in AGGREGATE_WORDS:
        return f"{AGGREGATE_WORDS[ask]} {unit_of_name(show)[0]} of each {said}"
    if ask == "how many":
        return f"how many there are: {said}"
    if ask == "whether":
        return f"whether there is any {said}"
    return f"{unit_of_name(show)[0]} of {said}" if show else said


def _order(order: Json, relations: Mapping[str, Relation]) -> str:
    """Return an order as a condition where it keeps some places, `has the highest price`, else as an order."""
    by, most = order["by"], order["direction"] == "desc"
    limit = order.get("limit")
    if "field" in by:
        name = unit_of_name(by["field"])[0]
        some = f"{limit} " if limit and limit > 1 else ""
        if limit:
            return f"has the {some}{'highest' if most else 'lowest'} {name}"
        return f"{'highest' if most else 'lowest'} {name} first"
    return f"has the {counted_words(by['count'], relations, most=most)}" if limit else (
        f"{counted_words(by['count'], relations, most=most)} first"
    )  # fmt: skip


def counted_words(count: Json, relations: Mapping[str, Relation], *, most: bool = True) -> str:
    """Return what is counted as a superlative: `most papers that it is cited by`."""
    relation = relations.get(count["rel"])
    far = count.get("to_label", ANY)
    things = "things" if far == ANY else plural(type_words(far))
    wording = (relation.inverse if count.get("direction") == "in" else relation.description) if relation else ""
    return f"{'most' if most else 'fewest'} {things} that it {wording or words(count['rel'])}"
