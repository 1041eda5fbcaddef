"""Parts of a plan in words, for pages, tables and the console; they are given as a plan's JSON holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from search.domain.graph import ANY, OPPOSITE, Relation, Wordings
from search.domain.plan.parts import NEGATED
from search.domain.plan.routes import routes
from search.language.reader import range_words, value_words
from search.language.reading.scales import End, date_names, superlative
from search.language.units import unit_of_name
from search.language.words import is_participle_in, stems
from search.text import words

Json = Mapping[str, Any]
Relations = Mapping[str, Relation]

MEASURED_WORDS: Mapping[str, str] = {"<": "under", "<=": "at most", ">": "over", ">=": "at least"}
DATED_WORDS: Mapping[str, str] = {"<": "before", "<=": "until", ">": "after", ">=": "since"}
CONTAINED_WORDS: Mapping[str, str] = {"contains": "contains", "not contains": "does not contain"}
_ENDS: Mapping[str, str] = {"high": "highest", "low": "lowest"}
_DATED_ENDS: Mapping[str, str] = {"high": "latest", "low": "earliest"}
_SEVERAL_ENDS: Mapping[str, str] = {"high": "most", "low": "fewest"}
_HAPPENED_ENDS: Mapping[str, str] = {"high": "last", "low": "first"}
_KNOWN: Mapping[str, str] = {"exists": "known", "missing": "not known"}
"""The words of operators on amounts, dates, parts of a value and values that are there, and of the ends of orders."""
SHOWS = "show "
"""What a form writes before the name of the field that a plan shows, behind the aggregate of it if there is one."""
SHOWN_EDGE = "\t"
"""What a form writes before the variable at the other end of the edge whose field is shown."""
ASK_WORDS: Mapping[str, str] = {"how many": "how many there are", "whether": "whether there is any"}
AGGREGATE_WORDS: Mapping[str, str] = {"sum": "total", "mean": "mean", "min": "lowest", "max": "highest"}
"""What a plan asks for beside its answers: something about them, and something computed from a field of theirs."""


def field_words(name: str, relations: Relations | None = None) -> tuple[str, str]:
    """Return a field's name in words, without a unit at its end, and its unit, declared or from its name."""
    said, unit = unit_of_name(name)
    return said, unit or (relations.units.get(name, "") if isinstance(relations, Wordings) else "")


def relation_words(name: str, direction: str | None = None, relations: Relations | None = None) -> str:
    """Return a relation as it is walked in a direction: `cites`, `is cited by`; without wordings `is “made of” of`.

    Without a direction it is read in the stored one; any relation is `any relation`, an unknown one its bare name.
    """
    if name in (ANY, ""):
        return "any relation"
    relation = (relations or {}).get(name)
    if relation is None:
        return words(name)
    return relation.wording(direction) or (f"is “{words(name)}” of" if direction == "in" else words(name))


def filter_words(
    condition: Json,
    whose: str = "",
    variables: Mapping[str, str] | None = None,
    relations: Relations | None = None,
) -> str:
    """Return a filter in plain words: `price under 50`, `features: waterproof`, `founded of brand before 1900`.

    `whose` says of what a field is, if not of the answer. `variables` are those of the plan, for a filter that compares
    with the field of another one (`price under that of Vardø Lantern`). With `relations` (name → relation) a count is
    worded by its relation: `number of papers it is cited by: 0`.
    """
    op, value, name = condition["op"], condition.get("value"), condition.get("field") or ""
    said, unit = field_words(name, relations)
    what = count_words(condition["count"], relations) if "count" in condition else said
    what = f"{what} of {whose}" if whose else what
    if value is None:
        return f"{what} {_KNOWN.get(op, op)}"
    if isinstance(value, Mapping):
        other = (variables or {}).get(value["var"], value["var"])
        told = f"that of {other}" if value["field"] == name else f"{words(value['field'])} of {other}"
        return f"{what} {_compared(op, name, value) or op} {told}"
    if op == "between" and isinstance(value, list) and len(value) == 2:
        return f"{what} between {range_words(value[0], value[1], unit, ' and ')}"
    if compared := _compared(op, name, value) or CONTAINED_WORDS.get(op):
        return f"{what} {compared} {value_words(value, unit)}"
    several = value if isinstance(value, list) else [value]
    turned = "not " if op in NEGATED else ""
    return f"{what}: {turned}{' or '.join(value_words(one, unit) for one in several)}"


def _compared(op: str, field: str, value: Any) -> str:
    """Return the words of a comparison; those of dates for dates and years."""
    dated = isinstance(value, str) or is_dated(words(field))
    return (DATED_WORDS if dated else MEASURED_WORDS).get(op, "")


def is_dated(said: str) -> bool:
    """Whether the name of a field says that its values are dates or years."""
    return bool(stems(said) & _dates())


@lru_cache(maxsize=1)
def _dates() -> frozenset[str]:
    """Return the stems of the words with which schemas name dates and years."""
    return frozenset().union(*(stems(name) for name in date_names("en")))


def where_words(hop: Json) -> str:
    """Return what follows the words of a hop's relation: ` (price under 20)`, empty without conditions on its edge."""
    told = ", ".join(map(filter_words, hop.get("where") or ()))
    return f" ({told})" if told else ""


def hop_words(hop: Json, relations: Relations | None = None) -> str:
    """Return the relation of a hop with its conditions on the edge: `is sold at (price under 20)`."""
    return relation_words(hop["rel"], hop.get("direction"), relations) + where_words(hop)


def edge_filters(plan: Json) -> list[tuple[int, int]]:
    """Return the conditions on edges of a plan, each as the index of its hop and its index among those of the hop."""
    return [(at, place) for at, hop in enumerate(plan["hops"]) for place in range(len(hop.get("where") or ()))]


def edge_filter_words(plan: Json, at: int, place: int) -> str:
    """Return a condition on an edge in words: `sold at: price under 20`."""
    hop = plan["hops"][at]
    return f"{relation_words(hop['rel'])}: {filter_words(hop['where'][place])}"


def what_words(by: Json, relations: Relations | None = None) -> str:
    """Return what a filter or an order compares: a field, or `number of materials it is made of`."""
    count = by.get("count")
    return count_words(count, relations) if isinstance(count, Mapping) else words(str(by.get("field", "")))


def count_words(count: Json, relations: Relations | None = None) -> str:
    """Return what is counted: `number of papers it is cited by`, or computed: `total price of products it makes`.

    `among those` says that only nodes that the plan selects are counted.
    """
    what = of_each_words(count, relations) if count.get("function") else "number"
    return f"{what} of {_things(count)} it {verb_words(count, relations)}{_among(count)}"


def most_words(count: Json, direction: str, relations: Relations | None = None) -> str:
    """Return a count that is the largest or smallest of all: `is cited by the most papers`."""
    most = _SEVERAL_ENDS["high" if direction == "desc" else "low"]
    return f"{verb_words(count, relations)} the {most} {_things(count)}{_among(count)}"


def _things(count: Json) -> str:
    far = count.get("to_label", ANY)
    return "things" if far == ANY else plural(words(far))


def _among(count: Json) -> str:
    return " among those" if count.get("among") else ""


def verb_words(count: Json, relations: Relations | None = None) -> str:
    """Return the relation of a count without what it leads to: `has` for `has the city` and cities."""
    name, far = str(count.get("rel", ANY)), count.get("to_label", ANY)
    if name == ANY:
        return "has a relation with"
    said = relation_words(name, count.get("direction"), relations)
    verb, found, rest = said.rpartition(f" {words(far)}")
    return verb.removesuffix(" the").removesuffix(" a") if verb and found and not rest else said


def of_each_words(count: Json, relations: Relations | None = None) -> str:
    """Return what a function computes from the counted nodes: `total price`, `mean number of papers it is cited by`."""
    of = count["of"]
    said = field_words(of)[0] if isinstance(of, str) else count_words(of["count"], relations)
    return f"{AGGREGATE_WORDS[count['function']]} {said}"


def plural(noun: str) -> str:
    """Return the regular English plural of a type's name."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def exclusion_words(
    pattern: Json, variables: Mapping[str, str] | None = None, relations: Relations | None = None
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
        way = walked(hop, turned=far != hop["to_var"])
        # "not cited by anything" reads better than "not is cited by anything".
        relation = relation_words(hop["rel"], way, relations).removeprefix("is ").removeprefix("was ")
        said.append(f"{relation}{where_words(hop)} {texts.get(far) or known}".strip())
    told = [filter_words(one, relations=relations) for one in pattern.get("filters", ())]
    return " ".join([", ".join(said), *told])


def walked(hop: Json, *, turned: bool) -> str | None:
    """Return the direction in which the edge of a hop is walked; `turned` walks it from its written end."""
    stored = hop.get("direction")
    return stored if stored is None or not turned else OPPOSITE[stored]


def _far(reached: Mapping[str, Sequence[Any]], var: str) -> int:
    return len(reached[var]) if var in reached else len(reached)


def order_words(order: Json, relations: Relations | None = None) -> str:
    """Return an order: `cheapest first`, `lightest one`, `3 with the highest number of papers it is cited by`.

    Of what happened it says when (`one founded first`), of fields that say a number of things how many (`most pages`).
    """
    by, limit = order["by"], order.get("limit")
    end: End = "high" if order["direction"] == "desc" else "low"
    what = count_words(by["count"], relations) if "count" in by else field_words(by["field"])[0]
    ends = _SEVERAL_ENDS if "field" in by and _is_plural(what) else _DATED_ENDS if is_dated(what) else _ENDS
    last, most = ends[end], superlative(what, end)
    if not limit:
        return f"{most or f'{last} {what}'} first"
    if happened(what):
        return f"{limit if limit > 1 else 'one'} {what} {_HAPPENED_ENDS[end]}"
    if not most:
        return f"{limit if limit > 1 else 'one'} with the {last} {what}"
    return f"{limit} {most}" if limit > 1 else f"{most} one"


def happened(said: str) -> bool:
    """Whether the name of a field says what happened at its date: `founded`, `released`."""
    return is_dated(said) and is_participle_in(said, "en")


def _is_plural(said: str) -> bool:
    return said.endswith("s") and not said.endswith(("ss", "us", "is"))


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
    """Return the variables of a plan in words: those of anchors by what they stand for, others by their type."""
    found = {end: "something" for hop in plan["hops"] for end in (hop["from"], hop["to_var"])}
    found |= {hop["to_var"]: f"the {words(hop['to_label'])}" for hop in plan["hops"] if hop.get("to_label", ANY) != ANY}
    target = plan.get("target", {}).get("var", "T")
    return found | {target: target} | {anchor["var"]: anchor_words(anchor) for anchor in plan["anchors"]}
