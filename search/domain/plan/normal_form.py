"""Normal form of plans: two plans that ask the graph the same have the same normal form, however they are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from search.domain.errors import Fault
from search.domain.graph import ANY, Direction, Schema
from search.domain.plan import Count, EdgeField, Filter, Hop, Order, Plan

Types = Mapping[str, frozenset[str]]
"""Variable of a plan → node types that it can take."""
_TURNED = {"out": "in", "in": "out", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""Directions and comparisons as seen from their other end."""


def possible_types(plan: Plan, schema: Schema) -> dict[str, frozenset[str]]:
    """Return the node types that each variable can take, by its labels and by the relations of its hops.

    Types are removed until nothing changes (arc consistency). An empty set therefore means that no graph of this schema
    can answer the plan.
    """
    everything = frozenset(node_type.name for node_type in schema.node_types)
    types = dict.fromkeys(plan.variables, everything)
    for var, sets in plan.labels_of.items():
        for allowed in sets:
            types[var] &= frozenset(allowed)
    changed = True
    while changed:
        changed = False
        for hop in plan.hops:
            ends = _ends(hop, types, schema)
            kept = (frozenset(near for near, _, _ in ends), frozenset(far for _, far, _ in ends))
            for var, narrowed in zip((hop.source, hop.to_var), kept, strict=True):
                if types[var] - narrowed:
                    types[var] &= narrowed
                    changed = True
    return types


def contradictions(plan: Plan, schema: Schema) -> list[Fault]:
    """Return a fault for each label and hop that no graph of this schema can satisfy.

    `Plan.parse` accepts such a plan: it can be executed, and finds nothing.
    """
    if inner := _of_inner_plans(plan, schema):
        return inner
    labels = plan.labels_of
    declared = {var: _declared(labels.get(var, ()), schema) for var in plan.variables}
    if apart := _of_exclusions(plan, schema) + _of_counts(plan, schema):
        fields = tuple(condition for condition in plan.filters if condition.count is None)
        return [*contradictions(replace(plan, exclude=(), order=None, filters=fields), schema), *apart]
    faults = [
        Fault(_pointer_of(plan, var), f"{var!r} cannot be of all the types that the plan gives it; give it one.")
        for var, types in declared.items()
        if not types
    ]
    if faults:
        return faults
    for index, hop in enumerate(plan.hops):
        if not _ends(hop, declared, schema):
            near, far = (_listed(declared[var], schema) for var in (hop.source, hop.to_var))
            way = f" in the direction {hop.direction!r}" if hop.direction else ""
            between = _joining(declared[hop.source], declared[hop.to_var], schema)
            hint = f" Between them there is {', '.join(between)}." if between else " No relation joins them."
            faults.append(Fault(f"/hops/{index}/rel", f"{hop.rel} does not lead from {near} to {far}{way}.{hint}",
                                between[0] if between else None))  # fmt: skip
    if not faults and not all(possible_types(plan, schema).values()):
        faults.append(Fault("/hops", "The steps cannot follow each other: no type fits between them."))
    return faults


def _of_inner_plans(plan: Plan, schema: Schema) -> list[Fault]:
    """Return the contradictions of the plans inside the anchors, and of anchors whose label their plan cannot have."""
    faults = []
    for at, anchor in plan.anchors_by_pointer:
        if anchor.plan is None:
            continue
        apart = contradictions(anchor.plan, schema)
        faults += [fault.below(f"{at}/plan") for fault in apart]
        found = possible_types(anchor.plan, schema)[anchor.plan.target.var]
        if not apart and anchor.label != ANY and anchor.label not in found:
            told = f"The plan inside finds {_listed(found, schema)}; its starting point has the label {anchor.label!r}."
            faults.append(Fault(f"{at}/label", told))
    return faults


def _of_exclusions(plan: Plan, schema: Schema) -> list[Fault]:
    """Return the contradictions inside each exclusion; a pattern that nothing can match excludes nothing."""
    faults = []
    for i, exclusion in enumerate(plan.exclude):
        pattern = plan.excluded(exclusion)
        sets = plan.labels_of.get(pattern.target.var, ())
        typed = replace(pattern, target=replace(pattern.target, labels=sets[0] if len(sets) == 1 else ()))
        faults += [fault.below(f"/exclude/{i}") for fault in contradictions(typed, schema)]
    return faults


def _of_counts(plan: Plan, schema: Schema) -> list[Fault]:
    """Return a fault for each count of an order or a filter, if no node of its variable can have such an edge."""
    order = plan.order.by if plan.order is not None else None
    counted = [("/order/by/count", plan.target.var, order)] if isinstance(order, Count) else []
    counted += [(f"/filters/{i}/count", one.var, one.count) for i, one in enumerate(plan.filters) if one.count]
    return [fault for at, var, count in counted for fault in _of_count(plan, schema, at, var, count)]


def _of_count(plan: Plan, schema: Schema, at: str, var: str, count: Count) -> list[Fault]:
    hop = Hop(var, count.rel, "counted", count.to_label, count.direction)
    labels = plan.labels_of.get(var, ())
    types = {hop.source: _declared(labels, schema), hop.to_var: _declared([(count.to_label,)], schema)}
    if count.to_label == ANY:
        types[hop.to_var] = _declared([], schema)
    if not all(types.values()) or _ends(hop, types, schema):
        return []
    between = _joining(types[hop.source], types[hop.to_var], schema)
    hint = f" Between them there is {', '.join(between)}." if between else " No relation joins them."
    near, far = (_listed(types[var], schema) for var in (hop.source, hop.to_var))
    way = f" in the direction {hop.direction!r}" if hop.direction else ""
    message = f"{hop.rel} does not lead from {near} to {far}{way}.{hint}"
    return [Fault(f"{at}/rel", message, between[0] if between else None)]


def normal_form(plan: Plan, schema: Schema) -> str:
    """Return a fingerprint that is equal for two plans that ask the same of the graph.

    These make no difference: the names of variables, the order of anchors and hops, the end from which a hop is
    written, a direction that the schema implies, and labels that the relations imply. `relevance_text`, `risk_level`
    and `retrieval_mode` make none either, because they only decide how the graph's candidates are used. Filters of
    edges, exclusions, order, `ask` and `show` make a difference.
    """
    types = possible_types(plan, schema)
    inner = {anchor.var: normal_form(anchor.plan, schema) for anchor in plan.anchors if anchor.plan is not None}
    excluded: dict[str, list[str]] = {}
    for exclusion in plan.exclude:
        pattern = plan.excluded(exclusion)
        excluded.setdefault(pattern.target.var, []).append(normal_form(pattern, schema))
    colours = {var: _digest(_vertex(plan, var, types, excluded.get(var, ()), inner.get(var))) for var in plan.variables}
    edges: set[tuple[str, str, str | tuple[str, str], str]] = {_edge(hop, types, schema) for hop in plan.hops}
    edges |= {_compared(condition) for condition in plan.comparisons}
    ordered = [plan.order.by] if plan.order is not None and isinstance(plan.order.by, Count) else []
    edges |= {_among(plan, one) for one in (*ordered, *(f.count for f in plan.filters if f.count)) if one.among}
    of_edges = {"order": plan.order.by if plan.order is not None else None, "show": plan.shown_edge}
    edges |= {
        (plan.target.var, one.var, f"{what} {one.field}", ">") for what, one in of_edges.items()
        if isinstance(one, EdgeField)
    }  # fmt: skip
    for _ in plan.variables:
        seen: dict[str, list[Any]] = {var: [] for var in colours}
        for near, far, rel, way in edges:
            seen[near].append((colours[far], rel, way))
            seen[far].append((colours[near], rel[::-1] if isinstance(rel, tuple) else rel, _TURNED.get(way, way)))
        colours = {var: _digest([colours[var], sorted(around, key=json.dumps)]) for var, around in seen.items()}
    asked: list[Any] = [plan.ask, _unnamed(plan.order).to_json() if plan.order else None]
    asked = [*(asked if asked != ["which", None] else []), *([{"show": plan.show}] if plan.show else [])]
    return _digest([*sorted(colours.values()), *asked])


def _vertex(plan: Plan, var: str, types: Types, excluded: Sequence[str] = (), inner: str | None = None) -> list[Any]:
    """Return a variable's properties apart from its hops: if it is the target, its types, anchors, filters, exclusions.

    `excluded` holds the normal forms of the patterns that begin at the variable, `inner` that of the plan inside its
    anchor, which stands in the place of the anchor's wording.
    """
    named = [(" ".join(a.text.casefold().split()), sorted(a.ids)) for a in plan.anchors if a.var == var]
    anchors = sorted(named) if inner is None else [("", [inner])]
    own = [f for f in plan.filters if f.var == var and f.compared is None]
    filters = sorted((_what(f), f.op, json.dumps(f.value, sort_keys=True)) for f in own)
    return [var == plan.target.var, sorted(types[var]), anchors, filters, *([sorted(excluded)] if excluded else [])]


def _what(condition: Filter) -> str:
    """Return the field of a filter, or its count."""
    return condition.field if condition.count is None else _counted_by(condition.count)


def _counted_by(count: Count) -> str:
    """Return what a count counts, without the name of the variable that it counts among, which may be any."""
    return json.dumps(replace(count, among="").to_json(), sort_keys=True)


def _unnamed(order: Order) -> Order:
    """Return an order without the name of the variable that it counts among, or whose edge it compares."""
    if isinstance(order.by, EdgeField):
        return replace(order, by=replace(order.by, var=""))
    return replace(order, by=replace(order.by, among="")) if isinstance(order.by, Count) else order


def _among(plan: Plan, count: Count) -> tuple[str, str, str, str]:
    """Return (counting variable, counted variable, relation, role) of a count among another variable's nodes."""
    return plan.target.var, count.among, _counted_by(count), ">"


def _compared(condition: Filter) -> tuple[str, str, tuple[str, str], str]:
    """Return (variable, variable, fields, operator) of a comparison, with the smaller variable name first."""
    other = condition.value
    if condition.var <= other.var:
        return condition.var, other.var, (condition.field, other.field), condition.op
    return other.var, condition.var, (other.field, condition.field), _TURNED.get(condition.op, condition.op)


def _edge(hop: Hop, types: Types, schema: Schema) -> tuple[str, str, str, str]:
    """Return (variable, variable, relation, direction) of a hop, with the smaller variable name first.

    The direction is empty where the schema allows only one.
    """
    ways = {way for _, _, way in _ends(hop, types, schema)}
    free = {way for _, _, way in _ends(Hop(hop.source, hop.rel, hop.to_var), types, schema)}
    way = ways.pop() if len(ways) == 1 and len(free) > 1 else ""
    where = sorted(json.dumps(condition.to_json(), sort_keys=True) for condition in hop.where)
    rel = _digest([hop.rel, where]) if where else hop.rel
    if hop.source <= hop.to_var:
        return hop.source, hop.to_var, rel, way
    return hop.to_var, hop.source, rel, _TURNED.get(way, way)


def _ends(hop: Hop, types: Types, schema: Schema) -> list[tuple[str, str, Direction]]:
    """Return every (type of source, type of to_var, direction) that the schema allows for a hop."""
    found = []
    for kind in schema.relation_types:
        if hop.rel not in (kind.relation, ANY):
            continue
        for near, far, way in kind.ways:
            if hop.direction in (None, way) and near in types[hop.source] and far in types[hop.to_var]:
                found.append((near, far, way))
    return found


def _declared(sets: Iterable[tuple[str, ...]], schema: Schema) -> frozenset[str]:
    types = frozenset(node_type.name for node_type in schema.node_types)
    for allowed in sets:
        types &= frozenset(allowed)
    return types


def _joining(near: frozenset[str], far: frozenset[str], schema: Schema) -> list[str]:
    """Return the names of up to six relations between two sets of types, most edges first."""
    joining: dict[str, int] = {}
    for kind in schema.relation_types:
        if (kind.source in near and kind.target in far) or (kind.source in far and kind.target in near):
            joining[kind.relation] = joining.get(kind.relation, 0) + kind.count
    return sorted(joining, key=lambda name: (-joining[name], name))[:6]


def _pointer_of(plan: Plan, var: str) -> str:
    """Return the pointer to the last place where the plan gives a variable a label."""
    if var == plan.target.var and plan.target.labels:
        return "/target/labels"
    hops = [i for i, hop in enumerate(plan.hops) if hop.to_var == var and hop.to_label != ANY]
    return f"/hops/{hops[-1]}/to_label" if hops else "/anchors"


def _listed(types: frozenset[str], schema: Schema) -> str:
    return "any entity" if len(types) == len(schema.node_types) else " or ".join(sorted(types))


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=16).hexdigest()
