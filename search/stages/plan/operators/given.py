"""What a follow-up says of the plan before: something takes a place in it, is turned round, or is taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from search.domain.plan import Filter
from search.stages.plan.derivation import Derivation, Features, FieldNamed, Relating, SaidOrder
from search.stages.plan.given import ANCHOR, DOWN, FILTER, LIMIT, ORDER, TURNED, UP, GivenPlace
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.operators.sets import floating
from search.stages.plan.operators.values import amounts_of
from search.stages.plan.sets import (
    Either,
    Given,
    Kind,
    Named,
    NodeSet,
    Top,
    Walk,
    Where,
    Without,
    codes,
    narrowed,
    within,
)

_UPPER, _LOWER = ("<", "<="), (">", ">=")
_DENYING = ("!=", "not in", "not contains")


def found(context: Context, left: Derivation) -> Iterator[Made]:
    """The nodes that the plan finds."""
    yield left.meaning, ()


def in_place(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan with a set in the place of something, or as a condition on what it finds or goes through."""
    given, other = left.meaning, right.meaning
    if isinstance(other, Given | Kind):
        return
    if isinstance(other, Where) and _limits(other):
        yield from _limited(given, other)
        return
    named = isinstance(other, Named)
    chosen = isinstance(other, Either) or bool(within(other, lambda relation: False))
    for back, place in enumerate(given.open_places):
        if named and place.keys & set(other.keys):
            yield given, (("given-again", 1.0),)
        elif place.anchored and place.types & other.types and chosen:
            features: Features = (("put", 1.0), ("put-back", float(back)))
            yield given.holding(place.var, narrowed(other, place.types & other.types)), features
        elif not place.anchored and place.var != given.target and place.types & other.types and not named:
            yield given.holding(place.var, narrowed(other, place.types & other.types)), (("put-inner", 1.0),)
    if chosen:
        yield from _in_role(context, given, other)


def _in_role(context: Context, given: Given, other: NodeSet) -> Iterator[Made]:
    """Yield the plans in which a set has the part that an anchor had: over one of its relations, or as the only one."""
    anchored = [place for place in given.open_places if place.anchored and place.relations]
    walks: list[tuple[Walk, Features]] = list(floating(context, given.types, other))
    if isinstance(other, Walk) and other.types & given.types:
        walks.append((other, ()))
    for place in anchored:
        less = given.without(f"{ANCHOR}{place.var}")
        for walk, features in walks:
            if walk.relation in place.relations:
                yield less.holding(given.target, walk), (*features, ("put-role", 1.0))
            elif len(anchored) == 1:
                yield less.holding(given.target, walk), (*features, ("put-any", 1.0))


def limited(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan with a number that limits a field of what it finds or goes through."""
    given, amount = left.meaning, right.meaning
    for place in given.open_places:
        for where, features in amounts_of(context, Kind(place.types), amount):
            if isinstance(where, Where):
                for meaning, more in _limited(given, where, place):
                    yield meaning, (*features, *more)


def _limited(given: Given, where: Where, only: GivenPlace | None = None) -> Iterator[Made]:
    """Yield the plans with a condition on a field, instead of those that limit the field on the same side."""
    for place in [only] if only is not None else given.open_places:
        types = place.types & where.types
        if not types or place.anchored or (only is None and len(codes(place.types)) > 1):
            continue
        rivals = [
            f"{FILTER}{at}"
            for at, one in enumerate(given.before.plan.filters)
            if one.var == place.var and any(is_rival(one, limit.field, limit.op) for limit in _limits(where))
        ]
        inner = place.var != given.target
        features: Features = (("put-filter", float(bool(rivals))), ("put-inner", float(inner)))
        yield given.without(*rivals).holding(place.var, narrowed(where, types)), features


def not_limited(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan with a number that a field of what it finds must not have: *not since 2018*."""
    given = left.meaning
    for where, features in amounts_of(context, Kind(given.types), right.meaning):
        having = Where(where.types, Kind(where.types), where.field, "exists")
        yield given.holding(given.target, Without(where.types, having, where)), features


def _limits(of: NodeSet) -> list[Where]:
    """Return the conditions of a set that has nothing but conditions on fields; none for any other set."""
    found = []
    while isinstance(of, Where):
        found.append(of)
        of = of.of
    return found if isinstance(of, Kind) else []


def is_rival(one: Filter, name: str, op: str) -> bool:
    """Whether a filter bounds a field on the side of a comparison, so that only one of both can be meant."""
    if one.field != name or one.count is not None or one.compared is not None:
        return False
    apart = (one.op in _UPPER and op in _LOWER) or (one.op in _LOWER and op in _UPPER)
    return not apart and not (one.op in _DENYING or op in _DENYING)


def turned(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan with a condition turned round, of the nodes that are denied: *not Ostervik*."""
    given, other = left.meaning, right.meaning
    for place in given.open_places:
        if isinstance(other, Named) and place.keys & set(other.keys) and place.relations:
            yield given.without(f"{TURNED}{place.var}"), (("given-turned", 1.0),)


def taken_back(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan without the conditions that are named."""
    given, what = left.meaning, right.meaning
    gone = [f"{ANCHOR}{place.var}" for place in given.open_places if place.anchored and _names(what, place)]
    plan = given.before.plan
    if isinstance(what, FieldNamed | SaidOrder):
        names = {name for _, name in what.fields}
        gone += [f"{FILTER}{at}" for at, one in enumerate(plan.filters) if one.field in names]
        if plan.order is not None and plan.order.by in names:
            gone.append(ORDER)
    if isinstance(what, Where):
        gone += [f"{FILTER}{at}" for at, one in enumerate(plan.filters) if one.field == what.field]
    if gone:
        yield given.without(*gone), (("given-back", 1.0),)


def _names(what: object, place: GivenPlace) -> bool:
    """Whether a type, a name or a relation says the condition of a place."""
    match what:
        case Kind(types):
            return not types & ~place.types or place.types == types
        case Named(_, keys):
            return bool(place.keys & set(keys))
        case Relating(relation):
            return relation in place.relations
        case _:
            return False


def everything(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan with all places of its order."""
    given = left.meaning
    order = given.before.plan.order
    if order is not None and order.limit is not None:
        yield given.without(LIMIT), ()


def from_lowest(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan with its order from the lowest value on: *and the fewest?*"""
    yield from _turned_order(left.meaning, UP)


def from_highest(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The plan with its order from the highest value on."""
    yield from _turned_order(left.meaning, DOWN)


def _turned_order(given: Given, part: str) -> Iterator[Made]:
    if given.before.plan.order is not None:
        yield given.without(part), (("given-turned", 1.0),)


def most_compared(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """That one of the nodes found with more or less of a field: *which one is older*."""
    given, amount = left.meaning, right.meaning
    for name in dict.fromkeys(name for code, name in amount.fields if given.types >> code & 1):
        yield Top(given.types, given, name, "desc" if amount.op == ">" else "asc"), ()


def put_first(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order of which all places are asked for: *newest first*."""
    yield replace(left.meaning, limit=0), ()


def upward(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order from the lowest value on."""
    yield replace(left.meaning, end="asc"), ()


def downward(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order from the highest value on."""
    yield replace(left.meaning, end="desc"), ()
