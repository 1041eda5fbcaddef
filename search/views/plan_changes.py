"""Carries out the action of a button on a plan: in the form that edits it, and beside the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from search.domain.errors import PlanInvalid
from search.domain.graph import Schema
from search.domain.plan import AGGREGATES, Plan
from search.plan_words import edge_filters
from search.views import plan_additions as more
from search.views import plan_conditions, plan_form
from search.views.plan_form import Json

OF_LISTS: Mapping[str, tuple[str, Callable[[Json, int], None]]] = {
    "drop-anchor": ("anchors", plan_form.drop_anchor),
    "exclude-anchor": ("anchors", plan_conditions.exclude_anchor),
    "drop-hop": ("hops", plan_form.drop_hop),
    "exclude-hop": ("hops", more.exclude_hop),
    "insert-before": ("hops", lambda plan, index: more.insert_hop(plan, index, before=True)),
    "insert-after": ("hops", lambda plan, index: more.insert_hop(plan, index, before=False)),
    "drop-filter": ("filters", lambda plan, index: _drop_filter(plan, index)),
    "require": ("exclude", plan_conditions.require_exclusion),
    "drop-exclusion": ("exclude", plan_conditions.drop_exclusion),
}
"""Action → the list that it is about, and what it does with the item at an index."""


def changed(plan: Json, action: str, given: str, schema: Schema) -> Json:
    """Return the plan after the action of a button; an action that no longer fits the plan changes nothing.

    `plan` may be changed.
    """
    if action == "drop-edge-filter":
        _drop_edge_filter(plan, given)
    elif action in OF_LISTS:
        key, change = OF_LISTS[action]
        index = int(given) if given.isdecimal() and len(given) < 3 else len(plan.get(key, []))
        if index < len(plan.get(key, [])):
            change(plan, index)
    elif action == "pick":
        _pick(plan, _json(given))
    elif action == "add":
        _add(plan, _json(given), schema)
    elif action in ("add-filter", "add-comparison"):
        {"add-filter": plan_form.add_filter, "add-comparison": more.add_comparison}[action](plan, schema)
    elif action in PLAIN:
        PLAIN[action](plan)
    return plan


PLAIN: Mapping[str, Callable[[Json], object]] = {
    "add-anchor": plan_form.add_anchor,
    "add-hop": more.add_hop,
    "add-exclusion": more.add_exclusion,
    "turn-order": more.turn_order,
    "drop-order": lambda plan: plan.pop("order", None),
    "drop-ask": lambda plan: _drop_ask(plan),
    "drop-show": lambda plan: [plan.pop(key, None) for key in ("show", "show_edge")],
    "drop-text": lambda plan: plan["target"].update(relevance_text=""),
}


def _drop_ask(plan: Json) -> None:
    """Ask for the answers themselves; the field that something is computed from goes with it."""
    if plan.pop("ask", None) in AGGREGATES:
        plan.pop("show", None)


def _drop_edge_filter(plan: Json, given: str) -> None:
    """Take away a condition on an edge, which is given by its number among those of the plan."""
    known = edge_filters(plan)
    index = int(given) if given.isdecimal() and len(given) < 4 else len(known)
    if index < len(known):
        at, place = known[index]
        plan["hops"][at]["where"].pop(place)


def _drop_filter(plan: Json, index: int) -> None:
    plan["filters"].pop(index)


def _pick(plan: Json, chosen: Any) -> None:
    picked = isinstance(chosen, list) and len(chosen) == 4 and isinstance(chosen[0], int)
    if picked and 0 <= chosen[0] < len(plan["anchors"]):
        plan_form.pick(plan, chosen[0], *map(str, chosen[1:]))


def _add(plan: Json, part: Any, schema: Schema) -> None:
    """Add the value of a facet; one that fits no plan of this schema is ignored."""
    if not isinstance(part, dict):
        return
    empty: Json = {"anchors": [], "hops": [], "target": {"var": plan["target"]["var"]}, "filters": []}
    alone = empty | {key: part[key] for key in ("anchors", "hops", "filters") if key in part}
    labels = part["target"].get("labels") if isinstance(part.get("target"), dict) else None
    alone["target"] = empty["target"] | {"labels": labels or plan["target"]["labels"]}
    try:
        Plan.parse(alone, schema)
    except PlanInvalid:
        return
    more.add_part(plan, {key: alone[key] for key in ("anchors", "hops", "filters")} | {"target": alone["target"]})


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
