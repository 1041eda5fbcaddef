"""The parts of a plan that say one condition each, so that a candidate can be held against each of them alone.

A candidate that does not meet a plan as a whole may well meet some of its conditions. Each is a smaller plan over the
same variables, matched with the target bound to the candidate:

- an anchor: its chain of hops to the target, without filters, so that an anchor is not blamed for a filter; of an
  anchor that no hops connect with the target, the chain has the comparison that does;
- a hop: the chains of the anchors that it lies on, any of which will do; one that lies on none, such as a hop to a
  loose end, is taken with the chain from its nearer end to the target, and with the anchors among their variables;
- a filter on the target: the candidate's own fields; a count among other nodes: with it, all hops, and the filters on
  them;
- a filter that compares two variables: with it, the chains from both to the target, and the anchors among their
  variables;
- any other filter: with the filter, the chain of the anchor whose variable it is on, else the chains of the anchors
  that its variable stands on, any of which will do; where it stands on none, the chain from the variable to the target;
- an exclusion: as a filter on the variable that it begins at.

Whoever matches the plan as a whole matches each of these, for each demands a part of the same.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from search.domain.plan.parts import Exclusion, Filter, Hop, Target
from search.domain.plan.plan import Plan

Chain = tuple[tuple[Hop, ...], tuple[Filter, ...]]
"""The hops and the comparisons of a walk from a variable to the target."""


def of_anchor(plan: Plan, var: str) -> Plan:
    """Return the part that says the anchor with that variable."""
    return replace(plan.branch(var), filters=plan.chain(var)[1])


def of_hop(plan: Plan, hop: Hop) -> list[Plan]:
    """Return the parts that say a hop; it is met with any of them."""
    walks = [walk for anchor in plan.anchors if hop in (walk := of_anchor(plan, anchor.var)).hops]
    if walks:
        return walks
    chains = [chain for end in (hop.source, hop.to_var) if (chain := _chain(plan, end)) is not None]
    if not chains:
        return []
    hops, compared = min(chains, key=lambda chain: len(chain[0]) + len(chain[1]))
    return [_part(plan, (*hops, hop), compared)]


def of_filter(plan: Plan, condition: Filter) -> list[Plan]:
    """Return the parts that say a filter, the filter in each; it is met with any of them."""
    if condition.compared is not None:
        several = [chain for var in (condition.var, condition.compared.var) if (chain := _chain(plan, var)) is not None]
        hops = tuple(hop for chain in several for hop in chain[0])
        compared = dict.fromkeys([*(one for chain in several for one in chain[1]), condition])
        return [_part(plan, hops, compared)]
    if condition.count is not None and condition.others:
        # Which nodes are counted is said by all that the plan says of them.
        own = tuple(one for one in plan.filters if one.var != plan.target.var)
        return [replace(plan, filters=(*own, condition), exclude=(), order=None)]
    if condition.var == plan.target.var:
        return [Plan(target=Target(condition.var), filters=(condition,))]
    return [replace(walk, filters=(*walk.filters, condition)) for walk in _to(plan, condition.var)]


def of_exclusion(plan: Plan, exclusion: Exclusion) -> list[Plan]:
    """Return the parts that say an exclusion, the exclusion in each; it is met with any of them."""
    var = plan.excluded(exclusion).target.var
    if var == plan.target.var:
        return [Plan(target=Target(var), exclude=(exclusion,))]
    return [replace(walk, exclude=(exclusion,)) for walk in _to(plan, var)]


def _to(plan: Plan, var: str) -> list[Plan]:
    """Return the walks on which a variable stands: its own as an anchor, else the anchors', else its chain alone."""
    bound = [anchor.var for anchor in plan.anchors]
    walks = [of_anchor(plan, anchor) for anchor in ([var] if var in bound else bound)]
    walks = [walk for walk in walks if var in walk.variables]
    if not walks and (chain := _chain(plan, var)) is not None:
        walks = [_part(plan, *chain)]
    return walks


def _chain(plan: Plan, var: str) -> Chain | None:
    """Return the shortest chain from a variable to the target; None if there is none."""
    chain = plan.chain(var)
    return chain if any(chain) or var == plan.target.var else None


def _part(plan: Plan, hops: Collection[Hop], compared: Collection[Filter]) -> Plan:
    """Return a plan of some hops and comparisons, with the anchors among their variables but the target's own."""
    own = tuple(hop for hop in plan.hops if hop in hops)
    held = {end for hop in own for end in (hop.source, hop.to_var)}
    held |= {var for one in compared for var in (one.var, one.value.var)}
    anchors = tuple(anchor for anchor in plan.anchors if anchor.var in held - {plan.target.var})
    return replace(plan, anchors=anchors, hops=own, filters=tuple(compared), exclude=(), order=None)
