"""The parts of a plan that say one condition each, so that a candidate can be held against each of them alone.

A candidate that does not meet a plan as a whole may well meet some of its conditions. Each is a smaller plan over the
same variables, matched with the target bound to the candidate:

- an anchor: its chain of hops to the target, without filters, so that an anchor is not blamed for a filter;
- a hop: the chains of the anchors that it lies on, any of which will do; one that lies on none, such as a hop to a
  loose end, is taken with the chain from its nearer end to the target, and with the anchors among their variables;
- a filter on the target: the candidate's own fields;
- any other filter: with the filter, the chain of the anchor whose variable it is on, else the chains of the anchors
  that its variable stands on, any of which will do; where it stands on none, the chain from the variable to the target.

Whoever matches the plan as a whole matches each of these, for each demands a part of the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from search.domain.plan.parts import Anchor, Filter, Hop, Target
from search.domain.plan.plan import Plan


def of_anchor(plan: Plan, var: str) -> Plan:
    """Return the part that says the anchor with that variable."""
    return replace(plan.branch(var), filters=())


def of_hop(plan: Plan, hop: Hop) -> list[Plan]:
    """Return the parts that say a hop; it is met with any of them."""
    walks = [walk for anchor in plan.anchors if hop in (walk := of_anchor(plan, anchor.var)).hops]
    if walks:
        return walks
    chains = [chain for end in (hop.source, hop.to_var) if (chain := _chain(plan, end)) is not None]
    return [_part(plan, (*min(chains, key=len), hop))] if chains else []


def of_filter(plan: Plan, condition: Filter) -> list[Plan]:
    """Return the parts that say a filter, the filter in each; it is met with any of them."""
    var = condition.var
    if var == plan.target.var:
        return [Plan(target=Target(var), filters=(condition,))]
    bound = [anchor.var for anchor in plan.anchors]
    walks = [of_anchor(plan, anchor) for anchor in ([var] if var in bound else bound)]
    walks = [walk for walk in walks if var in walk.variables]
    if not walks and (chain := _chain(plan, var)) is not None:
        walks = [_part(plan, chain)]
    return [replace(walk, filters=(condition,)) for walk in walks]


def _chain(plan: Plan, var: str) -> tuple[Hop, ...] | None:
    """Return the shortest chain of hops from a variable to the target; None where no hops lead there."""
    chain = replace(plan, anchors=(Anchor(var, ""),)).branch(var).hops
    return chain if chain or var == plan.target.var else None


def _part(plan: Plan, hops: Sequence[Hop]) -> Plan:
    """Return a plan of some hops, with the anchors among their variables but the target's own."""
    own = tuple(hop for hop in plan.hops if hop in hops)
    held = {end for hop in own for end in (hop.source, hop.to_var)} - {plan.target.var}
    anchors = tuple(anchor for anchor in plan.anchors if anchor.var in held)
    return replace(plan, anchors=anchors, hops=own, filters=())
