"""Sets of nodes: types and names, relations of them, and joins that no word says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from search.domain.graph import OPPOSITE, Direction
from search.language.words import words
from search.stages.plan.derivation import Derivation, Features, Relating
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.sets import (
    Either,
    Kind,
    Meet,
    Named,
    NodeSet,
    Walk,
    Where,
    codes,
    givens,
    has_order,
    meet,
    narrowed,
    parts,
)
from search.text import words as split_identifier

_MOST_WAYS = 6
"""Most relations that are tried where no word says one."""


def both(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What both sides say of the same nodes."""
    one, other = left.meaning, right.meaning
    found = meet(one, other)
    if found is None or (found in (one, other) and not (isinstance(one, Kind) or isinstance(other, Kind))):
        return
    both_named = isinstance(one, Named) and isinstance(other, Named)
    kinds = isinstance(one, Kind) and isinstance(other, Kind)
    if kinds or (both_named and not set(one.keys) & set(other.keys)):
        return
    named = isinstance(one, Named) or isinstance(other, Named)
    # *The film Dune*, and not *films of Dune*.
    apposition = isinstance(one, Kind) and isinstance(other, Named) and left.end == right.start
    features: Features = (
        ("meet-kind-first", float(isinstance(one, Kind))), ("meet-kind-last", float(isinstance(other, Kind))),
        ("meet-over-order", float(has_order(one) or has_order(other))),
        ("meet-named", float(named and not apposition)), ("apposition", float(apposition)),
    )  # fmt: skip
    yield found, features


def joined_by_and(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What is said before *and* and behind it, of the same nodes; of values that exclude each other, any of them.

    A type alone is not joined with what is said of its nodes: *workshops and conferences* are two kinds of venues.
    """
    one, other = left.meaning, right.meaning
    any_value = _any_value(one, other)
    if any_value is not None and not _has_several(context, any_value):
        yield any_value, ()
    elif isinstance(one, Kind) == isinstance(other, Kind):
        yield from both(context, left, right)


def _any_value(one: NodeSet, other: NodeSet) -> Where | None:
    """Return the nodes that have one of two values of a field, if that is what two sets say."""
    if not isinstance(one, Where) or not isinstance(other, Where) or one.field != other.field:
        return None
    types = one.types & other.types
    if not types or {one.op, other.op} - {"=", "in"} or narrowed(one.of, types) != narrowed(other.of, types):
        return None
    said = [each for of in (one, other) for each in (of.value if isinstance(of.value, tuple) else (of.value,))]
    values = tuple(dict.fromkeys(each for each in said if each is not None))
    return Where(types, narrowed(one.of, types), one.field, "in", values) if len(values) > 1 else None


def _has_several(context: Context, of: Where) -> bool:
    """Whether a node may have several values of the field of a condition."""
    kinds = [context.schema.schema.node_types[code] for code in codes(of.types)]
    return any(field.many for kind in kinds for field in kind.fields if field.name == of.field)


def floating(context: Context, types: int, of: NodeSet) -> Iterator[tuple[Walk, Features]]:
    """Yield the walks from a set to nodes of some types that no word says, over one relation or two."""
    ways = context.ways(of.types, types)
    for relation, way, reached, near, share in ways[:_MOST_WAYS]:
        features: Features = (
            ("float", 1.0), ("float-ways", len(ways) - 1.0), ("float-share", share), *_back(of, relation, way),
        )  # fmt: skip
        yield Walk(reached, of if near == of.types else narrowed(of, near), relation, way), features
    if isinstance(of, Kind):
        return
    for (relation, way, middle), (other, other_way, reached), share in context.longer(of.types, types):
        inner = Walk(middle, of, relation, way)
        features = (
            ("float-two", 1.0), ("float-direct", float(bool(ways))), ("float-two-share", share),
            ("float-back", float(relation == other and way != other_way)),
        )  # fmt: skip
        yield Walk(reached, inner, other, other_way), features


def _back(of: NodeSet, relation: int, way: Direction) -> Features:
    """Return whether a relation leads back where it came from: from nodes of a type it finds nearly all of them."""
    if not isinstance(of, Walk) or of.relation != relation or of.direction == way:
        return ()
    return (("back", 1.0), ("back-of-kind", float(isinstance(of.of, Kind))))


def joined_behind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What the left side says, of nodes that some relation joins with the right one."""
    if not _only_like(right):
        yield from _joined(context, left.meaning, right)


def joined_before(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What the right side says, of nodes that some relation joins with the left one."""
    if not _only_like(left):
        yield from _joined(context, right.meaning, left)


def _only_like(of: Derivation) -> bool:
    """Whether a word is taken for a type only because it is like its name.

    Such a type may be what is asked for. As the end of a walk it stands for any node of the type, so that a name that
    is not there (*a cure for ebola*) would be lost.
    """
    return of.rule == "type-like"


def _joined(context: Context, head: NodeSet, other: Derivation) -> Iterator[Made]:
    of: NodeSet = other.meaning
    if isinstance(head, Named) and isinstance(of, Kind):
        return
    walks: list[tuple[Walk, Features]] | None = other.walks.get(head.types)
    if walks is None:
        walks = other.walks[head.types] = list(floating(context, head.types, of))
    told = (
        ("join-head-kind", isinstance(head, Kind)), ("join-of-kind", isinstance(of, Kind)),
        ("join-over-order", has_order(head)), ("join-head-named", isinstance(head, Named)),
    )  # fmt: skip
    more: Features = tuple((name, 1.0) for name, holds in told if holds)
    for walk, features in walks:
        # They share types, those that the walk was made for.
        yield partial(meet, head, walk), (*features, *more)


def met_by(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes that are joined with both of two named ones: *breast cancer hot flushes*."""
    one, other = left.meaning, right.meaning
    if not isinstance(one, Named) or not isinstance(other, Named):
        return
    for relation, way, reached, _, part in context.ways(one.types, context.schema.all_types):
        for second, back, both_reached, _, other_part in context.ways(other.types, reached):
            first, last = Walk(reached & both_reached, one, relation, way), Walk(both_reached, other, second, back)
            found = meet(first, last)
            if found is not None:
                yield found, (("meet-share", part * other_part),)


def _directions(relating: Relating, *, subject: bool) -> tuple[tuple[Direction, bool], ...]:
    """Return the directions of walking from the argument of a relation, each with whether it is against its words.

    `subject` says that the argument stands before the word, where the subject of a verb stands.
    """
    if relating.noun and relating.way is not None:
        # *Capital of Texas*, and *whose capital is Austin*.
        way: Direction = "out" if relating.way == "out" else "in"
        return (way, False), (OPPOSITE[way], True)
    if relating.way is None:
        return (("out", False),)
    forth: Direction = "out" if relating.way == "out" else "in"
    said = forth if subject else OPPOSITE[forth]
    return (said, False), (OPPOSITE[said], True)


def related(context: Context, relating: Relating, of: NodeSet, *, subject: bool) -> Iterator[tuple[Walk, Features]]:
    """Yield the walks over a relation from a set that is its subject or its object."""
    possible = False
    for way, against in _directions(relating, subject=subject):
        reached = context.far(of.types, relating.relation, way)
        if reached:
            more: Features = (
                *_back(of, relating.relation, way),
                ("against", float(against and not relating.noun)), ("whose", float(against and relating.noun)),
                ("against-said", float(against and possible and not relating.noun)),
                ("noun-behind", float(relating.noun and subject)),
                ("rel-of-kind", float(isinstance(of, Kind))), ("rel-order", float(has_order(of))),
            )  # fmt: skip
            yield Walk(reached, of, relating.relation, way), more
            possible = True


def relation_first(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a relation with the set behind it; a participle alone (*published papers*) has none."""
    if left.rule != "relation-done" and not _only_like(right):
        yield from related(context, left.meaning, right.meaning, subject=False)


def relation_last(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a relation with the set before it."""
    if not _only_like(left):
        yield from related(context, right.meaning, left.meaning, subject=True)


def noun_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The end of a relation that a word of it and a type name together: *release dates*."""
    relating, kind = left.meaning, right.meaning
    if not isinstance(kind, Kind) or left.end < right.start:
        return
    ways: tuple[Direction, Direction] = ("out", "in")
    for way in ways:
        reached = context.schema.far(context.schema.all_types, relating.relation, way)
        if reached & kind.types == kind.types and reached != context.schema.all_types:
            yield Relating(relating.relation, way, noun=True), (("noun-way", float(relating.way == way)),)


def role(context: Context, left: Derivation) -> Iterator[Made]:
    """All nodes that a noun of a relation names: *capitals*."""
    relating: Relating = left.meaning
    if relating.noun and relating.way is not None:
        way: Direction = "out" if relating.way == "out" else "in"
        near = context.schema.near(context.schema.all_types, relating.relation, way)
        reached = context.schema.far(near, relating.relation, way)
        yield Walk(reached, Kind(near), relating.relation, way), ()


def place(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes that a set is in: those of relations whose wording in that direction ends with a word of place.

    A set that such a relation leads to from what a search before found holds the places already: *where are they sold*.
    """
    of: NodeSet = right.meaning
    placed = isinstance(of, Walk) and bool(givens(of)) and _places(context, of.relation, of.direction)
    if placed:
        yield of, ()
    for relation, way in context.schema.steps:
        reached = context.schema.far(of.types, relation, way)
        if reached and _places(context, relation, way):
            yield Walk(reached, of, relation, way), (("place-again", float(placed)),)


def _places(context: Context, relation: int, way: Direction) -> bool:
    """Whether the wording of a relation in a direction ends with a word of place."""
    one = context.schema.schema.relations[relation]
    said = words(one.description or split_identifier(one.name)) if way == "out" else words(one.inverse)
    return bool(context.schema.language.set("relation_nouns", "place") & set(said))


def person(context: Context, left: Derivation) -> Iterator[Made]:
    """The nodes of types of persons."""
    yield from _asked_by(context, "who")


def members(context: Context, left: Derivation) -> Iterator[Made]:
    """The nodes that a named one gathers: *knives*, a category, for what is in it."""
    of = left.meaning
    if isinstance(of, Named):
        for relation, way, reached, _, share in context.gathers(of.types):
            yield Walk(reached, of, relation, way), (("members-share", share),)


def year(context: Context, left: Derivation) -> Iterator[Made]:
    """The nodes of types of times."""
    yield from _asked_by(context, "when")


def _asked_by(context: Context, word: str) -> Iterator[Made]:
    """Yield the types that a question word asks for by the words that stand for it."""
    wanted = {context.schema.stem(one) for one in context.schema.language.set("grammar_asked", word)}
    found = 0
    for code, kind in enumerate(context.schema.schema.node_types):
        said = {
            context.schema.stem(one) for phrase in (split_identifier(kind.name), *kind.aliases) for one in words(phrase)
        }
        found |= 1 << code if wanted & said else 0
    if found:
        yield Kind(found), ()


def somewhere(context: Context, left: Derivation) -> Iterator[Made]:
    """The nodes of types of places."""
    yield from _asked_by(context, "where")


def shared_relation(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A relation that two nodes share a neighbour of."""
    yield right.meaning, ()


def shared_kind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The kind of thing that nodes share. Only its type is walked to, so that a name would be lost."""
    if isinstance(right.meaning, Kind):
        yield right.meaning, ()


def relation_shared(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A relation before the words that say that two nodes share it, if it does not join such nodes itself."""
    if not _mutual(context, left.meaning):
        yield left.meaning, ()


def mutual_relation(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A relation that joins nodes with their like, before the words that say so: *bought together*."""
    if _mutual(context, left.meaning):
        yield left.meaning, ()


def _mutual(context: Context, relating: Relating) -> bool:
    return context.schema.schema.relations[relating.relation].mutual


def asked_end(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A relation with a question word at its end."""
    yield left.meaning, ()


def sharing(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes with the same neighbour over a relation as a set: *share actors with X*."""
    relating, of = left.meaning, right.meaning
    ways: tuple[Direction, Direction] = ("out", "in")
    for way in ways:
        middle = context.schema.far(of.types, relating.relation, way)
        if middle and (not relating.noun or way == relating.way):
            back = context.schema.far(middle, relating.relation, OPPOSITE[way])
            inner = Walk(middle, of, relating.relation, way)
            yield Walk(back, inner, relating.relation, OPPOSITE[way]), (("against", float(way != relating.way)),)


def sharing_kind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes that are joined with the same nodes of some type as a set: *the same topic as X*."""
    kind, of = left.meaning, right.meaning
    for relation, way, middle, _, share in context.ways(of.types, kind.types):
        back = context.schema.far(middle, relation, OPPOSITE[way])
        yield Walk(back, Walk(middle, of, relation, way), relation, OPPOSITE[way]), (("float-share", share),)


def same(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The set on the right side."""
    yield right.meaning, ()


def either(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of one side or the other."""
    one, other = left.meaning, right.meaning
    types = one.types & other.types
    if any_value := _any_value(one, other):
        yield any_value, ()
    elif types:
        alike = type(parts(one)[-1]) is type(parts(other)[-1])
        yield Either(one.types | other.types, one, other), (("either-unlike", float(not alike)),)


def listed(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A name before other names of which any is meant."""
    if isinstance(left.meaning, Named) and isinstance(right.meaning, Either):
        yield from either(context, left, right)


def pair(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """Two sets of one type, of which both are meant."""
    one, other = left.meaning, right.meaning
    if one.types & other.types and not isinstance(one, Kind) and not isinstance(other, Kind):
        yield (one, other), (("pair-unlike", float(type(one) is not type(other))),)


def relation_of_both(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a relation with each of two sets."""
    one, other = right.meaning
    firsts = list(related(context, left.meaning, one, subject=False))
    for first, features in firsts:
        second = Walk(
            context.schema.far(other.types, first.relation, first.direction), other, first.relation, first.direction
        )
        if first.types & second.types:
            yield Meet(first.types & second.types, first, second), features


def joined_with_both(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """What the left side says, of nodes that one relation joins with each of two sets."""
    head: NodeSet = left.meaning
    one, other = right.meaning
    for first, features in floating(context, head.types, one):
        reached = context.schema.far(other.types, first.relation, first.direction) & head.types
        second = Walk(reached, other, first.relation, first.direction)
        half = meet(head, first)
        found = meet(half, second) if half is not None and reached else None
        if found is not None:
            yield found, features
