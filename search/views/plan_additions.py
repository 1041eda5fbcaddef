"""What the buttons of a plan add to it or turn round: hops, exclusions, comparisons, the order, and facets.

Each function changes the plan that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search.domain.graph import ANY, Schema
from search.domain.plan.filter_checks import MEASURED
from search.views.plan_conditions import drop_loose
from search.views.plan_form import fields_for, loose_end, share_labels, unused

Json = dict[str, Any]


def insert_hop(plan: Json, index: int, *, before: bool) -> None:
    """Split a hop in two with a new node between: the new hop, over any relation, comes before or after the old one."""
    old = plan["hops"][index]
    var = unused(plan, "x")
    first, second = dict(old), dict(old)
    first |= {"to_var": var, "to_label": ANY}
    second |= {"from": var}
    new = first if before else second
    new["rel"] = ANY
    new.pop("direction", None)
    new.pop("where", None)
    plan["hops"][index : index + 1] = [first, second]


def add_hop(plan: Json) -> None:
    """Add a hop over any relation from the target to a node of any type: what an answer must have."""
    hop = {"from": plan["target"]["var"], "rel": ANY, "to_var": unused(plan, "x"), "to_label": ANY}
    plan["hops"].append(hop)


def exclude_hop(plan: Json, index: int) -> None:
    """Turn a hop to a loose end into an exclusion, with what lies beyond it and the filters there.

    A hop that leads to an anchor stays: its anchor is what can be excluded.
    """
    beyond = loose_end(plan, index)
    if beyond is None:
        return
    hops = [hop for at, hop in enumerate(plan["hops"]) if at == index or {hop["from"], hop["to_var"]} & beyond]
    pattern: Json = {"anchors": [], "hops": hops}
    moved = [one for one in plan["filters"] if one["var"] in beyond]
    if moved:
        pattern["filters"] = [one for one in moved if not isinstance(one.get("value"), dict)]
    plan["hops"] = [hop for hop in plan["hops"] if hop not in hops]
    plan["filters"] = [one for one in plan["filters"] if one not in moved]
    plan["exclude"] = [*plan.get("exclude", []), pattern]
    drop_loose(plan)


def add_exclusion(plan: Json) -> None:
    """Add an exclusion of anything over any relation; its entity may be named afterwards."""
    var = unused(plan, "e")
    hop = {"from": plan["target"]["var"], "rel": ANY, "to_var": var, "to_label": ANY}
    anchor = {"var": var, "text": "", "label": ANY, "match_mode": "name"}
    plan["exclude"] = [*plan.get("exclude", []), {"anchors": [anchor], "hops": [hop]}]


def without_blanks(plan: Json) -> Json:
    """Return the plan with every unnamed entity of its exclusions taken as anything of that type."""
    patterns = []
    for pattern in plan.get("exclude", []):
        blank = {one["var"]: one["label"] for one in pattern["anchors"] if not one["text"] and not one.get("ids")}
        if not blank or not pattern["hops"]:
            patterns.append(pattern)
            continue
        hops = [
            hop | ({"to_label": blank[hop["to_var"]]} if blank.get(hop["to_var"], ANY) != ANY else {})
            for hop in pattern["hops"]
        ]
        named = [one for one in pattern["anchors"] if one["var"] not in blank]
        patterns.append(pattern | {"anchors": named, "hops": hops})
    return plan | ({"exclude": patterns} if patterns else {})


def add_comparison(plan: Json, schema: Schema) -> None:
    """Add an unnamed entity of the target's type, and the filter that compares a field of the answers with its own.

    Nothing is added if the target has no number and no date.
    """
    target = plan["target"]["var"]
    measured = [name for name, kind in fields_for(plan, target, schema).items() if kind in MEASURED]
    if not measured:
        return
    labels, var = plan["target"]["labels"], unused(plan, "a")
    label = labels[0] if len(labels) == 1 else ANY
    plan["anchors"].append({"var": var, "text": "", "label": label, "match_mode": "name"})
    value = {"var": var, "field": measured[0]}
    plan["filters"].append({"var": target, "field": measured[0], "op": "<", "value": value})


def turn_order(plan: Json) -> None:
    """Let the order begin at its other end."""
    if plan.get("order"):
        plan["order"]["direction"] = "asc" if plan["order"].get("direction") == "desc" else "desc"


def add_part(plan: Json, part: Mapping[str, Any]) -> None:
    """Add the value of a facet. A range takes the place of an earlier range of the same field."""
    for condition in part.get("filters", ()):
        plan["filters"] = [one for one in plan["filters"] if not _is_range_of(one, condition)] + [dict(condition)]
    plan["anchors"] = [*plan["anchors"], *map(dict, part.get("anchors", ()))]
    plan["hops"] = [*plan["hops"], *map(dict, part.get("hops", ()))]
    labels = part.get("target", {}).get("labels")
    if labels:
        plan["target"] = plan["target"] | {"labels": list(labels)}
    share_labels(plan)


def _is_range_of(one: Json, condition: Mapping[str, Any]) -> bool:
    same = (one["var"], one.get("field")) == (condition["var"], condition["field"])
    return same and one["op"] == "between" and condition["op"] in ("between", "=")
