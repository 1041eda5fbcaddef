"""What the words of a question mean: sets of nodes, built from each other, and what is asked of a set.

A set is a small tree of frozen values. Two trees that are equal mean the same, so a chart keeps each only once. Types
are a bit mask over the codes of the schema's node types: bit c is set if nodes of type c may be in the set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from search.domain.graph import Direction
from search.domain.plan import Ask, Filter, Operator
from search.domain.plan.parts import Aggregate
from search.stages.plan.given import Before, GivenPlace

T = TypeVar("T")
Value = str | int | float
End = Literal["asc", "desc"]


class Hashed:
    """A place for the hash of a tree: charts compare sets all the time, and computing a hash visits the whole tree."""

    __slots__ = ("_hash",)


def hashed_once(tree: type[T]) -> type[T]:
    """Let the values of a class keep their hash."""
    plain = tree.__hash__

    def kept(self: T) -> int:
        try:
            known: int = object.__getattribute__(self, "_hash")
        except AttributeError:
            known = plain(self)
            object.__setattr__(self, "_hash", known)
        return known

    tree.__hash__ = kept  # type: ignore[assignment]
    return tree


@dataclass(frozen=True, slots=True)
class Kind:
    """All nodes of some types."""

    types: int


@dataclass(frozen=True, slots=True)
class Named:
    """The nodes of one type that a stretch of the question names."""

    types: int
    keys: tuple[int, ...]
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class EdgeWhere:
    """A condition on a field of the edge that a walk takes."""

    field: str
    op: Operator
    value: Value | tuple[Value, ...]

    def as_filter(self) -> Filter:
        """Return the condition as a plan's hop has it."""
        return Filter("", self.field, self.op, list(self.value) if isinstance(self.value, tuple) else self.value)


@hashed_once
@dataclass(frozen=True, slots=True)
class Walk(Hashed):
    """The nodes of some types that one relation joins with any node of a set, over an edge that meets conditions.

    `direction` is that of walking from the nodes of `of`: `out` if the edges are stored from them.
    """

    types: int
    of: NodeSet
    relation: int
    direction: Direction
    where: tuple[EdgeWhere, ...] = ()


@dataclass(frozen=True, slots=True)
class OfEdge:
    """A field of the edge over which the only walk with this relation and direction reaches the nodes of a set."""

    relation: int
    direction: Direction
    field: str


@hashed_once
@dataclass(frozen=True, slots=True)
class Meet(Hashed):
    """The nodes that are in both sets."""

    types: int
    one: NodeSet
    other: NodeSet


@hashed_once
@dataclass(frozen=True, slots=True)
class Either(Hashed):
    """The nodes that are in one of two sets."""

    types: int
    one: NodeSet
    other: NodeSet


@hashed_once
@dataclass(frozen=True, slots=True)
class Where(Hashed):
    """The nodes of a set whose field meets a condition."""

    types: int
    of: NodeSet
    field: str
    op: Operator
    value: Value | tuple[Value, ...] | None = None


@hashed_once
@dataclass(frozen=True, slots=True)
class Counted(Hashed):
    """The number of different nodes of some types that a node is joined with, of those of a set if one is given.

    `direction` is that of walking from the node. With a `function` it is what that computes from the field `of` of
    these nodes: *brands by total sales*.
    """

    relation: int
    direction: Direction
    to: int
    among: NodeSet | None = None
    function: Aggregate | None = None
    of: str = ""


@hashed_once
@dataclass(frozen=True, slots=True)
class WhereCount(Hashed):
    """The nodes of a set whose number of neighbours meets a condition."""

    types: int
    of: NodeSet
    count: Counted
    op: Operator
    value: int | float | tuple[int | float, int | float]


@hashed_once
@dataclass(frozen=True, slots=True)
class Top(Hashed):
    """The nodes of a set with the highest or lowest values of a field, of an edge's, or numbers of neighbours.

    Equal ones are kept together.
    With `limit` 0 all of them are meant, in this order.
    """

    types: int
    of: NodeSet
    by: str | Counted | OfEdge
    end: End
    limit: int = 1


@hashed_once
@dataclass(frozen=True, slots=True)
class Without(Hashed):
    """The nodes of a set that are not in another one."""

    types: int
    of: NodeSet
    other: NodeSet


@hashed_once
@dataclass(frozen=True, slots=True)
class Compared(Hashed):
    """The nodes of a set whose field compares so with a field of any node of another set."""

    types: int
    of: NodeSet
    field: str
    op: Operator
    other: NodeSet
    other_field: str


@hashed_once
@dataclass(frozen=True, slots=True)
class Given(Hashed):
    """The nodes that the plan of the search before finds, with the changes that a follow-up makes to the plan.

    `gone` names its parts that do not hold any more, `held` are pairs of a variable and a set that its node must be in.
    """

    types: int
    before: Before = field(compare=False)
    gone: frozenset[str] = frozenset()
    held: tuple[tuple[str, NodeSet], ...] = ()

    @property
    def target(self) -> str:
        """The variable of what the plan finds."""
        return self.before.plan.target.var

    @property
    def open_places(self) -> list[GivenPlace]:
        """The variables of the plan of which nothing was said so far; what it finds may always get more conditions."""
        said = {var for var, _ in self.held} - {self.target} | {part.partition(":")[2] for part in self.gone}
        return [place for place in self.before.places if place.var not in said]

    def without(self, *parts: str) -> Given:
        """Return the plan without some parts."""
        return replace(self, gone=self.gone.union(parts))

    def holding(self, var: str, of: NodeSet) -> Given:
        """Return the plan with a set for the nodes of a variable."""
        return replace(self, held=(*self.held, (var, of)))


NodeSet = Kind | Named | Walk | Meet | Either | Where | WhereCount | Top | Without | Compared | Given


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a set: its nodes, their number, whether there is any, or a field of theirs or of an edge."""

    of: NodeSet
    ask: Ask = "which"
    show: str = ""
    edge: OfEdge | None = None

    @property
    def types(self) -> int:
        """The types of the nodes that are asked for."""
        return self.of.types


def codes(mask: int) -> list[int]:
    """Return the type codes of a mask, ascending."""
    found, code = [], 0
    while mask:
        if mask & 1:
            found.append(code)
        mask >>= 1
        code += 1
    return found


def parts(of: NodeSet) -> list[NodeSet]:
    """Return the sets that must hold a node of a set at once: those of nested meets, one after the other."""
    return [*parts(of.one), *parts(of.other)] if isinstance(of, Meet) else [of]


def meet(one: NodeSet, other: NodeSet) -> NodeSet | None:
    """Return what two sets share, written once where one says only a type; None if their types exclude each other."""
    types = one.types & other.types
    if not types:
        return None
    if one == other:
        return one
    if isinstance(other, Kind):
        one, other = other, one
    if isinstance(one, Kind):
        return narrowed(other, types)
    for any_of, of in ((one, other), (other, one)):
        if _implied(any_of, of):
            return narrowed(of, types)
    return Meet(types, one, other)


def _implied(any_of: NodeSet, of: NodeSet) -> bool:
    """Whether another set says more than that a node is joined with any node of some types: *born in Norway*."""
    return (
        isinstance(any_of, Walk)
        and isinstance(any_of.of, Kind)
        and not any_of.where
        and any(
            isinstance(one, Walk)
            and (one.relation, one.direction) == (any_of.relation, any_of.direction)
            and not one.of.types & ~any_of.of.types
            for one in parts(of)
        )
    )


def narrowed(of: NodeSet, types: int) -> NodeSet:
    """Return a set with only some of its types."""
    if of.types == types:
        return of
    match of:
        case Kind():
            return Kind(types)
        case Named() | Given():
            return replace(of, types=types)
        case Walk():
            return replace(of, types=types)
        case Meet(_, one, other):
            return Meet(types, narrowed(one, one.types & types), other)
        case Where(_, inner, name, op, value):
            return Where(types, narrowed(inner, inner.types & types), name, op, value)
        case WhereCount(_, inner, count, op, number):
            return WhereCount(types, narrowed(inner, inner.types & types), count, op, number)
        case Without(_, inner, other):
            return Without(types, narrowed(inner, inner.types & types), other)
        case Compared(_, inner, name, op, other, other_name):
            return Compared(types, narrowed(inner, inner.types & types), name, op, other, other_name)
        case _:
            return Meet(types, Kind(types), of)


def givens(of: object) -> list[Given]:
    """Return the sets of the search before that a meaning is made of, once for each time that it is used."""
    match of:
        case Given():
            return [of]
        case Walk(_, inner) | Where(_, inner) | WhereCount(_, inner) | Top(_, inner) | Asked(inner):
            several: list[object] = [inner, getattr(of, "count", None), getattr(of, "by", None)]
        case Meet(_, one, other) | Either(_, one, other) | Without(_, one, other):
            several = [one, other]
        case Compared():
            several = [of.of, of.other]
        case Counted():
            several = [of.among]
        case _:
            several = []
    return [found for one in several for found in givens(one)]


def given_at(of: NodeSet) -> Given | None:
    """Return the set of the search before whose own nodes a set holds; None where it holds others."""
    match of:
        case Given():
            return of
        case Meet(_, one, other):
            return given_at(one) or given_at(other)
        case Where(_, inner) | WhereCount(_, inner) | Top(_, inner) | Without(_, inner) | Compared(_, inner):
            return given_at(inner)
        case _:
            return None


def edges_of(of: NodeSet) -> list[Walk]:
    """Return the walks that reach the very nodes of a set, whose edges it may have conditions on."""
    match of:
        case Walk():
            return [of]
        case Meet(_, one, other):
            return [*edges_of(one), *edges_of(other)]
        case Where(_, inner) | WhereCount(_, inner) | Without(_, inner) | Compared(_, inner):
            return edges_of(inner)
        case _:
            return []


def rewalked(of: NodeSet, old: Walk, new: Walk) -> NodeSet:
    """Return a set with another walk in the place of one that reaches its nodes."""
    match of:
        case Walk():
            return new if of == old else of
        case Meet(_, one, other):
            return replace(of, one=rewalked(one, old, new), other=rewalked(other, old, new))
        case Where(_, inner) | WhereCount(_, inner) | Without(_, inner) | Compared(_, inner):
            return replace(of, of=rewalked(inner, old, new))
        case _:
            return of


def walk_over(of: NodeSet, edge: OfEdge) -> Walk | None:
    """Return the walk of a set that takes an edge; None if it has no such walk any more."""
    walks = (one for one in edges_of(of) if (one.relation, one.direction) == (edge.relation, edge.direction))
    return next(walks, None)


def has_order(of: NodeSet) -> bool:
    """Whether a set is chosen by an order at its outermost, or by one of the parts that must hold at once."""
    if isinstance(of, Meet):
        return has_order(of.one) or has_order(of.other)
    return isinstance(of, Top)


def is_found_first(of: Walk, *, mutual: bool) -> bool:
    """Whether the nodes that a walk begins at are found by a plan of their own.

    They are where an order or an alternative chooses them, and where a mutual relation is walked twice: a state that
    borders a state that borders Texas may be Texas. Within one plan no node comes back to a named one.
    """
    if isinstance(of.of, Kind | Named):
        return False
    if any(isinstance(one, Top | Either) for one in parts(of.of)):
        return True
    again = (one for one in parts(of.of) if isinstance(one, Walk) and one.relation == of.relation)
    return mutual and any(again)


def within(of: NodeSet, mutual: Callable[[int], bool]) -> list[NodeSet]:
    """Return the sets whose nodes anchors hold in the plan that a set belongs to: named ones, and those found first."""
    match of:
        case Named():
            return [of]
        case Walk(_, inner, relation, _):
            return [inner] if is_found_first(of, mutual=mutual(relation)) else within(inner, mutual)
        case Where(_, inner) | WhereCount(_, inner) | Without(_, inner) | Compared(_, inner):
            return within(inner, mutual)
        case Meet(_, one, other):
            return [*within(one, mutual), *within(other, mutual)]
        case _:
            return []
