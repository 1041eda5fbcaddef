"""The plan format as a JSON schema over the names of one knowledge base, for servers that enforce a schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from search.domain.graph import ANY, Direction, Schema
from search.domain.plan import MAX_ANCHORS, MAX_EXCLUSIONS, MAX_HOPS, RISKS, Ask, MatchMode, Operator, RetrievalMode
from search.domain.plan.parts import COUNTING

MOST_NAMES = 200
"""Longest enumeration: servers refuse long ones. With more names any string is allowed, and the parser checks it."""


def plan_json_schema(schema: Schema, *, retrieval_modes: bool = False) -> dict[str, Any]:
    """Return the strict JSON schema of plans: every key is required, no other is allowed, names are enumerated.

    A key that plans may omit has an empty value here: an empty list, an empty text, null. `retrieval_modes` adds the
    key `retrieval_mode`, which some domains use.
    """
    types = _enumeration([t.name for t in schema.node_types if not t.hidden], extra=[ANY])
    relations = _enumeration([r.name for r in schema.relations], extra=[ANY])
    text = {"type": "string"}
    direction = {"type": ["string", "null"], "enum": [*get_args(Direction), None]}
    scalar = {"anyOf": [text, {"type": "number"}]}
    value = {"anyOf": [text, {"type": "number"}, _list(scalar), _object(var=text, field=text), {"type": "null"}]}
    anchors = _list(
        _object(var=text, text=text, label=types, match_mode=_enumeration(get_args(MatchMode))), MAX_ANCHORS
    )
    hops = _list(_object(**{"from": text}, rel=relations, to_var=text, to_label=types, direction=direction), MAX_HOPS)
    count = _object(rel=relations, direction=direction, to_label=types, among=text)
    order = _object(
        by={"anyOf": [_object(field=text), _object(count=count)]},
        direction=_enumeration(("asc", "desc")),
        limit={"type": ["integer", "null"]},
    )
    of_field = _object(var=text, field=text, op=_enumeration(get_args(Operator)), value=value)
    number = {"type": "integer"}
    of_count = _object(var=text, count=count, op=_enumeration(COUNTING), value={"anyOf": [number, _list(number)]})
    properties: dict[str, Any] = {
        "anchors": anchors,
        "hops": hops,
        "target": _object(var=text, labels=_list(types), relevance_text=text),
        "filters": _list({"anyOf": [of_field, of_count]}),
        "exclude": _list(_object(anchors=anchors, hops=hops), MAX_EXCLUSIONS),
        "order": {"anyOf": [order, {"type": "null"}]},
        "ask": _enumeration(get_args(Ask)),
        "show": text,
        "risk_level": _enumeration(RISKS),
    }
    if retrieval_modes:
        properties = {"retrieval_mode": _enumeration(get_args(RetrievalMode))} | properties
    return _object(**properties)


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({"maxItems": most} if most else {})


def _enumeration(names: Sequence[str], extra: Sequence[str] = ()) -> dict[str, Any]:
    return {"type": "string", "enum": [*names, *extra]} if len(names) <= MOST_NAMES else {"type": "string"}
