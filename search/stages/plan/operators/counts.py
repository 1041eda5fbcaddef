"""Conditions on a number of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from search.domain.plan import Operator
from search.stages.plan.derivation import Amount, Derivation
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.operators.orders import counts
from search.stages.plan.sets import Kind, Named, WhereCount, narrowed


def condition(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A number of nodes of a set."""
    amount: Amount = left.meaning
    if amount.whole and not isinstance(right.meaning, Named):
        yield (amount, right.meaning), ()


def with_condition(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set with such a number of neighbours."""
    amount, among = right.meaning
    for count, features in counts(context, None, among, left.meaning.types):
        types = context.schema.near(count.to, count.relation, count.direction) & left.meaning.types
        if types:
            yield _where(narrowed(left.meaning, types), count, amount), features


def related(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes with such a number of neighbours over the relation that is said."""
    amount, among = right.meaning
    for count, features in counts(context, left.meaning, among, context.schema.all_types, subjects=False):
        types = context.schema.near(count.to, count.relation, count.direction)
        if types:
            yield _where(Kind(types), count, amount), features


def _where(of, count, amount: Amount) -> WhereCount:  # type: ignore[no-untyped-def]
    op = cast(Operator, amount.op)
    value = (int(amount.low), int(amount.high)) if op == "between" else int(amount.low)
    return WhereCount(of.types, of, count, op, value)
