"""The chips of a plan's exclusions, of its order, and of what is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from search.domain.graph import ANY, Direction, Schema
from search.domain.plan import AGGREGATES
from search.domain.plan.filter_checks import MEASURED, NAME
from search.plan_words import (
    SHOWN_EDGE,
    SHOWS,
    aggregate_words,
    asked_words,
    exclusion_words,
    variables_of,
    what_words,
)
from search.text import words
from search.views.plan_form import Json, fields_for, labels_of
from search.views.shown.chips import ChipChoice, ExclusionChip, OrderChip

ASKS: Mapping[str, str] = {"which": "which", "how many": "how many", "whether": "whether there is any"}
DIRECTIONS: Mapping[str, str] = {"desc": "most or newest first", "asc": "least or oldest first"}


def exclusion_chips(
    plan: Json,
    faults: Mapping[str, Sequence[str]],
    types: Callable[[str], tuple[ChipChoice, ...]],
    relations: Callable[[Json, Mapping[str, list[str]]], Iterable[ChipChoice]],
) -> Iterator[ExclusionChip]:
    """Yield a chip for each exclusion, with its faults; `types` and `relations` return the choices of its fields."""
    variables = variables_of(plan)
    for index, pattern in enumerate(plan.get("exclude", [])):
        at = f"/exclude/{index}"
        told = tuple(faults.get(at, ()))
        text = exclusion_words(pattern, variables)
        if not is_simple(pattern, variables):
            yield ExclusionChip(index, text, at, faults=told)
            continue
        [hop] = pattern["hops"]
        anchor = next(iter(pattern["anchors"]), {"label": hop["to_label"], "text": ""})
        labels = {**labels_of(plan), hop["to_var"]: [] if anchor["label"] == ANY else [anchor["label"]]}
        choices = tuple(relations(hop, labels))
        yield ExclusionChip(index, text, at, choices, types(anchor["label"]), anchor["text"], told)


def is_simple(pattern: Json, variables: Mapping[str, str]) -> bool:
    """Whether an exclusion is a single hop from the plan to one node, named or not, without conditions on it."""
    if len(pattern["hops"]) != 1 or pattern.get("filters") or pattern["hops"][0]["from"] not in variables:
        return False
    return [one["var"] for one in pattern["anchors"]] in ([], [pattern["hops"][0]["to_var"]])


def order_chip(plan: Json, schema: Schema, faults: Mapping[str, Sequence[str]]) -> OrderChip:
    """Return the choices of the order over the target's fields and relations."""
    order = plan.get("order") or {}
    present = order.get("by")
    offered = list(_orders(plan, schema))
    if present and present not in [by for by, _ in offered]:
        offered.append((present, what_words(present, schema.wordings)))
    by = [ChipChoice("", "none", not present), *(ChipChoice(json.dumps(o), text, o == present) for o, text in offered)]
    limit, direction = order.get("limit"), order.get("direction", "desc")
    return OrderChip(
        tuple(by),
        tuple(ChipChoice(way, text, way == direction) for way, text in DIRECTIONS.items()),
        "" if limit is None else str(limit),
        tuple(_asks(plan, schema)),
        tuple(faults.get("/order", ())),
        (*faults.get("/ask", ()), *faults.get("/show", ())),
    )


def _asks(plan: Json, schema: Schema) -> Iterator[ChipChoice]:
    """Yield what can be asked for: the answers, a field of theirs, or something computed from a field of numbers."""
    show, ask = plan.get("show", ""), plan.get("ask", "which")
    known = {name: kind for name, kind in fields_for(plan, plan["target"]["var"], schema).items() if name != NAME}
    present = f"{ask if ask != 'which' else ''} {SHOWS}{show}".lstrip() if show else ask
    present += f"{SHOWN_EDGE}{plan['show_edge']}" if plan.get("show_edge") else ""
    offered = dict(ASKS) | {f"{SHOWS}{name}": words(name) for name in known}
    numbers = [name for name, kind in known.items() if kind == "number"]
    offered |= {f"{way} {SHOWS}{name}": aggregate_words(way, name) for name in numbers for way in AGGREGATES}
    if present not in offered:
        offered[present] = ", ".join(asked_words(plan)) if show else ask
    for value, text in offered.items():
        yield ChipChoice(value, text, value == present)


def _orders(plan: Json, schema: Schema) -> Iterator[tuple[Json, str]]:
    """Yield what the target can be ordered by, with its words: numbers and dates, then counts of its relations."""
    target = plan["target"]["var"]
    for name, kind in fields_for(plan, target, schema).items():
        if kind in MEASURED:
            yield {"field": name}, words(name)
    yield from counts_for(plan, target, schema)


def counts_for(plan: Json, var: str, schema: Schema) -> Iterator[tuple[Json, str]]:
    """Yield what of a variable's neighbours can be counted, with its words, relations with many edges first."""
    labels = labels_of(plan).get(var)
    counts: dict[tuple[str, Direction, str], int] = {}
    for kind_ in schema.relation_types:
        for near, far, way in kind_.ways:
            if not labels or near in labels:
                one = (kind_.relation, way, far)
                counts[one] = counts.get(one, 0) + kind_.count
    for relation, way, far in sorted(counts, key=lambda one: (-counts[one], one)):
        by: Json = {"count": {"rel": relation, "direction": way, "to_label": far}}
        yield by, what_words(by, schema.wordings)
