"""The plan of the search before as the words of a follow-up see it: its variables, and the parts that may change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from search.domain.plan import Exclusion, Plan

ANCHOR, TURNED, FILTER, ORDER, LIMIT, UP, DOWN = "anchor:", "turned:", "filter:", "order", "limit", "up", "down"
"""What may happen to the parts of a plan; a variable or a number stands behind the first three.

An anchor goes with its hops, an anchor's condition must not hold any more, a filter goes, the order goes, its limit
goes, or it begins with the lowest or the highest value.
"""


@dataclass(frozen=True)
class GivenPlace:
    """A variable of a plan with the mask of the types of its nodes.

    `keys` are the nodes of its anchor, if it has one that names them; `anchored` says that it has one. `relations` are
    those that lead only from this anchor.
    """

    var: str
    types: int
    anchored: bool = False
    keys: frozenset[int] = frozenset()
    relations: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Before:
    """A plan with its variables. The anchors that were said last are the first of the places."""

    plan: Plan
    places: Sequence[GivenPlace]


def lessened(plan: Plan, gone: Iterable[str]) -> Plan:
    """Return a plan without some of its parts."""
    parts = frozenset(gone)
    kept = tuple(one for at, one in enumerate(plan.filters) if f"{FILTER}{at}" not in parts)
    order = None if ORDER in parts else plan.order
    if order is not None:
        direction = "asc" if UP in parts else "desc" if DOWN in parts else order.direction
        order = replace(order, direction=direction, limit=None if LIMIT in parts else order.limit)
    plan = replace(plan, filters=kept, order=order)
    for part in sorted(parts):
        what, sign, var = part.partition(":")
        if what + sign == ANCHOR:
            plan = without_anchor(plan, var)
        elif what + sign == TURNED:
            plan = turned_round(plan, var)
    return plan


def turned_round(plan: Plan, var: str) -> Plan:
    """Return the plan with the condition of an anchor as an exclusion, with the hops that only this anchor needs."""
    anchor = next(one for one in plan.anchors if one.var == var)
    rest = without_anchor(plan, var)
    gone = tuple(hop for hop in plan.hops if hop not in rest.hops)
    return replace(rest, exclude=(*rest.exclude, Exclusion((anchor,), gone)))


def without_anchor(plan: Plan, var: str) -> Plan:
    """Return the plan without an anchor and without the hops and filters that then lead nowhere."""
    anchors = tuple(anchor for anchor in plan.anchors if anchor.var != var)
    held = {plan.target.var, *(anchor.var for anchor in anchors)}
    held |= {one.var for one in plan.filters if one.var != var}
    held |= {other for one in plan.filters if one.var != var for other in one.others}
    held |= {name for pattern in plan.exclude for name in pattern.variables}
    hops = list(plan.hops)
    loose = True
    while loose:
        ends = [end for hop in hops for end in (hop.source, hop.to_var)]
        kept = [hop for hop in hops if all(end in held or ends.count(end) > 1 for end in (hop.source, hop.to_var))]
        loose, hops = len(kept) < len(hops), kept
    known = {plan.target.var, *(end for hop in hops for end in (hop.source, hop.to_var))}
    known |= {anchor.var for anchor in anchors}
    return replace(
        plan.within(known),
        anchors=anchors,
        hops=tuple(hops),
        filters=tuple(one for one in plan.filters if {one.var} | one.others <= known),
        exclude=tuple(one for one in plan.exclude if known & set(one.variables)),
    )


def fresh(plan: Plan, stem: str) -> str:
    """Return a variable that neither the plan nor its exclusions have, made of a letter and the next free number."""
    taken = variables_of(plan)
    return next(name for number in count(1) if (name := f"{stem}{number}") not in taken)


def variables_of(plan: Plan) -> frozenset[str]:
    """Return the variables of a plan, of its exclusions and of its comparisons."""
    compared = {var for one in plan.filters for var in (one.var, *one.others)}
    return frozenset({*plan.variables, *compared, *(var for pattern in plan.exclude for var in pattern.variables)})
