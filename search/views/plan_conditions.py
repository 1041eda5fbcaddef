"""What the plan editor does with exclusions, the order and what is asked: reading them from the form, and changes.

An exclusion is kept in the form as its JSON; one of a single hop also has fields of its own, whose values replace those
in the JSON. A button turns an entity of the plan into an exclusion, and back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from search.domain.plan import MAX_EXCLUSIONS
from search.plan_words import SHOWN_EDGE, SHOWS

Json = dict[str, Any]


def read_conditions(fields: Mapping[str, str]) -> Json:
    """Return `exclude`, `order` and `ask` of the plan in the form fields; those that say nothing are absent."""
    read: Json = {}
    exclude = parsed_json(fields.get("/exclude", ""))
    if isinstance(exclude, list) and exclude:
        patterns = [_pattern(item) for item in exclude[: MAX_EXCLUSIONS + 1] if isinstance(item, dict)]
        read["exclude"] = [_edited(pattern, fields, f"/exclude/{at}") for at, pattern in enumerate(patterns)]
    by = parsed_json(fields.get("/order/by", ""))
    if isinstance(by, dict):
        limit = fields.get("/order/limit", "").strip()
        whole = limit.removeprefix("-").isdecimal() and len(limit) < 10
        read["order"] = {
            "by": by,
            "direction": fields.get("/order/direction", "desc"),
            "limit": int(limit) if whole else limit or None,
        }
    asked, _, field = fields.get("/ask", "which").partition(SHOWS)
    field, _, edge = field.partition(SHOWN_EDGE)
    read |= {"show": field} if field else {}
    read |= {"show_edge": edge} if edge else {}
    return read | ({"ask": asked.strip()} if asked.strip() not in ("", "which") else {})


def _edited(pattern: Json, fields: Mapping[str, str], at: str) -> Json:
    """Return an exclusion with the values of its own fields, if the form has them."""
    if len(pattern["hops"]) != 1 or f"{at}/hops/0/rel" not in fields:
        return pattern
    way, _, relation = fields[f"{at}/hops/0/rel"].partition(" ")
    hop = {key: value for key, value in pattern["hops"][0].items() if key != "direction"}
    hop |= {"rel": relation} | ({"direction": way} if way in ("out", "in") else {})
    var = hop["to_var"]
    anchor = next((one for one in pattern["anchors"] if one["var"] == var), None)
    anchor = anchor or {"var": var, "text": "", "label": hop["to_label"], "match_mode": "name"}
    text = fields.get(f"{at}/text", anchor["text"]).strip()
    label = fields.get(f"{at}/label", anchor["label"])
    if (text, label) != (anchor["text"], anchor["label"]):
        kept = {key: value for key, value in anchor.items() if key not in ("ids", "plan")}
        anchor = kept | {"text": text, "label": label}
    return pattern | {"anchors": [anchor], "hops": [hop | {"to_label": label}]}


def exclude_anchor(plan: Json, index: int) -> None:
    """Turn an entity into an exclusion, with the hops that only it needs and their filters; changes `plan`."""
    anchor = plan["anchors"].pop(index)
    var, moved = anchor["var"], []
    held = {other["var"] for other in plan["anchors"]} | {plan["target"]["var"]}
    gone = set()
    while var not in held:
        touching = [hop for hop in plan["hops"] if var in (hop["from"], hop["to_var"])]
        if len(touching) != 1:
            break
        gone.add(var)
        plan["hops"].remove(touching[0])
        moved.append(touching[0])
        var = touching[0]["to_var"] if touching[0]["from"] == var else touching[0]["from"]
    pattern: Json = {"anchors": [anchor], "hops": moved}
    filters = [condition for condition in plan["filters"] if condition["var"] in gone]
    if filters:
        pattern["filters"] = [one for one in filters if not isinstance(one.get("value"), dict)]
        plan["filters"] = [condition for condition in plan["filters"] if condition not in filters]
    plan["exclude"] = [*plan.get("exclude", []), pattern]
    drop_loose(plan)


def require_exclusion(plan: Json, index: int) -> None:
    """Turn an exclusion into a part of the plan: what must not be must be now; changes `plan`."""
    pattern = plan["exclude"].pop(index)
    for key in ("anchors", "hops", "filters"):
        plan[key] = [*plan[key], *pattern.get(key, [])]
    drop_loose(plan)


def drop_exclusion(plan: Json, index: int) -> None:
    """Remove an exclusion; changes `plan`."""
    plan["exclude"].pop(index)
    drop_loose(plan)


def rename(plan: Json, gone: str, kept: str) -> None:
    """Replace a variable in the exclusions and comparisons, because two variables were joined; changes `plan`."""
    for pattern in plan.get("exclude", []):
        for hop in pattern["hops"]:
            for end in ("from", "to_var"):
                hop[end] = kept if hop[end] == gone else hop[end]
        for part in (*pattern["anchors"], *pattern.get("filters", [])):
            part["var"] = kept if part["var"] == gone else part["var"]
    for condition in plan["filters"]:
        if isinstance(value := condition.get("value"), dict) and value.get("var") == gone:
            value["var"] = kept


def drop_loose(plan: Json) -> None:
    """Remove exclusions and comparisons with variables that the plan no longer has; changes `plan`."""
    held = {plan["target"]["var"], *(anchor["var"] for anchor in plan["anchors"])}
    held |= {end for hop in plan["hops"] for end in (hop["from"], hop["to_var"])}
    kept = [pattern for pattern in plan.pop("exclude", []) if _variables(pattern) & held]
    if kept:
        plan["exclude"] = kept
    plan["filters"] = [
        one for one in plan["filters"] if not isinstance(one.get("value"), dict) or one["value"].get("var") in held
    ]


def _variables(pattern: Json) -> set[str]:
    ends = {end for hop in pattern["hops"] for end in (hop["from"], hop["to_var"])}
    return ends | {anchor["var"] for anchor in pattern["anchors"]}


def _pattern(item: Json) -> Json:
    """Return an exclusion whose lists hold only objects with the keys that the editor reads."""

    def several(key: str, needed: tuple[str, ...]) -> list[Json]:
        given = item.get(key)
        listed = given if isinstance(given, list) else []
        return [one for one in listed if isinstance(one, dict) and all(isinstance(one.get(n), str) for n in needed)]

    def ids(anchor: Json) -> Json:
        given = anchor.pop("ids", [])
        right = isinstance(given, list) and given and all(isinstance(one, str) for one in given)
        return anchor | ({"ids": given} if right else {})

    usual = {"label": "*", "match_mode": "name"}
    labelled = [hop for hop in several("hops", ("from", "rel", "to_var")) if isinstance(hop.get("to_label", "*"), str)]
    pattern: Json = {
        "anchors": [usual | ids(anchor) for anchor in several("anchors", ("var", "text"))],
        "hops": [{"to_label": "*"} | hop for hop in labelled],
    }
    filters = [one for one in several("filters", ("var", "field", "op")) if not isinstance(one.get("value"), dict)]
    return pattern | ({"filters": filters} if filters else {})


def parsed_json(text: str) -> Any:
    """Return the value of a JSON text, or None if there is none."""
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
