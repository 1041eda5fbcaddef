"""Fields of nodes: asked for, compared with a number or with another node, and summed up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from search.domain.plan import Operator
from search.stages.plan.derivation import Amount, Computed, Derivation, Features, FieldNamed
from search.stages.plan.operators.context import Context, Made
from search.stages.plan.sets import (
    Asked,
    Compared,
    Either,
    Kind,
    Named,
    NodeSet,
    Top,
    Value,
    Walk,
    Where,
    Without,
    codes,
    has_order,
    narrowed,
)

_PLACES = 6
"""Decimal places that an amount keeps when it is converted."""
Fields = Sequence[tuple[int, str]]
Comparisons = tuple[tuple[Operator, Value | tuple[Value, ...]], ...]
"""Operators with the values that they compare with."""


def _of_types(fields: Fields, types: int) -> Iterator[tuple[str, int]]:
    """Yield each field's name with the mask of those of the types that have it."""
    for name in dict.fromkeys(name for code, name in fields if types >> code & 1):
        yield name, sum(1 << code for code, other in fields if other == name and types >> code & 1)


def field_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field of the nodes of a set."""
    yield from _shown(left.meaning, right.meaning)


def of_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field behind the set whose field it is."""
    yield from _shown(right.meaning, left.meaning)


def _shown(named: FieldNamed, of: NodeSet) -> Iterator[Made]:
    for name, types in _of_types(named.fields, of.types):
        some: Features = (("show-kind", float(isinstance(of, Kind))),)
        yield Asked(narrowed(of, types), "which", name), some


def shown_again(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field that is asked for and said again: *how much does X cost*."""
    asked: Asked = left.meaning
    if asked.show and any(name == asked.show for _, name in right.meaning.fields):
        yield asked, ()


def date_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A date of the nodes of a set."""
    yield from _shown(FieldNamed(tuple(context.schema.number_fields["date"])), right.meaning)


def counted_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field that holds a number of what is asked for: *how many people*."""
    fields = tuple(pair for pair in right.meaning.fields if pair in context.schema.measured)
    if fields:
        yield FieldNamed(fields), ()


def number_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The number of the nodes of a set."""
    of: NodeSet = right.meaning
    yield Asked(of, "how many"), (("count-named", float(isinstance(of, Named))), ("count-order", float(has_order(of))))


def mean(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The mean of a field."""
    yield Computed("mean", right.meaning.fields), ()


def total(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The sum of a field."""
    yield Computed("sum", right.meaning.fields), ()


def aggregate_of(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An aggregate of a field of the nodes of a set."""
    yield from _aggregate(left.meaning, right.meaning)


def of_aggregate(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """An aggregate behind the set of which it is."""
    yield from _aggregate(right.meaning, left.meaning)


def _aggregate(what: Computed, of: NodeSet) -> Iterator[Made]:
    for name, types in _of_types(what.fields, of.types):
        yield Asked(narrowed(of, types), what.function, name), ()


def field_meets(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes whose field meets a condition."""
    yield from _conditions(context, left.meaning.fields, right.meaning, context.schema.all_types)


def meets_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes whose field, named behind the number, meets a condition."""
    yield from _conditions(context, right.meaning.fields, left.meaning, context.schema.all_types)


def _conditions(context: Context, fields: Fields, amount: Amount, types: int) -> Iterator[Made]:
    for name, having in _of_types([pair for pair in fields if pair in context.schema.measured], types):
        if (found := condition(context, Kind(having), name, amount)) is not None:
            yield found, ()


def condition(context: Context, of: NodeSet, name: str, amount: Amount) -> Where | None:
    """Return the nodes of a set whose field meets a condition; None where the field is in another unit or currency."""
    op = cast(Operator, amount.op)
    if any(field == name and of.types >> code & 1 for code, field in context.schema.number_fields["date"]):
        return _all_of(of, name, compared_with(op, amount, 1.0, dated=True))
    factors = {context.schema.factor(code, name, amount.unit) for code in codes(of.types)}
    if len(factors) != 1 or (factor := factors.pop()) is None:
        return None
    return _all_of(of, name, compared_with(op, amount, factor, dated=False))


def _all_of(of: NodeSet, name: str, conditions: Comparisons) -> Where | None:
    for op, value in conditions:
        of = Where(of.types, of, name, op, value)
    return of if isinstance(of, Where) and conditions else None


def compared_with(op: Operator, amount: Amount, factor: float, *, dated: bool) -> Comparisons:
    """Return the comparisons that a value has to meet: of numbers multiplied by a factor, or of dates.

    Dates are texts that sort by time, so a range of days ends before the next one begins. None is compared with a unit.
    """
    if not dated:
        low, high = (_plain(round(end * factor, _PLACES)) for end in (amount.low, amount.high))
        return ((op, (low, high) if op == "between" else low),)
    if amount.unit:
        return ()
    begins, after = amount.days or (str(_plain(amount.low)), str(_plain(amount.high) + 1))
    if op in ("<", ">="):
        return ((op, begins),)
    if op in ("<=", ">"):
        return (("<" if op == "<=" else ">=", after),)
    return ((">=", begins), ("<", after))


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) else number


def meets_not(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set that have a field for which the denied number behind it does not hold."""
    of: NodeSet = left.meaning
    for found, features in amounts_of(context, of, right.meaning):
        having = narrowed(of, found.types)
        yield Without(found.types, Where(found.types, having, found.field, "exists"), found), features


def denied(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A number that must not hold. What was not edited since 2018 may have been edited in that year."""
    amount: Amount = right.meaning
    dated = right.rule in ("year", "date")
    yield (replace(amount, op=">") if dated and amount.op == ">=" else amount), ()


def denied_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A field before a number that must not hold."""
    yield right.meaning, ()


def field_meets_not(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes whose denied field meets a condition."""
    for amount, _ in denied(context, left, right):
        yield from _conditions(context, left.meaning.fields, amount, context.schema.all_types)


def meets(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set for which the number behind it holds, by a field that the number may mean."""
    yield from amounts_of(context, left.meaning, right.meaning)


def meets_before(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes of a set for which the number before it holds."""
    yield from amounts_of(context, right.meaning, left.meaning)


def amounts_of(context: Context, of: NodeSet, amount: Amount) -> Iterator[Made]:
    """Yield the nodes of a set for which a number holds, by each field that it may mean."""
    fields: Fields = amount.fields or [pair for pairs in context.schema.number_fields.values() for pair in pairs]
    found = list(_of_types(fields, of.types))
    for name, types in found:
        bare: Features = (
            ("number-bare", float(not amount.fields)),
            ("number-ways", float(len(found) - 1)),
            ("number-named", float(isinstance(of, Named))),
        )
        if (met := condition(context, narrowed(of, types), name, amount)) is not None:
            yield met, bare


def more_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A comparison by a field: more of it."""
    yield Amount(">", 0, 0, right.meaning.fields), ()


def less_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A comparison by a field: less of it."""
    yield Amount("<", 0, 0, right.meaning.fields), ()


def compared_field(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """A comparative with the field behind it."""
    yield Amount(left.meaning, 0, 0, right.meaning.fields), ()


def compared(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """The nodes whose field is more or less than that of another set."""
    amount, other = left.meaning, right.meaning
    for name, types in _of_types(amount.fields, other.types):
        yield Compared(types, Kind(types), name, cast(Operator, amount.op), narrowed(other, types), name), ()


def chosen(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """That one of two nodes with more or less of a field."""
    yield from _chosen(left.meaning, right.meaning)


def chosen_behind(context: Context, left: Derivation, right: Derivation) -> Iterator[Made]:
    """That one of two nodes, or of a set, with more or less of a field, which is said behind them."""
    of: NodeSet = left.meaning
    if isinstance(of, Walk):
        yield from _most(right.meaning, of)
    yield from _chosen(right.meaning, of)


def _chosen(amount: Amount, of: NodeSet) -> Iterator[Made]:
    if isinstance(of, Either) and isinstance(of.one, Named) and isinstance(of.other, Named):
        yield from _most(amount, of)


def _most(amount: Amount, of: NodeSet) -> Iterator[Made]:
    for name, types in _of_types(amount.fields, of.types):
        kept = narrowed(of, types) if types != of.types else of
        yield Top(types, kept, name, "desc" if amount.op == ">" else "asc"), ()
