"""Analyses a plan's hops before any edge is read: possible node types, possible directions, order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from search.domain.graph import ANY, DIRECTIONS, Direction, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Hop, Plan
from search.domain.plan.routes import routes


def allowed_types(plan: Plan, schema: Schema) -> dict[str, frozenset[int]]:
    """Return variable → codes of the node types that it may have; variables of any type are absent."""
    allowed = {}
    for var, sets in plan.labels_of.items():
        codes = [frozenset(schema.type_codes[label] for label in labels) for labels in sets]
        allowed[var] = frozenset.intersection(*codes)
    return allowed


def usable_bindings(
    linked: LinkedPlan, types: Mapping[str, frozenset[int]], schema: Schema
) -> dict[str, dict[int, float]]:
    """Return anchor → {key: score} of its bindings with an allowed node type; a node's best score counts."""
    bound: dict[str, dict[int, float]] = {}
    for anchor in linked.plan.anchors:
        allowed = types.get(anchor.var)
        usable = bound.setdefault(anchor.var, {})
        for binding in linked.bindings_of(anchor.var):
            if allowed is None or schema.type_codes.get(binding.node.type) in allowed:
                usable[binding.node.key] = max(usable.get(binding.node.key, binding.score), binding.score)
    return bound


def directions(hop: Hop, types: Mapping[str, frozenset[int]], schema: Schema) -> tuple[Direction, ...]:
    """Return the stored directions, seen from the hop's source, in which the snapshot can have edges for it.

    If the schema counts no edges in either direction, both are returned: the engine then finds nothing by itself.
    """
    return (hop.direction,) if hop.direction is not None else _possible(hop.rel, hop, types, schema) or DIRECTIONS


def edge_kinds(hop: Hop, types: Mapping[str, frozenset[int]], schema: Schema) -> Sequence[tuple[int, Direction]]:
    """Return (relation, stored direction as in `directions`) of the edges that a hop may take; `out` before `in`."""
    if hop.rel != ANY:
        return [(schema.relation_codes[hop.rel], way) for way in directions(hop, types, schema)]
    return [(code, way) for name, code in schema.relation_codes.items() for way in _possible(name, hop, types, schema)
            if hop.direction in (None, way)]  # fmt: skip


def _possible(relation: str, hop: Hop, types: Mapping[str, frozenset[int]], schema: Schema) -> tuple[Direction, ...]:
    """Return the directions in which the snapshot has edges of a relation between the types of a hop's ends."""
    near, far = types.get(hop.source), types.get(hop.to_var)
    pairs = schema.ends.get(relation, frozenset())
    possible: list[Direction] = []
    if any((near is None or s in near) and (far is None or t in far) for s, t in pairs):
        possible.append("out")
    if any((far is None or s in far) and (near is None or t in near) for s, t in pairs):
        possible.append("in")
    return tuple(possible)


def reaches_target(plan: Plan) -> bool:
    """Whether hops lead from an anchor to the target, or the target is an anchor."""
    reached = routes([(hop.source, hop.to_var) for hop in plan.hops], plan.target.var)
    return any(anchor.var in reached for anchor in plan.anchors)


def depths(plan: Plan, *, from_target: bool = False) -> dict[str, int]:
    """Return the number of hops from each variable to the target, negated if the walk begins at the target."""
    found = routes([(hop.source, hop.to_var) for hop in plan.hops], plan.target.var)
    return {var: -len(legs) if from_target else len(legs) for var, legs in found.items()}


def next_hop(
    pending: Sequence[Hop],
    home: Mapping[str, int],
    depth: Mapping[str, int],
    burden: Callable[[Hop, str, str], int] = lambda hop, near, far: 0,
) -> tuple[Hop, str, str] | None:
    """Return the next hop with its start and its end, or None if no pending hop touches a set.

    A hop inside a set comes first, because it only filters. Then come the hops of the lowest cost class (`burden`, see
    `Estimate`). Among them, hops towards the target come before hops away from it, and the deepest come first.
    """
    steps = [
        (hop, near, far)
        for hop in pending
        for near, far in ((hop.source, hop.to_var), (hop.to_var, hop.source))
        if near in home
    ]
    for hop, near, far in steps:
        if home.get(far) == home[near]:
            return hop, near, far
    if len(steps) < 2:
        return steps[0] if steps else None

    def rank(step: tuple[Hop, str, str]) -> tuple[int, int, int]:
        _, near, far = step
        inward = depth.get(near, 0) - depth.get(far, 0)
        return -burden(*step), inward, depth.get(near, 0) if inward > 0 else -depth.get(near, 0)

    return max(steps, key=rank)
