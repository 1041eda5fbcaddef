"""A plan as joins of partial matches, variable by variable: the order of steps that every engine's statement follows.

Each anchor starts a set of partial matches (its bindings). A hop extends a set by one variable, joins two sets, or
filters one that has both of its ends. A variable whose hops are all done is dropped, so that only the nodes that matter
for the rest are carried on. What is kept so that the answer stays exact:

- The nodes of a set's anchors, until the end, because no other variable of the row may take them.
- Of a dropped variable, its node where an anchor outside the set might be bound to it, else nothing: this is all that
  a later join has to compare, and it keeps the rows few.

Hops that would read very many edges come last (`order.next_hop`), so that the selective side is walked first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from search.adapters.graph_matching.estimate import Estimate
from search.adapters.graph_matching.order import allowed_types, depths, next_hop, usable_bindings
from search.domain.errors import StageError
from search.domain.graph import ANY, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Hop
from search.interfaces import Adjacency


class PartialMatches(Protocol):
    """A set of partial matches while an engine's statement is put together.

    `dropped` says that duplicates may have come up since the rows were last made distinct. `size` is how many rows are
    expected; `untouched` is the variable whose given nodes are all that the rows hold so far.
    """

    dropped: bool
    size: float
    untouched: str | None


M = TypeVar("M", bound=PartialMatches)


class Elimination(ABC, Generic[M]):
    """Joins the hops of one linked plan; a subclass writes each step in its engine's language. Used once a statement.

    `keys` are the candidates that paths are asked for, None where all candidates are wanted; with `from_target` the
    walk begins at them. `heaviest` is the largest number of edges that a hop is expected to read.
    """

    def __init__(self, linked: LinkedPlan, schema: Schema, adjacency: Adjacency | None) -> None:
        self.plan = linked.plan
        self.schema = schema
        self.short = {var: f"v{i}" for i, var in enumerate(self.plan.variables)}
        self.types = allowed_types(self.plan, schema)
        self.bound = usable_bindings(linked, self.types, schema)
        self.keys: Sequence[int] | None = None
        self.from_target = False
        self.heaviest = 0.0
        self._adjacency = adjacency

    def match(self) -> M:
        """Join everything into one set of rows that has the target's node and the score.

        Raises StageError where the hops do not connect every anchor with the target.
        """
        home = {var: self.start(var) for var in self.bound}
        if self.from_target and self.keys is not None:
            home.setdefault(self.plan.target.var, self.start_at_target(self.keys))
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
                    self.drop(rows, self._needed([*pending, Hop(far, ANY, far)]))
                    self.join(rows, other, far)
            self.drop(rows, self._needed(pending))
            home = {var: rows if owner is rows or owner is other else owner for var, owner in home.items()}
            home[far] = rows
        if pending or len({id(rows) for rows in home.values()}) != 1 or self.plan.target.var not in home:
            raise StageError("traverse", "the hops do not connect every anchor with the target", permanent=True)
        return home[self.plan.target.var]

    @property
    def burden(self) -> int:
        """What the heaviest hop reads: 0 for what is read in a moment."""
        return self.estimate.burden(self.heaviest)

    @cached_property
    def estimate(self) -> Estimate:
        """What is expected of this plan's hops."""
        known = {var: given for var in self.plan.variables if (given := self.given(var))}
        return Estimate(self.schema, self.types, known, self._adjacency)

    def given(self, var: str) -> Sequence[int]:
        """Return the only nodes that a variable may be; none where it may be any."""
        if var in self.bound:
            return list(self.bound[var])
        return list(self.keys or ()) if var == self.plan.target.var else ()

    def bindings_outside(self, anchors: Sequence[str]) -> list[int]:
        """Return the nodes that anchors other than these are bound to, sorted: a dropped variable may hold one."""
        return sorted({key for var, keys in self.bound.items() if var not in anchors for key in keys})

    def asked_of(self, var: str) -> list[int] | None:
        """Return the candidates that a variable's node has to be one of, None where it may be any.

        Where the walk begins at the candidates, they need not be compared again.
        """
        if self.keys is None or var != self.plan.target.var or (self.from_target and var not in self.bound):
            return None
        return list(self.keys)

    def _needed(self, pending: Sequence[Hop]) -> frozenset[str]:
        """Return the variables that a later hop or the answer needs; those of a set's anchors stay beside them."""
        return frozenset({end for hop in pending for end in (hop.source, hop.to_var)} | {self.plan.target.var})

    @abstractmethod
    def start(self, var: str) -> M:
        """Begin with the bindings of an anchor."""

    @abstractmethod
    def start_at_target(self, keys: Sequence[int]) -> M:
        """Begin with the candidates asked for, which no anchor is."""

    @abstractmethod
    def read(self, hop: Hop, near: str, far: str, home: Mapping[str, M]) -> float:
        """Return how many edges walking a hop is expected to read."""

    @abstractmethod
    def close(self, rows: M, hop: Hop, near: str, far: str) -> None:
        """Keep the rows that have an edge for a hop between two nodes that they hold."""

    @abstractmethod
    def extend(self, rows: M, hop: Hop, near: str, far: str, other: M | None) -> None:
        """Walk a hop from a node of each row to one more node, one of the given ones where `other` holds just these."""

    @abstractmethod
    def join(self, rows: M, other: M, shared: str) -> None:
        """Join two sets on the variable that both have; no variable of one may take an anchor's node of the other."""

    @abstractmethod
    def drop(self, rows: M, needed: frozenset[str]) -> None:
        """Drop the variables that are not needed, remembering what an anchor outside might collide with."""

    @abstractmethod
    def make_distinct(self, rows: M) -> None:
        """Make a step of its own of the rows, distinct and computed once, of no more rows than can be carried on."""
