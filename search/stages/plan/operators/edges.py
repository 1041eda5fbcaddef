"""Fields of edges: conditions on them, orders by them, and asking for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from search.domain.plan import Operator
from search.stages.plan.derivation import Amount, Derivation, Features, FieldNamed, SaidOrder
from search.stages.plan.edge_fields import EdgeFieldAt
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.operators.sets import floating
from search.stages.plan.operators.values import compared_with
from search.stages.plan.sets import (
    Asked,
    EdgeWhere,
    Kind,
    Named,
    NodeSet,
    OfEdge,
    Top,
    Walk,
    edges_of,
    has_order,
    meet,
    rewalked,
)


def field_meets(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A number behind the field of an edge that it limits."""
    fields = tuple(at for at in left.meaning.fields if at in context.schema.edges.measured)
    if fields:
        yield replace(right.meaning, fields=fields), ()


def meets(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set to which an edge leads that meets the number behind it: *sell X for less than 20 euros*."""
    of: NodeSet = left.meaning
    amount: Amount = right.meaning
    for walk in edges_of(of):
        for at in amount.fields:
            if at[0] == walk.relation and (where := _conditions(context, at, amount)):
                yield rewalked(of, walk, replace(walk, where=(*walk.where, *where))), ()


def _conditions(context: Context, at: EdgeFieldAt, amount: Amount) -> tuple[EdgeWhere, ...]:
    fields = context.schema.edges
    factor = fields.factor(at, amount.unit)
    if factor is None:
        return ()
    several = compared_with(cast(Operator, amount.op), amount, factor, dated=fields.is_date(at))
    return tuple(EdgeWhere(at[1], op, value) for op, value in several)


def has_value(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set to which an edge leads that has the value behind it: *plays the role “Nora”*."""
    yield from _with_value(left.meaning, right.meaning)


def has_value_before(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set to which an edge leads that has the value before it."""
    yield from _with_value(right.meaning, left.meaning)


def _with_value(of: NodeSet, said: tuple[Sequence[EdgeFieldAt], str]) -> Iterator[Made]:
    fields, value = said
    for walk in edges_of(of):
        for relation, name in fields:
            if relation == walk.relation:
                yield rewalked(of, walk, replace(walk, where=(*walk.where, EdgeWhere(name, "=", value)))), ()


def by_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An order by the field of an edge behind a superlative: *lowest price*."""
    fields = tuple(at for at in right.meaning.fields if at in context.schema.edges.measured)
    if fields:
        yield SaidOrder(left.meaning, fields), ()


def chosen_first(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The first of a set in the order before it, by edges that lead to its nodes: *cheapest shop that sells X*."""
    yield from _chosen(left.meaning, right.meaning)


def chosen_last(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The first of a set in the order behind it, by edges that lead to its nodes: *which shop sells X cheapest*."""
    yield from _chosen(right.meaning, left.meaning)


def _chosen(order: SaidOrder, of: NodeSet) -> Iterator[Made]:
    again: Features = (("order-of-order", float(has_order(of))), ("order-of-named", float(isinstance(of, Named))))
    for walk, name in _only(of, order.fields):
        end = "asc" if order.end == "asc" else "desc"
        yield Top(of.types, of, OfEdge(walk.relation, walk.direction, name), end, order.limit), again  # type: ignore[arg-type]


def field_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field of the edges that lead to the nodes of a set: *price of X at Y*."""
    yield from _shown(left.meaning, right.meaning)


def of_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field of edges behind the set to whose nodes they lead."""
    yield from _shown(right.meaning, left.meaning)


def _shown(named: FieldNamed, of: NodeSet) -> Iterator[Made]:
    for walk, name in _only(of, named.fields):
        some: Features = (("show-kind", float(isinstance(of, Kind))),)
        yield Asked(of, "which", name, OfEdge(walk.relation, walk.direction, name)), some


def asked_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A set with the field of an edge that is asked for behind it; the other end follows: *X costs …*."""
    yield (left.meaning, right.meaning), ()


def asked_again(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field of an edge that is asked for and said again: *how much does X cost*."""
    of, named = right.meaning
    if set(left.meaning.fields) & set(named.fields):
        yield (of, named), ()


def asked_at(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field of the edges between two sets: *what does X cost at Y*."""
    of, named = left.meaning
    relations = {relation for relation, _ in named.fields}
    for walk, features in floating(context, of.types, right.meaning):
        if walk.relation in relations and (found := meet(of, walk)) is not None:
            for made, more in _shown(named, found):
                yield made, (*features, *more)


def _only(of: NodeSet, fields: Sequence[EdgeFieldAt]) -> Iterator[tuple[Walk, str]]:
    """Yield the walks to the nodes of a set whose edges have one of the fields, if only one such edge is meant."""
    walks = edges_of(of)
    for walk in walks:
        if sum((one.relation, one.direction) == (walk.relation, walk.direction) for one in walks) == 1:
            yield from ((walk, name) for relation, name in fields if relation == walk.relation)
