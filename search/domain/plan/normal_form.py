"""Normal form of plans: two plans that ask the graph the same have the same normal form, however they are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from search.domain.errors import Fault
from search.domain.graph import ANY, Schema
from search.domain.plan import Hop, Plan

Types = Mapping[str, frozenset[str]]
"""Variable of a plan → node types that it can take."""


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
    labels = plan.labels_of
    declared = {var: _declared(labels.get(var, ()), schema) for var in plan.variables}
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
        faults.append(Fault("/hops", "The hops cannot follow each other: no node type fits between them."))
    return faults


def normal_form(plan: Plan, schema: Schema) -> str:
    """Return a fingerprint that is equal for two plans that ask the same of the graph.

    These make no difference: the names of variables, the order of anchors and hops, the end from which a hop is
    written, a direction that the schema implies, and labels that the relations imply. `relevance_text`, `risk_level`
    and `retrieval_mode` make none either, because they only decide how the graph's candidates are used.
    """
    types = possible_types(plan, schema)
    colours = {var: _digest(_vertex(plan, var, types)) for var in plan.variables}
    edges = {edge for hop in plan.hops for edge in (_edge(hop, types, schema),)}
    for _ in plan.variables:
        seen: dict[str, list[Any]] = {var: [] for var in colours}
        for near, far, rel, way in edges:
            seen[near].append((colours[far], rel, way))
            seen[far].append((colours[near], rel, {"out": "in", "in": "out"}.get(way, way)))
        colours = {var: _digest([colours[var], sorted(around)]) for var, around in seen.items()}
    return _digest(sorted(colours.values()))


def _vertex(plan: Plan, var: str, types: Types) -> list[Any]:
    """Return a variable's properties apart from its hops: whether it is the target, its types, anchors and filters."""
    anchors = sorted((" ".join(a.text.casefold().split()), sorted(a.ids)) for a in plan.anchors if a.var == var)
    filters = sorted((f.field, f.op, json.dumps(f.value, sort_keys=True)) for f in plan.filters if f.var == var)
    return [var == plan.target.var, sorted(types[var]), anchors, filters]


def _edge(hop: Hop, types: Types, schema: Schema) -> tuple[str, str, str, str]:
    """Return (variable, variable, relation, direction) of a hop, with the smaller variable name first.

    The direction is empty where the schema allows only one.
    """
    ways = {way for _, _, way in _ends(hop, types, schema)}
    free = {way for _, _, way in _ends(Hop(hop.source, hop.rel, hop.to_var), types, schema)}
    way = ways.pop() if len(ways) == 1 and len(free) > 1 else ""
    if hop.source <= hop.to_var:
        return hop.source, hop.to_var, hop.rel, way
    return hop.to_var, hop.source, hop.rel, {"out": "in", "in": "out"}.get(way, way)


def _ends(hop: Hop, types: Types, schema: Schema) -> list[tuple[str, str, str]]:
    """Return every (type of source, type of to_var, direction) that the schema allows for a hop."""
    found = []
    for kind in schema.relation_types:
        if hop.rel not in (kind.relation, ANY):
            continue
        for near, far, way in ((kind.source, kind.target, "out"), (kind.target, kind.source, "in")):
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
    return "any node" if len(types) == len(schema.node_types) else " or ".join(sorted(types))


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=16).hexdigest()
