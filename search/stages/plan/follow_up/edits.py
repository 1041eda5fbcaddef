"""Changes of a plan: each function returns a new plan, whose other parts and variables are those of the given one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from search.domain.graph import ANY, OPPOSITE, Direction
from search.domain.plan import Anchor, Count, Exclusion, Filter, Hop, Order, Plan, Target

_UPPER, _LOWER = ("<", "<="), (">", ">=")


@dataclass(frozen=True, slots=True)
class Leg:
    """One hop of a walk that is to be added: relation, direction as walked, and the node type that it reaches."""

    relation: str
    direction: Direction
    to_label: str


@dataclass(frozen=True, slots=True)
class Entity:
    """What an anchor is to be bound to: its text in the question, its node type, and its nodes."""

    text: str
    label: str
    ids: tuple[str, ...]


def fresh(plan: Plan, stem: str) -> str:
    """Return a variable that neither the plan nor its exclusions have, made of a letter and the next free number."""
    taken = {*plan.variables, *(var for pattern in plan.exclude for var in pattern.variables)}
    return next(name for number in count(1) if (name := f"{stem}{number}") not in taken)


def replaced(plan: Plan, var: str, entity: Entity) -> Plan:
    """Return the plan with another entity for the anchor with that variable."""
    anchors = tuple(
        Anchor(var, entity.text, entity.label, "name", entity.ids) if anchor.var == var else anchor
        for anchor in plan.anchors
    )
    hops = tuple(replace(hop, to_label=entity.label) if hop.to_var == var else hop for hop in plan.hops)
    return replace(plan, anchors=anchors, hops=hops)


def joined(plan: Plan, var: str, entity: Entity, legs: Sequence[Leg]) -> Plan:
    """Return the plan with a further anchor, from which the walk `legs` leads to the variable `var`."""
    anchor, hops = _walk(plan, var, entity, legs)
    return replace(plan, anchors=(*plan.anchors, anchor), hops=(*plan.hops, *hops))


def excluding(plan: Plan, var: str, entity: Entity, legs: Sequence[Leg]) -> Plan:
    """Return the plan with the condition that no walk `legs` leads from the entity to the variable `var`."""
    anchor, hops = _walk(plan, var, entity, legs)
    return replace(plan, exclude=(*plan.exclude, Exclusion((anchor,), hops)))


def _walk(plan: Plan, var: str, entity: Entity, legs: Sequence[Leg]) -> tuple[Anchor, tuple[Hop, ...]]:
    here = fresh(plan, "A") if legs else var
    anchor = Anchor(here, entity.text, entity.label, "name", entity.ids)
    stem = f"{here}x"
    hops = []
    for at, leg in enumerate(legs, 1):
        last = at == len(legs)
        there = var if last else f"{stem}{at}"
        hops.append(Hop(here, leg.relation, there, leg.to_label, leg.direction))
        here = there
    return anchor, tuple(hops)


def turned_round(plan: Plan, var: str) -> Plan | None:
    """Return the plan with the condition of an anchor as an exclusion; None if the anchor is the target itself.

    The hops that only this anchor needs go with it.
    """
    anchor = next(one for one in plan.anchors if one.var == var)
    rest = without_anchor(plan, var)
    gone = tuple(hop for hop in plan.hops if hop not in rest.hops)
    if var == plan.target.var or not gone:
        return None
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
        plan,
        anchors=anchors,
        hops=tuple(hops),
        filters=tuple(one for one in plan.filters if {one.var} | one.others <= known),
        order=plan.order if plan.order is None else plan.order.within(known),
        exclude=tuple(one for one in plan.exclude if known & set(one.variables)),
    )


def limited(plan: Plan, conditions: Sequence[Filter]) -> Plan:
    """Return the plan with these filters; a filter on the same field and the same side of it is replaced."""
    kept = [one for one in plan.filters if not any(_rivals(one, new) for new in conditions)]
    return replace(plan, filters=(*kept, *conditions))


def _rivals(one: Filter, other: Filter) -> bool:
    """Whether two filters bound the same field on the same side, so that only one of both can be meant."""
    if (one.var, one.field, one.count) != (other.var, other.field, other.count) or one.compared is not None:
        return False
    return not ((one.op in _UPPER and other.op in _LOWER) or (one.op in _LOWER and other.op in _UPPER)) and not (
        one.op in ("!=", "not in", "not contains") and other.op in ("!=", "not in", "not contains")
    )


def beyond(plan: Plan, legs: Sequence[Leg], pinned: Sequence[str] = (), text: str = "", start: str = "") -> Plan:
    """Return the plan whose target is what the walk `legs` from the present target reaches.

    The present target becomes a variable between. Its order and what is asked of it have no meaning any more; its
    residual text cannot be checked there. `pinned` are the ids that it may take, for an order that kept only some;
    `text` names them. With `start` the walk begins at that variable instead of the target.
    """
    here = start or plan.target.var
    label = plan.target.labels[0] if len(plan.target.labels) == 1 and not start else ANY
    goal = fresh(plan, "T")
    hops = []
    for at, leg in enumerate(legs, 1):
        there = goal if at == len(legs) else f"{goal}x{at}"
        # Written from its far end, so that the hop also holds the type of its near end.
        hops.append(Hop(there, leg.relation, here, label, OPPOSITE[leg.direction]))
        here, label = there, leg.to_label
    anchors = plan.anchors
    if pinned and all(anchor.var != plan.target.var for anchor in anchors):
        own = plan.target.labels[0] if len(plan.target.labels) == 1 else ANY
        anchors = (*anchors, Anchor(plan.target.var, text, own, "name", tuple(pinned)))
    return replace(
        plan,
        anchors=anchors,
        hops=(*plan.hops, *hops),
        target=Target(goal, () if legs[-1].to_label == ANY else (legs[-1].to_label,)),
        order=None,
        ask="which",
        retrieval_mode=None,
    )


def ordered(plan: Plan, by: str | Count, direction: str, limit: int | None) -> Plan:
    """Return the plan with an order instead of its own."""
    return replace(plan, order=Order(by, "asc" if direction == "asc" else "desc", limit))


def about(plan: Plan, text: str) -> Plan:
    """Return the plan with further words in its residual text."""
    said = " ".join(filter(None, [plan.target.relevance_text, text]))
    return replace(plan, target=replace(plan.target, relevance_text=said))
