"""Conditions on a number of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from search.domain.plan import Operator
from search.stages.plan.derivation import Amount, Computed, Derivation
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.operators.orders import computed_of, counts
from search.stages.plan.sets import Counted, Kind, Named, NodeSet, WhereCount, narrowed


def condition(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A number of nodes of a set."""
    amount: Amount = left.meaning
    if amount.whole and not isinstance(right.meaning, Named):
        yield (amount, right.meaning), ()


def computed_condition(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A comparison of what is computed from neighbours: *average price over 100*."""
    amount: Amount = right.meaning
    if not amount.fields and not amount.days:
        for computed in computed_of(context, left.meaning):
            yield (amount, computed), ()


def with_condition(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set with such a number of neighbours."""
    amount, among = right.meaning
    for count, types, features in counts(context, None, among, left.meaning.types):
        yield _where(narrowed(left.meaning, types), count, amount), features


def related(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes with such a number of neighbours over the relation that is said."""
    amount, among = right.meaning
    if isinstance(among, Computed):
        return
    for count, types, features in counts(context, left.meaning, among, context.schema.all_types, subjects=False):
        yield _where(Kind(types), count, amount), features


def _where(of: NodeSet, count: Counted, amount: Amount) -> WhereCount:
    op = cast(Operator, amount.op)
    low, high = (int(end) if count.function is None or end == int(end) else end for end in (amount.low, amount.high))
    return WhereCount(of.types, of, count, op, (low, high) if op == "between" else low)
