"""Superlatives: orders by a field or by a number of neighbours, and what they choose from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from search.domain.graph import OPPOSITE, Direction
from search.domain.plan.parts import AGGREGATES
from search.stages.plan.derivation import Computed, Derivation, Features, FieldNamed, Relating, SaidOrder
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.operators.sets import floating, related
from search.stages.plan.sets import (
    Asked,
    Counted,
    Either,
    End,
    Kind,
    Named,
    NodeSet,
    Top,
    codes,
    has_order,
    narrowed,
)


def of_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order by the field behind a superlative."""
    yield _by(context, left.meaning, right.meaning)


def by_end_of_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The first or the last by the date before the word: *opened first*."""
    timed = {*right.meaning.fields, *context.schema.number_fields["date"]}
    dates = tuple(pair for pair in left.meaning.fields if pair in timed)
    if right.rule == "superlative-date" and dates:
        yield SaidOrder(right.meaning.end, dates), ()


def most_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The largest values of a field."""
    yield _by(context, "desc", right.meaning)


def fewest_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The smallest values of a field."""
    yield _by(context, "asc", right.meaning)


def _by(context: Context, end: str, named: FieldNamed) -> Made:
    fields = tuple(pair for pair in named.fields if pair in context.schema.measured)
    return SaidOrder(end, fields), (("order-no-number", float(not fields)),)


def most_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The largest numbers of neighbours that are in a set."""
    yield from _number_of("desc", right.meaning)


def fewest_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The smallest numbers of neighbours that are in a set."""
    yield from _number_of("asc", right.meaning)


def _number_of(end: str, of: NodeSet) -> Iterator[Made]:
    if not isinstance(of, Named) and not (isinstance(of, Top) and not of.limit):
        yield SaidOrder(end, count=(None, of)), ()


def most_related(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The largest numbers of neighbours over a relation."""
    yield SaidOrder("desc", count=(right.meaning, None)), ()


def fewest_related(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The smallest numbers of neighbours over a relation."""
    yield SaidOrder("asc", count=(right.meaning, None)), ()


def related_behind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order by a number of nodes, with the relation that joins them said behind it."""
    yield from _with_relation(left.meaning, right.meaning, subjects=True)


def related_first(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order by a number of nodes, with the relation that joins them said before it."""
    yield from _with_relation(right.meaning, left.meaning, subjects=False)


def _with_relation(order: SaidOrder, relating: Relating, *, subjects: bool) -> Iterator[Made]:
    if order.count is not None and order.count[0] is None and not isinstance(order.count[1], Computed):
        yield replace(order, count=(relating, order.count[1]), counts_subjects=subjects), ()


def first_places(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order of which several places are asked for."""
    yield replace(right.meaning, limit=left.meaning), ()


def several_chosen(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """As many places of a set as are said before it, where an order behind it chooses."""
    if isinstance(right.meaning, Top) and right.meaning.limit == 1:
        yield replace(right.meaning, limit=left.meaning), ()


def places_behind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order with the number of places behind it."""
    yield replace(left.meaning, limit=right.meaning), ()


def of_computed(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order by what is computed from neighbours, behind a superlative: *highest average price*."""
    for computed in computed_of(context, right.meaning):
        yield SaidOrder(left.meaning, count=(None, computed)), ()


def by_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order of all answers by a field; `left` has those fields that begin with the highest value."""
    fields = tuple(pair for pair in right.meaning.fields if pair in context.schema.measured)
    if fields:
        yield SaidOrder("desc" if set(fields) & left.meaning else "asc", fields, limit=0), ()


def by_order(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order of which all places are asked for: *sorted by newest*."""
    yield replace(right.meaning, limit=0), ()


def by_again(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order of all answers that is said twice, the second time with its end: *sorted by year, newest first*."""
    both = set(left.meaning.fields) & set(right.meaning.fields)
    if both and not left.meaning.limit and not right.meaning.limit:
        yield replace(right.meaning, fields=tuple(pair for pair in left.meaning.fields if pair in both)), ()


def by_computed(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order of all answers by a number of neighbours, or by what is computed from them: *by total sales*."""
    yield from _of_all(context, right.meaning)


def _of_all(context: Context, meaning: Computed | Asked) -> Iterator[Made]:
    if isinstance(meaning, Asked) and meaning.ask == "how many":
        yield SaidOrder("desc", count=(None, meaning.of), limit=0), ()
    for computed in computed_of(context, meaning):
        yield SaidOrder("desc", count=(None, computed), limit=0), ()


def of_each(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """All of a set with a number for each, the highest first: *average price per brand*."""
    if not isinstance(right.meaning, Named):
        for order, _ in _of_all(context, left.meaning):
            yield from _chosen(context, order, right.meaning)


def each(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A set of which each node is meant by itself: *per brand*."""
    yield right.meaning, ()


def computed_of(context: Context, meaning: Computed | Asked) -> Iterator[Computed]:
    """Yield what is computed from number fields, by itself or of the nodes of a set."""
    if isinstance(meaning, Asked):
        if meaning.ask in AGGREGATES and meaning.show and not meaning.edge:
            fields = tuple((code, meaning.show) for code in codes(meaning.types))
            yield Computed(meaning.ask, fields, meaning.of)
    elif fields := tuple(pair for pair in meaning.fields if pair in context.schema.measured):
        yield Computed(meaning.function, fields)


def chosen_first(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The first of a set in the order before it."""
    yield from _chosen(context, left.meaning, right.meaning)


def chosen_last(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The first of a set in the order behind it."""
    yield from _chosen(context, right.meaning, left.meaning)


def ordered(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """All of a set in the order of an adjective right before it: *cheap lamps*."""
    if left.end == right.start and not isinstance(right.meaning, Named) and not has_order(right.meaning):
        yield from _chosen(context, left.meaning, right.meaning)


def chosen_of_all(context: Context, left: Derivation) -> Iterator[Made]:
    """The first of all nodes that have a field: *what has the least weight*."""
    order: SaidOrder = left.meaning
    for name in dict.fromkeys(name for _, name in order.fields) if order.count is None else ():
        types = sum(1 << code for code in {code for code, other in order.fields if other == name})
        yield from _chosen(context, order, Kind(types))


def _chosen(context: Context, order: SaidOrder, of: NodeSet) -> Iterator[Made]:
    end: End = "asc" if order.end == "asc" else "desc"
    again: Features = (("order-of-order", float(has_order(of))), ("order-of-named", float(isinstance(of, Named))))
    if order.count is None:
        for name in dict.fromkeys(name for code, name in order.fields if of.types >> code & 1):
            if isinstance(of, Top) and of.by == name:
                # What is in order of a field is not put in order of it again.
                continue
            types = sum(1 << code for code, other in order.fields if other == name and of.types >> code & 1)
            yield Top(types, narrowed(of, types), name, end, order.limit), again
        return
    relating, among = order.count
    for counted, types, features in counts(context, relating, among, of.types, order.counts_subjects):
        yield Top(types, narrowed(of, types), counted, end, order.limit), (*again, *features)


Measure = tuple[Counted, int, Features]
"""What is counted or computed of nodes, and the types of those that have such neighbours."""


def counts(
    context: Context,
    relating: Relating | None,
    among: NodeSet | Computed | None,
    types: int,
    subjects: bool | None = None,
) -> Iterator[Measure]:
    """Yield what may be counted of nodes of some types: neighbours over a relation, or in a set, or both.

    Or what may be computed from neighbours. `subjects` says whether what is counted is the subject of the relation;
    None if it may be either.
    """
    if isinstance(among, Computed):
        yield from _computed(context, among, types)
        return
    for counted, features in _numbers(context, relating, among, types, subjects):
        if near := context.schema.near(counted.to, counted.relation, counted.direction) & types:
            yield counted, near, features


def _computed(context: Context, what: Computed, types: int) -> Iterator[Measure]:
    for name in dict.fromkeys(name for _, name in what.fields):
        having = sum(1 << code for code in {code for code, other in what.fields if other == name})
        among = Kind(having) if what.among is None else narrowed(what.among, having & what.among.types)
        for walk, features in floating(context, types, among) if among.types else ():
            # Of a walk over two relations the nearer nodes are not those with the field.
            if not walk.of.types & ~having:
                counted = _counted(walk.relation, OPPOSITE[walk.direction], walk.of)
                yield replace(counted, function=what.function, of=name), walk.types & types, features


def _numbers(
    context: Context, relating: Relating | None, among: NodeSet | None, types: int, subjects: bool | None
) -> Iterator[tuple[Counted, Features]]:
    if relating is None:
        assert among is not None
        for walk, features in floating(context, types, among):
            yield _counted(walk.relation, OPPOSITE[walk.direction], among), features
        return
    if among is not None:
        for subject in (True, False) if subjects is None else (subjects,):
            for walk, features in related(context, relating, among, subject=subject):
                if walk.types & types:
                    yield _counted(walk.relation, OPPOSITE[walk.direction], among), features
        return
    ways: tuple[Direction, Direction] = ("in", "out") if relating.way == "out" and not relating.noun else ("out", "in")
    for place, way in enumerate(ways):
        to = context.schema.far(types, relating.relation, way)
        if to:
            yield Counted(relating.relation, way, to), (("against", float(place)),)


def _counted(relation: int, way: Direction, among: NodeSet) -> Counted:
    return Counted(relation, way, among.types, None if isinstance(among, Kind) else among)


def chosen_with_more(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """That one of two nodes that is joined with more nodes of a set."""
    yield from _chosen_by_number(context, right.meaning, left.meaning, "desc")


def chosen_with_fewer(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """That one of two nodes that is joined with fewer nodes of a set."""
    yield from _chosen_by_number(context, right.meaning, left.meaning, "asc")


def chosen_with_more_behind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """That one of two nodes that is joined with more nodes of a set, which is said behind them."""
    yield from _chosen_by_number(context, left.meaning, right.meaning, "desc")


def _chosen_by_number(context: Context, of: NodeSet, among: NodeSet, end: End) -> Iterator[Made]:
    if isinstance(of, Either):
        yield from _chosen(context, SaidOrder(end, count=(None, among)), of)
