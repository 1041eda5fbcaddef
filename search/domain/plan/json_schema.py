"""The plan format as a JSON schema over the names of one knowledge base, for servers that enforce a schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from search.domain.graph import ANY, Direction, Schema
from search.domain.plan import (
    MAX_ANCHORS,
    MAX_EXCLUSIONS,
    MAX_HOPS,
    RISKS,
    Ask,
    MatchMode,
    Operator,
    RetrievalMode,
)
from search.domain.plan.parts import AGGREGATES, COUNTING

_TEXT = {"type": "string"}
MOST_NAMES = 200
"""Longest enumeration: servers refuse long ones. With more names any string is allowed, and the parser checks it."""
WRITTEN_DEPTH = 2
"""Depth of plans inside plans that can be written: servers limit the nesting of a schema. `Plan.parse` reads more."""


def plan_json_schema(schema: Schema, *, retrieval_modes: bool = False) -> dict[str, Any]:
    """Return the strict JSON schema of plans: every key is required, no other is allowed, names are enumerated.

    A key that plans may omit has an empty value here: an empty list, an empty text, null. `retrieval_modes` adds the
    key `retrieval_mode`, which some domains use.
    """
    properties = _properties(schema, WRITTEN_DEPTH) | {
        "ask": _enumeration(get_args(Ask)),
        "show": _TEXT,
        **({"show_edge": _TEXT} if schema.edge_fields(ANY) else {}),
        "risk_level": _enumeration(RISKS),
    }
    if retrieval_modes:
        properties = {"retrieval_mode": _enumeration(get_args(RetrievalMode))} | properties
    return _object(**properties)


def _properties(schema: Schema, depth: int) -> dict[str, Any]:
    """Return the keys of a plan that may have plans inside it, so that all together are at most `depth` deep.

    Plans inside have these keys alone. They are written out, because the schema may stand inside another one. Of an
    exclusion, the anchors have none.
    """
    types = _enumeration([t.name for t in schema.node_types if not t.hidden], extra=[ANY])
    relations = _enumeration([r.name for r in schema.relations], extra=[ANY])
    direction = {"type": ["string", "null"], "enum": [*get_args(Direction), None]}
    scalar = {"anyOf": [_TEXT, {"type": "number"}]}
    value = {"anyOf": [_TEXT, {"type": "number"}, _list(scalar), _object(var=_TEXT, field=_TEXT), {"type": "null"}]}
    named = {"var": _TEXT, "text": _TEXT, "label": types, "match_mode": _enumeration(get_args(MatchMode))}
    found: dict[str, Any] = {}
    if depth > 1:
        found = {"plan": {"anyOf": [_object(**_properties(schema, depth - 1)), {"type": "null"}]}}
    hop = {"from": _TEXT, "rel": relations, "to_var": _TEXT, "to_label": types, "direction": direction}
    by = [_object(field=_TEXT)]
    if schema.edge_fields(ANY):
        one = {"anyOf": [part for part in value["anyOf"] if part.get("type") != "object"]}
        hop["where"] = _list(_object(field=_TEXT, op=_enumeration(get_args(Operator)), value=one))
        by.append(_object(field=_TEXT, edge=_TEXT))
    hops = _list(_object(**hop), MAX_HOPS)
    count = _object(rel=relations, direction=direction, to_label=types, among=_TEXT)
    of = {"anyOf": [_TEXT, _object(count=count)]}
    computed = _object(**count["properties"], function=_enumeration(AGGREGATES), of=of)
    order = _object(
        by={"anyOf": [*by, _object(count=count), _object(count=computed)]},
        direction=_enumeration(("asc", "desc")),
        limit={"type": ["integer", "null"]},
    )
    of_field = _object(var=_TEXT, field=_TEXT, op=_enumeration(get_args(Operator)), value=value)
    number = {"type": "integer"}
    of_count = _object(var=_TEXT, count=count, op=_enumeration(COUNTING), value={"anyOf": [number, _list(number)]})
    number = {"type": "number"}
    of_values = _object(var=_TEXT, count=computed, op=_enumeration(COUNTING), value={"anyOf": [number, _list(number)]})
    text = {"relevance_text": _TEXT} if depth == WRITTEN_DEPTH else {}
    return {
        "anchors": _list(_object(**named, **found), MAX_ANCHORS),
        "hops": hops,
        "target": _object(var=_TEXT, labels=_list(types), **text),
        "filters": _list({"anyOf": [of_field, of_count, of_values]}),
        "exclude": _list(_object(anchors=_list(_object(**named), MAX_ANCHORS), hops=hops), MAX_EXCLUSIONS),
        "order": {"anyOf": [order, {"type": "null"}]},
    }


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
