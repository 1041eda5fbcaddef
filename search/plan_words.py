"""Parts of a plan in words, for pages, tables and the console; they are given as a plan's JSON holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from search.domain.graph import Relation
from search.domain.plan.parts import NEGATED
from search.domain.plan.routes import routes
from search.language.reading.scales import date_names
from search.language.units import unit_of_name, written_unit
from search.language.words import stems
from search.text import words

Json = Mapping[str, Any]

MEASURED_WORDS: Mapping[str, str] = {"<": "under", "<=": "at most", ">": "over", ">=": "at least"}
DATED_WORDS: Mapping[str, str] = {"<": "before", "<=": "until", ">": "after", ">=": "since"}
CONTAINED_WORDS: Mapping[str, str] = {"contains": "contains", "not contains": "does not contain"}
_KNOWN: Mapping[str, str] = {"exists": "known", "missing": "not known"}
"""The words of operators: on amounts, on dates, of a part of a value, and of a value that is there."""
SHOWS = "show "
"""What a form writes before the name of the field that a plan shows, behind the aggregate of it if there is one."""
SHOWN_EDGE = "\t"
"""What a form writes before the variable at the other end of the edge whose field is shown."""
ASK_WORDS: Mapping[str, str] = {"how many": "how many there are", "whether": "whether there is any"}
AGGREGATE_WORDS: Mapping[str, str] = {"sum": "total", "mean": "mean", "min": "lowest", "max": "highest"}
"""What a plan asks for beside its answers: something about them, and something computed from a field of theirs."""


def value_words(value: Any) -> str:
    """Return a filter's value: `30`, `red, blue`, or `price of x` for the field of another variable."""
    if isinstance(value, Mapping):
        return f"{words(value['field'])} of {value['var']}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def filter_words(
    condition: Json,
    whose: str = "",
    variables: Mapping[str, str] | None = None,
    relations: Mapping[str, Relation] | None = None,
) -> str:
    """Return a filter in plain words: `price under 50`, `features: waterproof`, `founded of brand before 1900`.

    `whose` says of what a field is, if not of the answer. `variables` are those of the plan, for a filter that compares
    with the field of another one (`price under that of Vardø Lantern`). With `relations` (name → relation) a count is
    worded by its relation: `number of papers it is cited by: 0`.
    """
    op, value, name = condition["op"], condition.get("value"), condition.get("field") or ""
    what = count_words(condition["count"], relations) if "count" in condition else unit_of_name(name)[0]
    what = f"{what} of {whose}" if whose else what
    if value is None:
        return f"{what} {_KNOWN.get(op, op)}"
    if isinstance(value, Mapping):
        other = (variables or {}).get(value["var"], value["var"])
        told = f"that of {other}" if value["field"] == name else f"{words(value['field'])} of {other}"
        return f"{what} {_compared(op, name, value) or op} {told}"
    if op == "between" and isinstance(value, list) and len(value) == 2:
        return f"{what} between {value[0]} and {_amount(name, value[1])}"
    if said := _compared(op, name, value) or CONTAINED_WORDS.get(op):
        return f"{what} {said} {_amount(name, value)}"
    several = value if isinstance(value, list) else [value]
    turned = "not " if op in NEGATED else ""
    return f"{what}: {turned}{' or '.join(_amount(name, one) for one in several)}"


def _compared(op: str, field: str, value: Any) -> str:
    """Return the words of a comparison; those of dates for dates and years."""
    dated = isinstance(value, str) or bool(stems(field.replace("_", " ")) & _dates())
    return (DATED_WORDS if dated else MEASURED_WORDS).get(op, "")


@lru_cache(maxsize=1)
def _dates() -> frozenset[str]:
    """Return the stems of the words with which schemas name dates and years."""
    return frozenset().union(*(stems(name) for name in date_names("en")))


def _amount(field: str, value: Any) -> str:
    """Return a value with the unit of its field, if it is a number: `300 g`."""
    unit = unit_of_name(field)[1]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value} {written_unit(unit, one=value == 1)}" if unit and is_number else str(value)


def where_words(hop: Json) -> str:
    """Return what follows the words of a hop's relation: ` (price under 20)`, empty without conditions on its edge."""
    told = ", ".join(map(filter_words, hop.get("where") or ()))
    return f" ({told})" if told else ""


def edge_filters(plan: Json) -> list[tuple[int, int]]:
    """Return the conditions on edges of a plan, each as the index of its hop and its index among those of the hop."""
    return [(at, place) for at, hop in enumerate(plan["hops"]) for place in range(len(hop.get("where") or ()))]


def edge_filter_words(plan: Json, at: int, place: int) -> str:
    """Return a condition on an edge in words: `sold at: price under 20`."""
    hop = plan["hops"][at]
    relation = "any relation" if hop["rel"] == "*" else words(hop["rel"])
    return f"{relation}: {filter_words(hop['where'][place])}"


def what_words(condition: Json) -> str:
    """Return what a filter is about: a field, or `number of made of (outgoing)`."""
    return words(condition["field"]) if "count" not in condition else count_words(condition["count"])


def count_words(count: Json, relations: Mapping[str, Relation] | None = None) -> str:
    """Return a count: `number of cites (incoming)`; `among those` if only nodes that the plan selects are counted.

    With `relations` it is worded by its relation, if that has a wording: `number of papers it is cited by`. What a
    function computes is worded so too: `total price of products it makes`.
    """
    what = f"{of_each_words(count, relations)} of" if count.get("function") else "number of"
    relation = (relations or {}).get(count["rel"])
    wording = relation.wording(count.get("direction")) if relation else ""
    if wording:
        far = plural(words(count["to_label"])) if count.get("to_label", "*") != "*" else "things"
        return f"{what} {far} it {wording}"
    way = {"in": " (incoming)", "out": " (outgoing)"}.get(count.get("direction") or "", "")
    those = " among those" if count.get("among") else ""
    return f"{what} {'edges' if count['rel'] == '*' else words(count['rel'])}{way}{those}"


def of_each_words(count: Json, relations: Mapping[str, Relation] | None = None) -> str:
    """Return what a function computes from the counted nodes: `total price`, `mean number of papers it is cited by`."""
    of = count["of"]
    said = unit_of_name(of)[0] if isinstance(of, str) else count_words(of["count"], relations)
    return f"{AGGREGATE_WORDS[count['function']]} {said}"


def plural(noun: str) -> str:
    """Return the regular English plural of a type's name."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def exclusion_words(
    pattern: Json, variables: Mapping[str, str] | None = None, relations: Mapping[str, Relation] | None = None
) -> str:
    """Return the pattern of an exclusion, from the plan's variable outwards: `has brand, based in Norway`.

    `variables` are those of the plan. With `relations` (name → relation) a hop that is walked against its stored
    direction reads so: `cited by anything`.
    """
    texts = {anchor["var"]: anchor_words(anchor) for anchor in pattern["anchors"]}
    if not pattern["hops"]:
        return ", ".join(texts.values())
    ends = [(hop["from"], hop["to_var"]) for hop in pattern["hops"]]
    start = next((end for pair in ends for end in pair if end in (variables or {})), ends[0][0])
    reached = routes(ends, start)
    said = []
    for hop in sorted(pattern["hops"], key=lambda hop: min(_far(reached, hop["from"]), _far(reached, hop["to_var"]))):
        far = max((hop["from"], hop["to_var"]), key=lambda end: _far(reached, end))
        inner = sum(far in pair for pair in ends) > 1
        untyped = far != hop["to_var"] or hop["to_label"] == "*"
        known = ("" if inner else "anything") if untyped else words(hop["to_label"])
        relation = _relation_words(hop, far == hop["to_var"], relations or {}) + where_words(hop)
        said.append(f"{relation} {texts.get(far) or known}".strip())
    return " ".join([", ".join(said), *map(filter_words, pattern.get("filters", ()))])


def _relation_words(hop: Json, outwards: bool, relations: Mapping[str, Relation]) -> str:
    """Return the relation of a hop that is written outwards or not, worded in the direction in which it is read."""
    if hop["rel"] == "*":
        return "any relation"
    direction, relation = hop.get("direction"), relations.get(hop["rel"])
    if direction is None or relation is None:
        return words(hop["rel"])
    if (direction == "out") == outwards:
        return words(hop["rel"])
    # "not cited by anything" reads better than "not is cited by anything".
    return relation.inverse.removeprefix("is ").removeprefix("was ") or f"{words(hop['rel'])} (incoming)"


def _far(reached: Mapping[str, Sequence[Any]], var: str) -> int:
    return len(reached[var]) if var in reached else len(reached)


def order_words(order: Json) -> str:
    """Return an order: `price, least first, 3 places`, `number of cites, most first`."""
    by = order["by"]
    said = unit_of_name(by["field"])[0] if "field" in by else count_words(by["count"])
    first = "least first" if order["direction"] == "asc" else "most first"
    limit = order.get("limit")
    return f"{said}, {first}" + (f", {limit} place{'s' if limit > 1 else ''}" if limit else "")


def aggregate_words(function: str, field: str) -> str:
    """Return what is computed from a field of all answers: `mean price`."""
    return f"{AGGREGATE_WORDS[function]} {unit_of_name(field)[0]}"


def asked_words(plan: Json) -> list[str]:
    """Return what a plan asks for beside its answers: `how many there are`, `mean price`, `shows price`."""
    ask, show = plan.get("ask", "which"), plan.get("show")
    if ask in AGGREGATE_WORDS:
        return [aggregate_words(ask, show or "")]
    asked = [ASK_WORDS.get(ask, ask)] if ask != "which" else []
    return [*asked, *([f"shows {words(show)}"] if show else [])]


def anchor_words(anchor: Json) -> str:
    """Return what an anchor stands for: its text, or its ids; what a plan inside finds with its article."""
    text = anchor["text"] or ", ".join(anchor.get("ids", ()))
    return f"the {text.removeprefix('the ')}" if anchor.get("plan") else text


def compared_only(plan: Json) -> set[str]:
    """Return the variables of the anchors that nothing but a comparison connects with the answers."""
    joined = {plan["target"].get("var", "T"), *(end for hop in plan["hops"] for end in (hop["from"], hop["to_var"]))}
    compared = {one["value"]["var"] for one in plan.get("filters") or () if isinstance(one.get("value"), Mapping)}
    return {anchor["var"] for anchor in plan["anchors"] if anchor["var"] in compared - joined}


def variables_of(plan: Json) -> dict[str, str]:
    """Return the variables of a plan: those of anchors with their words, the others with their own name."""
    found = {end: end for hop in plan["hops"] for end in (hop["from"], hop["to_var"])}
    target = plan.get("target", {}).get("var", "T")
    return found | {target: target} | {anchor["var"]: anchor_words(anchor) for anchor in plan["anchors"]}


def more_conditions(
    plan: Json, evidence: Json, relations: Mapping[str, Relation] | None = None
) -> Iterator[tuple[str, str, str, str]]:
    """Yield (kind, words, status, note) for the exclusions and the order of a plan, as a result's evidence has them."""
    variables = variables_of(plan)
    for checked in evidence.get("exclude", ()):
        pattern = plan["exclude"][checked["index"]]
        note = "checked: there is none" if checked["status"] == "met" else ""
        yield "exclude", f"not {exclusion_words(pattern, variables, relations)}", checked["status"], note
    placed = evidence.get("order")
    if placed and plan.get("order"):
        by = order_words(plan["order"]).split(",")[0]
        value = "not known" if placed["value"] is None else str(placed["value"])
        place = f"place {placed['place']}" if placed["place"] else ""
        yield "order", f"{by}: {value}", placed["status"], place
