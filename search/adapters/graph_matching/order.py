"""What a plan's hops say before any edge is read: which types, which directions, in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from search.domain.graph import Direction, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Hop, Plan


def allowed_types(plan: Plan, schema: Schema) -> dict[str, frozenset[int]]:
    """Return the codes of the types that each variable may have; variables of any type are absent."""
    allowed = {}
    for var, sets in plan.labels_of.items():
        codes = [frozenset(schema.type_codes[label] for label in labels) for labels in sets]
        allowed[var] = frozenset.intersection(*codes)
    return allowed


def usable_bindings(
    linked: LinkedPlan, types: Mapping[str, frozenset[int]], schema: Schema
) -> dict[str, dict[int, float]]:
    """Return the nodes of a type that each anchor may have, by key, with the best score that each is bound with."""
    bound: dict[str, dict[int, float]] = {}
    for anchor in linked.plan.anchors:
        allowed = types.get(anchor.var)
        usable = bound.setdefault(anchor.var, {})
        for binding in linked.bindings_of(anchor.var):
            if allowed is None or schema.type_codes.get(binding.node.type) in allowed:
                usable[binding.node.key] = max(usable.get(binding.node.key, binding.score), binding.score)
    return bound


def directions(hop: Hop, types: Mapping[str, frozenset[int]], schema: Schema) -> tuple[Direction, ...]:
    """Return in which directions, seen from the hop's source, the snapshot can have edges for it.

    Where the schema counts none in either direction, both are kept: the engine then finds nothing by itself.
    """
    if hop.direction is not None:
        return (hop.direction,)
    near, far = types.get(hop.source), types.get(hop.to_var)
    pairs = schema.ends.get(hop.rel, frozenset())
    possible: list[Direction] = []
    if any((near is None or s in near) and (far is None or t in far) for s, t in pairs):
        possible.append("out")
    if any((far is None or s in far) and (near is None or t in near) for s, t in pairs):
        possible.append("in")
    return tuple(possible) or ("out", "in")


def depths(plan: Plan, *, from_target: bool = False) -> dict[str, int]:
    """Return how many hops each variable is from the target; below zero where the walk is to begin there."""
    depth = {plan.target.var: 0}
    frontier = [plan.target.var]
    while frontier:
        following = []
        for hop in plan.hops:
            for here, there in ((hop.source, hop.to_var), (hop.to_var, hop.source)):
                if here in frontier and there not in depth:
                    depth[there] = depth[here] + 1
                    following.append(there)
        frontier = following
    return {var: -hops for var, hops in depth.items()} if from_target else depth


def next_hop(
    pending: Sequence[Hop],
    home: Mapping[str, int],
    depth: Mapping[str, int],
    burden: Callable[[Hop, str, str], int] = lambda hop, near, far: 0,
) -> tuple[Hop, str, str] | None:
    """Choose the next hop and the end that it is walked from.

    One inside a set comes first, for it only filters. Then those of the least burden (see `Estimate`); among them
    inward, deepest first; outward last.
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
