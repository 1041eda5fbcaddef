"""Variable elimination: a plan as a sequence of joins of partial matches, the same for every engine.

Each anchor starts a set of partial matches (its bindings). A hop extends a set by one variable, joins two sets, or
filters a set that has both of its ends. A variable without remaining hops is dropped, so that the rows hold only the
nodes that later steps need. Two things are kept so that the result stays exact:

- The nodes of a set's anchors are kept until the end, because no other variable of the row may take them.
- Of a dropped variable, its node is kept if an anchor outside the set may be bound to it. Later joins compare nothing
else, and this keeps the number of rows small.

Filters that compare two variables are checked as soon as a set has both. Anchors that only such filters connect with
the target are joined with it last, each with each. If no hop leads from an anchor to the target, all nodes that the
target may take start a set of their own.

Hops that would read very many edges come last (`order.next_hop`), so that the selective side is walked first.

Engines estimate differently and so join in different orders. A sum of floats depends on its order, so the anchors'
scores are kept apart until the end and then added in the order of the plan's anchors, from the first to the last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Generic, Protocol, TypeVar

from search.adapters.graph_matching.estimate import WalkEstimate
from search.adapters.graph_matching.order import allowed_types, depths, next_hop, reaches_target, usable_bindings
from search.domain.errors import StageError
from search.domain.graph import ANY, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Filter, Hop
from search.interfaces import Adjacency


class PartialMatches(Protocol):
    """A set of partial matches while an engine's statement is being compiled.

    `dropped` says that the rows may contain duplicates since they were last made distinct. `size` is the expected
    number of rows. `untouched` is the variable whose given nodes are the whole content of the rows so far.
    """

    dropped: bool
    size: float
    untouched: str | None


M = TypeVar("M", bound=PartialMatches)


class Elimination(ABC, Generic[M]):
    """Joins the hops of one linked plan; a subclass writes each step in its engine's language.

    An instance compiles one statement. `keys` are the candidates whose paths are requested, None if all candidates are
    wanted; with `from_target` the walk begins at them. `heaviest` is the largest number of edges that a hop is expected
    to read.
    """

    NOTHING: ClassVar[str] = "0.0"
    """The expression of the score of a plan without anchors."""

    def __init__(self, linked: LinkedPlan, schema: Schema, adjacency: Adjacency | None) -> None:
        self.plan = linked.plan
        self.schema = schema
        self.short = {var: f"v{i}" for i, var in enumerate(self.plan.variables)}
        self.types = allowed_types(self.plan, schema)
        # In the order of the plan's anchors, which is the order in which every engine adds their scores.
        self.bound = usable_bindings(linked, self.types, schema)
        self.barred = linked.barred
        self.scans = not reaches_target(self.plan)
        self.keys: Sequence[int] | None = None
        self.from_target = False
        self.heaviest = 0.0
        self._adjacency = adjacency

    def match(self) -> M:
        """Join all hops and return the set of rows that holds the target's node and the score.

        Raises StageError if the hops do not connect every anchor with the target.
        """
        compared = list(self.plan.comparisons)
        home = self._started(compared)
        pending = list(self.plan.hops)
        depth = depths(self.plan, from_target=self.from_target)

        def burden(hop: Hop, near: str, far: str) -> int:
            return self.estimate.burden(self.read(hop, near, far, home))

        while pending:
            step = next_hop(pending, {var: id(rows) for var, rows in home.items()}, depth, burden)
            if step is None:
                break
            hop, near, far = step
            pending.remove(hop)
            rows, other = home[near], home.get(far)
            if other is rows:
                self.close(rows, hop, near, far)
            else:
                if rows.dropped:
                    self.make_distinct(rows)
                rows.size = self.read(hop, near, far, home)
                self.heaviest = max(self.heaviest, rows.size)
                self.extend(rows, hop, near, far, other)
                if other is not None:
                    self.drop(rows, self._needed([*pending, Hop(far, ANY, far)], compared))
                    self.join(rows, other, far)
            self._compare(rows, compared)
            self.drop(rows, self._needed(pending, compared))
            home = {var: rows if owner is rows or owner is other else owner for var, owner in home.items()}
            home[far] = rows
        home = home if pending else self._joined_by_comparisons(home, compared)
        if pending or len({id(rows) for rows in home.values()}) != 1 or self.plan.target.var not in home:
            raise StageError("traverse", "not every starting point is connected with the target", permanent=True)
        return home[self.plan.target.var]

    def _started(self, compared: list[Filter]) -> dict[str, M]:
        """Return the sets from which the walk begins, by variable."""
        target = self.plan.target.var
        home = {var: self.start(var) for var in self.bound}
        if self.from_target and self.keys is not None:
            home.setdefault(target, self.start_at_target(self.keys))
        elif self.scans:
            home[target] = self.start_over_types(target)
        for rows in home.values():
            self._compare(rows, compared)
        return home

    @property
    def burden(self) -> int:
        """Cost class of the heaviest hop; see `WalkEstimate.burden`."""
        return self.estimate.burden(self.heaviest)

    @cached_property
    def estimate(self) -> WalkEstimate:
        """Size estimates for the hops of this plan."""
        known = {var: given for var in self.plan.variables if (given := self.given(var))}
        return WalkEstimate(self.schema, self.types, known, self._adjacency)

    def given(self, var: str) -> Sequence[int]:
        """Return the only nodes that a variable may take, as keys; empty if it may take any."""
        if var in self.bound:
            return list(self.bound[var])
        return list(self.keys or ()) if var == self.plan.target.var else ()

    def bindings_outside(self, anchors: Sequence[str]) -> list[int]:
        """Return the sorted keys to which anchors other than these are bound; a dropped variable may have taken one."""
        return sorted({key for var, keys in self.bound.items() if var not in anchors for key in keys})

    def summed(self, scores: Mapping[str, str]) -> str:
        """Return the expression of a match's score, given the expression of each anchor's score."""
        return " + ".join(scores[var] for var in self.bound if var in scores) or self.NOTHING

    def asked_of(self, var: str) -> list[int] | None:
        """Return the keys of which a variable's node must be one, or None if there is no such condition.

        If the walk begins at the requested candidates, no condition is needed.
        """
        if self.keys is None or var != self.plan.target.var or (self.from_target and var not in self.bound):
            return None
        return list(self.keys)

    def _needed(self, pending: Sequence[Hop], compared: Sequence[Filter] = ()) -> frozenset[str]:
        """Return the variables that later steps or the result need; a set's anchors are kept in addition to these."""
        ends = {end for hop in pending for end in (hop.source, hop.to_var)}
        return frozenset(ends | {var for condition in compared for var in _sides(condition)} | {self.plan.target.var})

    def _compare(self, rows: M, compared: list[Filter]) -> None:
        """Check the comparisons of which a set has both variables, and take them off the list."""
        for condition in [one for one in compared if self.holds(rows) >= _sides(one)]:
            compared.remove(condition)
            self.compare(rows, condition)

    def _joined_by_comparisons(self, home: dict[str, M], compared: list[Filter]) -> dict[str, M]:
        """Join the target's set with the sets that only comparisons connect with it."""
        rows = home[self.plan.target.var]
        while len({id(owner) for owner in home.values()}) > 1:
            touching = {var for one in compared if _sides(one) & self.holds(rows) for var in _sides(one)}
            other = next((owner for var, owner in home.items() if owner is not rows and var in touching), None)
            if other is None:
                break
            self.join(rows, other, None)
            self._compare(rows, compared)
            self.drop(rows, self._needed((), compared))
            home = {var: rows if owner is other else owner for var, owner in home.items()}
        return home

    @abstractmethod
    def holds(self, rows: M) -> frozenset[str]:
        """Return the variables whose nodes a set holds."""

    @abstractmethod
    def start_over_types(self, var: str) -> M:
        """Return the set of all nodes that a variable may take by its types and conditions."""

    @abstractmethod
    def compare(self, rows: M, condition: Filter) -> None:
        """Keep the rows that satisfy a filter that compares fields of two of their nodes."""

    @abstractmethod
    def start(self, var: str) -> M:
        """Return the set of an anchor's bindings."""

    @abstractmethod
    def start_at_target(self, keys: Sequence[int]) -> M:
        """Return the set of the requested candidates; the target is not an anchor."""

    @abstractmethod
    def read(self, hop: Hop, near: str, far: str, home: Mapping[str, M]) -> float:
        """Return the number of edges that walking a hop is expected to read."""

    @abstractmethod
    def close(self, rows: M, hop: Hop, near: str, far: str) -> None:
        """Keep the rows that have an edge for a hop between two of their nodes."""

    @abstractmethod
    def extend(self, rows: M, hop: Hop, near: str, far: str, other: M | None) -> None:
        """Walk a hop from a node of each row to a new node; if `other` is untouched, to one of its given nodes."""

    @abstractmethod
    def join(self, rows: M, other: M, shared: str | None) -> None:
        """Join two sets on the variable that both hold, or each row with each row if they share none.

        No variable of one set may take an anchor's node of the other.
        """

    @abstractmethod
    def drop(self, rows: M, needed: frozenset[str]) -> None:
        """Drop the variables that are not needed, but remember their nodes that an anchor outside may be bound to."""

    @abstractmethod
    def make_distinct(self, rows: M) -> None:
        """Turn the rows into a separate step that computes distinct rows once, within the limit of rows."""


def _sides(condition: Filter) -> frozenset[str]:
    """Return the variables of a filter that compares two fields."""
    return frozenset({condition.var, condition.value.var})
