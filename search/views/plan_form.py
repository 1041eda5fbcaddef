"""The plan in the editor: reading it from form fields, and the changes that the form's buttons make.

Each form field is named by its JSON pointer. The form holds the plan between two requests, so the server stores
nothing. A plan that is read has the right structure; `check_plan` decides whether it can be run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from search.domain.graph import ANY, Schema
from search.domain.mending.names import as_kind
from search.domain.plan import MAX_ANCHORS, MAX_HOPS
from search.domain.plan.parse import MAX_FILTERS
from search.domain.plan.parts import COMPARING, COUNTING, WITHOUT_VALUE
from search.domain.plan.routes import routes
from search.plan_words import variables_of
from search.views.plan_conditions import drop_loose, parsed_json, read_conditions, rename

Json = dict[str, Any]

EITHER = "any"
"""Prefix of a relation that may be walked in either direction."""
_ITEM = re.compile(r"/(anchors|hops|filters)/(\d{1,2})/var|/hops/(\d{1,2})/from")
_MOST = {"anchors": MAX_ANCHORS, "hops": MAX_HOPS, "filters": MAX_FILTERS}


def read_plan(fields: Mapping[str, str], schema: Schema) -> Json:
    """Return the plan in the form fields. If the numbers of the items have gaps, the items are numbered again."""
    target: Json = {
        "var": fields.get("/target/var", "T"),
        "labels": _strings(fields.get("/target/labels", "[]")),
        "relevance_text": fields.get("/target/relevance_text", "").strip(),
    }
    plan: Json = {
        "anchors": [_anchor(fields, at) for at in _places(fields, "anchors", "var")],
        "hops": [_hop(fields, at) for at in _places(fields, "hops", "from")],
        "target": target,
        "filters": [],
        "risk_level": fields.get("/risk_level", "normal"),
    }
    if fields.get("/retrieval_mode"):
        plan["retrieval_mode"] = fields["/retrieval_mode"]
    plan |= read_conditions(fields)
    share_labels(plan)
    plan["filters"] = [_filter(fields, at, plan, schema) for at in _places(fields, "filters", "var")]
    return plan


def oriented(plan: Json) -> Json:
    """Return an equivalent plan in which every hop is written from its anchor towards the target.

    A hop to a loose end is written away from the target, and so is an exclusion of one hop.
    """
    labels = labels_of(plan)
    target = plan["target"] | {"labels": labels.get(plan["target"]["var"], [])}
    anchors = [anchor | {"label": labels.get(anchor["var"], [ANY])[0]} for anchor in plan["anchors"]]
    hops = [dict(hop) for hop in plan["hops"]]
    distance = _distances(hops, target["var"])
    far = len(hops) + 1
    for index, hop in enumerate(hops):
        away = distance.get(hop["from"], far) < distance.get(hop["to_var"], far)
        if away != (loose_end(plan, index) is not None):
            turn(hop, labels)
    turned = plan | {"anchors": anchors, "hops": hops, "target": target}
    share_labels(turned)
    if plan.get("exclude"):
        turned["exclude"] = [_outward(pattern, variables_of(plan), labels) for pattern in plan["exclude"]]
    return turned


def turn(hop: Json, labels: Mapping[str, list[str]]) -> None:
    """Write a hop from its other end; changes `hop`."""
    hop["from"], hop["to_var"] = hop["to_var"], hop["from"]
    hop["to_label"] = labels.get(hop["to_var"], [ANY])[0]
    if hop.get("direction"):
        hop["direction"] = "in" if hop["direction"] == "out" else "out"


def _outward(pattern: Json, variables: Mapping[str, str], labels: Mapping[str, list[str]]) -> Json:
    """Return an exclusion whose only hop is written away from the variable of the plan that it begins at."""
    if len(pattern["hops"]) != 1 or pattern["hops"][0]["from"] in variables:
        return pattern
    hop = dict(pattern["hops"][0])
    own = {anchor["var"]: [anchor["label"]] for anchor in pattern["anchors"]}
    turn(hop, {**labels, **own})
    return pattern | {"hops": [hop]}


def loose_end(plan: Json, index: int) -> set[str] | None:
    """Return the variables beyond a hop, as seen from the target; None if an anchor or the target is among them."""
    hop = plan["hops"][index]
    others = [(one["from"], one["to_var"]) for at, one in enumerate(plan["hops"]) if at != index]
    held = {plan["target"]["var"], *(anchor["var"] for anchor in plan["anchors"])}
    for end in (hop["to_var"], hop["from"]):
        reached = {end}
        while more := {var for pair in others if reached & set(pair) for var in pair} - reached:
            reached |= more
        if not reached & held:
            return reached
    return None


def labels_of(plan: Json) -> dict[str, list[str]]:
    """Return the node types of the plan's variables; variables of any type are left out."""
    labels = {hop["to_var"]: [hop["to_label"]] for hop in plan["hops"] if hop["to_label"] != ANY}
    labels |= {anchor["var"]: [anchor["label"]] for anchor in plan["anchors"] if anchor["label"] != ANY}
    return labels | ({plan["target"]["var"]: plan["target"]["labels"]} if plan["target"]["labels"] else {})


def fields_for(plan: Json, var: str, schema: Schema) -> dict[str, str]:
    """Return the kinds of the fields that a node of the variable may have, by field name; `name` is included."""
    wanted = labels_of(plan).get(var)
    types = [t for t in schema.node_types if not wanted or t.name in wanted]
    return {"name": "keyword"} | {field.name: field.kind for t in types for field in t.fields}


def pick(plan: Json, index: int, node_id: str, name: str, node_type: str) -> None:
    """Set one entity as the node that an anchor stands for; changes `plan`."""
    plan["anchors"][index].pop("plan", None)
    plan["anchors"][index] |= {"text": name, "ids": [node_id], "label": node_type}


def add_anchor(plan: Json) -> None:
    """Add an anchor without text, one hop over any relation away from the target; changes `plan`."""
    var = unused(plan, "a")
    plan["anchors"].append({"var": var, "text": "", "label": ANY, "match_mode": "name"})
    plan["hops"].append({"from": var, "rel": ANY, "to_var": plan["target"]["var"], "to_label": ANY})
    share_labels(plan)


def drop_anchor(plan: Json, index: int) -> None:
    """Remove an anchor, the hops that then start nowhere and the filters on their variables; changes `plan`."""
    var = plan["anchors"].pop(index)["var"]
    kept = {anchor["var"] for anchor in plan["anchors"]} | {plan["target"]["var"]}
    while var not in kept:
        touching = [hop for hop in plan["hops"] if var in (hop["from"], hop["to_var"])]
        if len(touching) != 1:
            break
        [hop] = touching
        plan["hops"].remove(hop)
        plan["filters"] = [condition for condition in plan["filters"] if condition["var"] != var]
        var = hop["to_var"] if hop["from"] == var else hop["from"]
    drop_loose(plan)


def drop_hop(plan: Json, index: int) -> None:
    """Remove a hop and join its two variables into one, so that the walk gets shorter; changes `plan`.

    If the hop joins an anchor to the target or to another anchor, only the hop is removed. If it is the only hop of
    that anchor, the anchor is removed as well. With the last hop to a loose end, the conditions there are removed.
    """
    hop = plan["hops"][index]
    near, far, goal = hop["from"], hop["to_var"], plan["target"]["var"]
    anchors = [anchor["var"] for anchor in plan["anchors"]]
    if near in anchors and far in (*anchors, goal):
        alone = sum(near in (other["from"], other["to_var"]) for other in plan["hops"]) == 1
        if alone:
            drop_anchor(plan, anchors.index(near))
        else:
            plan["hops"].pop(index)
        return
    beyond = loose_end(plan, index)
    plan["hops"].pop(index)
    kept, gone = (near, far) if near in anchors else (far, near)
    if beyond is not None:
        kept, gone = (near, far) if far in beyond else (far, near)
        if not any(gone in (other["from"], other["to_var"]) for other in plan["hops"]):
            plan["filters"] = [condition for condition in plan["filters"] if condition["var"] != gone]
            drop_loose(plan)
            return
    for other in plan["hops"]:
        for end in ("from", "to_var"):
            other[end] = kept if other[end] == gone else other[end]
    for condition in plan["filters"]:
        condition["var"] = kept if condition["var"] == gone else condition["var"]
    rename(plan, gone, kept)
    share_labels(plan)


def add_filter(plan: Json, schema: Schema) -> None:
    """Add a filter with an empty value on the target; changes `plan`.

    Its field is the first number or date among the target's fields, or the first field if there is none.
    """
    var = plan["target"]["var"]
    fields = fields_for(plan, var, schema)
    name = next((name for name, kind in fields.items() if kind in ("number", "date")), next(iter(fields)))
    op = "contains" if fields[name] in ("text", "keyword") else ">="
    plan["filters"].append({"var": var, "field": name, "op": op, "value": ""})


def _places(fields: Mapping[str, str], key: str, mark: str) -> Iterator[str]:
    """Yield the pointers of a list's items in order, at most one more than a plan may have.

    The extra item lets the check report that the list is too long.
    """
    numbers = sorted(
        int(name.split("/")[2]) for name in fields if _ITEM.fullmatch(name) and name.startswith(f"/{key}/")
    )
    for number in numbers[: _MOST[key] + 1]:
        if f"/{key}/{number}/{mark}" in fields:
            yield f"/{key}/{number}"


def _anchor(fields: Mapping[str, str], at: str) -> Json:
    text = fields.get(f"{at}/text", "").strip()
    anchor: Json = {
        "var": fields[f"{at}/var"],
        "text": text,
        "label": fields.get(f"{at}/label", ANY),
        "match_mode": fields.get(f"{at}/match_mode", "name"),
    }
    ids = _strings(fields.get(f"{at}/ids", "[]"))
    # Ids and a plan inside belong to the name and type that the anchor had when they were chosen. If one has changed,
    # drop them.
    was = (fields.get(f"{at}/was", "").strip(), fields.get(f"{at}/was_label", anchor["label"]))
    if was != (text, anchor["label"]):
        return anchor
    inner = parsed_json(fields.get(f"{at}/plan", ""))
    return anchor | ({"ids": ids} if ids else {}) | ({"plan": inner} if inner else {})


def _hop(fields: Mapping[str, str], at: str) -> Json:
    way, _, relation = fields.get(f"{at}/rel", f"{EITHER} {ANY}").partition(" ")
    hop: Json = {
        "from": fields[f"{at}/from"],
        "rel": relation,
        "to_var": fields.get(f"{at}/to_var", ""),
        "to_label": fields.get(f"{at}/to_label", ANY),
    }
    hop |= {"direction": way} if way in ("out", "in") else {}
    # Conditions on the edge belong to the relation that the hop had when they were made.
    where = parsed_json(fields.get(f"{at}/where", "")) if fields.get(f"{at}/was", relation) == relation else None
    return hop | ({"where": where} if where else {})


def _filter(fields: Mapping[str, str], at: str, plan: Json, schema: Schema) -> Json:
    condition = {"var": fields[f"{at}/var"], "field": fields.get(f"{at}/field", ""), "op": fields.get(f"{at}/op", "=")}
    known = fields_for(plan, condition["var"], schema)
    counted = parsed_json(condition["field"]) if condition["field"].startswith("{") else None
    if isinstance(counted, dict) and "count" in counted:
        return _count_filter(fields, at, {"var": condition["var"], "count": counted["count"], "op": condition["op"]})
    if fields.get(f"{at}/was") not in (None, condition["var"]) and condition["field"] not in known:
        condition["field"] = next(iter(known))
    kind = known.get(condition["field"], "keyword")
    if condition["op"] in WITHOUT_VALUE:
        return condition
    compared = parsed_json(fields.get(f"{at}/compared", ""))
    if isinstance(compared, dict) and condition["op"] in COMPARING:
        return condition | {"value": compared}
    value = fields.get(f"{at}/value", "")
    if condition["op"] == "between":
        values = [value.strip(), fields.get(f"{at}/value2", "").strip()]
        return condition | {"value": [as_kind(item, kind) for item in values]}
    if condition["op"] in ("in", "not in"):
        lines = [line.strip() for line in value.splitlines() if line.strip()]
        return condition | {"value": [as_kind(line, kind) for line in lines]}
    return condition | {"value": as_kind(value.strip(), kind)}


def _count_filter(fields: Mapping[str, str], at: str, condition: Json) -> Json:
    """Return a filter on a count; a comparison that only fields have becomes *is*."""
    op = condition["op"] if condition["op"] in COUNTING else "="
    values = [fields.get(f"{at}/value", "").strip(), fields.get(f"{at}/value2", "").strip()]
    numbers = [as_kind(value, "number") for value in (values if op == "between" else values[:1])]
    return condition | {"op": op, "value": numbers if op == "between" else numbers[0]}


def share_labels(plan: Json) -> None:
    """Set the `to_label` of every hop to the type of its variable, because the form shows each type once."""
    labels = plan["target"]["labels"]
    shared: dict[str, str] = {anchor["var"]: anchor["label"] for anchor in plan["anchors"]}
    shared[plan["target"]["var"]] = labels[0] if len(labels) == 1 else ANY
    for hop in plan["hops"]:
        hop["to_label"] = shared.setdefault(hop["to_var"], hop["to_label"])


def _distances(hops: list[Json], goal: str) -> dict[str, int]:
    """Return the number of hops between each variable and the target."""
    found = routes([(hop["from"], hop["to_var"]) for hop in hops], goal)
    return {var: len(legs) for var, legs in found.items()}


def unused(plan: Json, stem: str) -> str:
    """Return a variable that neither the plan nor its exclusions have: the stem and the smallest number."""
    used = {plan["target"]["var"], *(anchor["var"] for anchor in plan["anchors"])}
    patterns = [plan, *plan.get("exclude", [])]
    used |= {end for one in patterns for hop in one["hops"] for end in (hop["from"], hop["to_var"])}
    used |= {anchor["var"] for one in patterns for anchor in one["anchors"]}
    return next(f"{stem}{number}" for number in range(1, len(used) + 2) if f"{stem}{number}" not in used)


def _strings(text: str) -> list[str]:
    """Return the strings of a JSON list, or an empty list if the text is no JSON list."""
    items = parsed_json(text)
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
