"""What is denied: sets, relations and fields that answers must not have."""

from __future__ import annotations

from collections.abc import Iterator

from search.domain.graph import Direction
from search.domain.plan.parts import DENIED
from search.stages.plan.derivation import Derivation, Features, Relating
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.operators.sets import floating, related
from search.stages.plan.sets import Kind, Meet, Named, NodeSet, Walk, Where, Without, narrowed, parts


def denied(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A set that answers must not be in, or must not be joined with."""
    yield right.meaning, ()


def lacked(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A set of which answers must have none."""
    yield right.meaning, ()


def lacked_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field that answers must not have."""
    for name in dict.fromkeys(name for _, name in right.meaning.fields):
        types = sum(1 << code for code, other in right.meaning.fields if other == name)
        yield Where(types, Kind(types), name, "exists"), ()


def relation(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A relation that is denied."""
    yield right.meaning, ()


def _any(context: Context, relating: Relating, *, subject: bool) -> Iterator[Made]:
    """Yield the nodes that have the relation at all, at each of its ends; `subject` says that its subject is denied."""
    ways: tuple[Direction, Direction] = ("out", "in")
    for way in ways:
        near = context.schema.near(context.schema.all_types, relating.relation, way)
        reached = context.schema.far(near, relating.relation, way)
        against = relating.way is not None and (relating.way == way) is not subject
        yield Walk(reached, Kind(near), relating.relation, way), (("against", float(against)),)


def unrelated(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What has no neighbour over a relation."""
    yield from _any(context, left.meaning, subject=False)


def undone(context: Context, left: Derivation) -> Iterator[Made]:
    """What a denied relation without anything beside it says: *not cited*."""
    yield from _any(context, left.meaning, subject=False)


def same_subject(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set without those that its name has a denied relation with: *X wrote but didn't direct*."""
    of: NodeSet = left.meaning
    for part in parts(of):
        if isinstance(part, Walk) and isinstance(part.of, Named):
            for walk, features in related(context, right.meaning, part.of, subject=True):
                if walk.types & of.types:
                    yield Without(of.types, of, narrowed(walk, walk.types & of.types)), features


def unrelated_behind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What no neighbour has over a relation."""
    yield from _any(context, right.meaning, subject=True)


def relation_last(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a denied relation with the set before it."""
    yield from related(context, right.meaning, left.meaning, subject=True)


def lacked_last(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a relation whose subject is lacked: *no paper uses*."""
    yield from related(context, right.meaning, left.meaning, subject=True)


def relation_first(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a relation with a set that is denied behind it."""
    yield from related(context, left.meaning, right.meaning, subject=False)


def without(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set that are not in a denied one, nor joined with it where that is of another type."""
    of: NodeSet = left.meaning
    out: NodeSet = right.meaning
    if isinstance(of, Named) or (isinstance(of, Kind) and of == out):
        return
    if isinstance(out, Where) and out.op in DENIED and of.types & out.types:
        types = of.types & out.types
        having = Where(types, narrowed(of, types), out.field, "exists")
        yield Without(types, having, narrowed(out, types)), ()
    elif of.types & out.types and not isinstance(out, Kind):
        several: Features = (("without-meet", float(isinstance(out, Meet))),)
        yield Without(of.types, of, narrowed(out, of.types & out.types)), several
    if isinstance(out, Named | Kind) or not of.types & out.types:
        for walk, features in floating(context, of.types, out):
            more: Features = (*features, ("without-join", 1.0))
            yield Without(of.types, of, walk), more


def permitted(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What must not be used with a set: the nodes that a relation that denies joins with it."""
    for at in context.schema.forbidding:
        yield from related(context, Relating(at, "out"), right.meaning, subject=False)


def without_forbidden(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set that are not forbidden."""
    of, out = left.meaning, right.meaning
    if of.types & out.types:
        yield Without(of.types, of, narrowed(out, of.types & out.types)), ()


def named_without_forbidden(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A named thing, unless it is forbidden: only of such is it asked whether it can be used."""
    if isinstance(left.meaning, Named):
        yield from without_forbidden(context, left, right)


def forbidden(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A set that a relation that denies joins, with the words for it behind: *with X, which drugs are off limits*."""
    if any(isinstance(part, Walk) and part.relation in context.schema.forbidding for part in parts(left.meaning)):
        yield left.meaning, ()
