"""Executes whole plans, exclusions and order included, with an engine's steps for what it can match at once.

An exclusion bars nodes from the variable that it begins at: those for which its pattern has a match. The pattern is
matched from its own anchors. If it has none, or too many matches, it is matched from the nodes that the variable can
take. Nodes barred from the target are taken out of the candidates; nodes barred from another variable are a condition
of the match (`LinkedPlan.barred`). A filter on a count bars in the same way the nodes whose count does not fit. What
a count is made among is matched first, as the target of its part of the plan.
The order is computed from the values of all candidates, and so is an aggregate, after the order has left some out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from search.adapters.graph_matching.estimate import MOST_ROWS
from search.adapters.graph_matching.found import FoundCandidates, Longs, RankedValues
from search.adapters.graph_matching.paths import Matches
from search.domain.aggregates import Aggregated, aggregated, computed
from search.domain.errors import StageError
from search.domain.filtering import counts_fit
from search.domain.linking import LinkedPlan, Traversal
from search.domain.ordering import Value, order_value
from search.domain.plan import Count, EdgeField, Filter, Hop, Order, Plan, Target
from search.domain.plan.parts import Aggregate
from search.domain.plan.routes import routes
from search.domain.trace import Limit

ALL_ROWS = 10_000_000
"""Limit of candidates where all of them are needed, to take some out or to put them in order."""
AT_ONCE = 5_000
"""Nodes that one statement compares with a pattern."""


class WholePlans(ABC):
    """Executes whole plans (interfaces.GraphStore); a subclass matches plans that have neither exclusions nor order."""

    backend: str

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return the candidates of a linked plan; see the protocol."""
        if not linked.is_executable:
            return Traversal(linked.index, self.backend, ())
        plan = linked.plan
        bare = self._barring(linked, limit)
        found = self.execute_match(bare, limit, ALL_ROWS if _is_more(plan) else rows)
        for index in self._of_target(linked):
            barred = self._barred(linked, index, found.keys, limit)
            found = found.take(~np.isin(found.keys, barred))
        counted = _counts_of(plan, plan.target.var)
        for condition in counted:
            found = found.take(self._fitting([condition], found.keys, bare, limit)).also(
                f"-- {counted_in_words(condition)}"
            )
        ranked, way = None, plan.order.direction if plan.order is not None else "asc"
        if plan.order is not None:
            found, ranked = self._in_order(found, plan.order, bare, limit)
        aggregate = None
        if plan.aggregate:
            aggregate = self._aggregated(found, plan.aggregate, plan.show, limit)
            found = found.also(f"-- {plan.aggregate} of {plan.show}")
        return replace(found.traversal(linked.index, rows, ranked, way), aggregate=aggregate)

    def paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int = 1) -> Matches:
        """Return the best matches of the keys; see the protocol."""
        if not linked.is_bound or not keys or most < 1:
            return {}
        bare = self._barring(linked, limit)
        kept = self._allowed(linked, bare, keys, limit)
        return self.match_paths(bare, kept, limit, most) if kept else {}

    def matching(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match; see the protocol."""
        if not keys or (linked.plan.anchors and not linked.is_bound):
            return set()
        bare = self._barring(linked, limit)
        kept = self._allowed(linked, bare, keys, limit)
        return self.match_keys(bare, kept, limit) if kept else set()

    def edge_values(
        self, linked: LinkedPlan, of: EdgeField, keys: Sequence[int], limit: Limit
    ) -> dict[int, list[Value]]:
        """Return for each key the values of the edges that a hop takes from it; see the protocol.

        The nodes at the other end are those that its variable takes in a match of the plan.
        """
        plan = linked.plan
        hop = plan.edge_of(of.var)
        found: dict[int, list[Value]] = {key: [] for key in keys}
        if hop is None or not keys:
            return found
        bare = self._barring(linked, limit)
        among = self._taken(bare, of.var, limit)
        for key, value in self.read_edges(hop, plan, of.field, keys, among.tolist(), limit):
            found[key].append(value)
        return {key: sorted(values, key=lambda one: (isinstance(one, str), one)) for key, values in found.items()}

    @abstractmethod
    def read_edges(
        self, hop: Hop, plan: Plan, field: str, keys: Sequence[int], among: Collection[int], limit: Limit
    ) -> list[tuple[int, Value]]:
        """Return (key, value) for each value of a field of the edges of a hop between T and the nodes `among`."""

    def order_values(
        self, order: Order, keys: Sequence[int], limit: Limit, among: Collection[int] | None = None
    ) -> dict[int, Value | None]:
        """Return the value of each key that an order compares; see the protocol."""
        counted = None if among is None else np.fromiter(among, np.int64, len(among))
        ranked = self._ranked(order, np.asarray(keys, dtype=np.int64), limit, counted)
        return dict(zip(keys, ranked.values(), strict=True))

    def _ranked(self, order: Order, keys: Longs, limit: Limit, among: Longs | None = None) -> RankedValues:
        by = order.by
        if not isinstance(by, Count) or by.function is None:
            return self.read_order(order, keys, limit, among)
        near, far = self.joined(by, keys, limit, among)
        of = Order(by.of, "desc" if by.function == "max" else "asc")
        others, place = np.unique(far, return_inverse=True)
        values = self._ranked(of, others, limit).values() if len(others) else []
        grouped: dict[int, list[Value | None]] = {key: [] for key in keys.tolist()}
        for key, at in zip(near.tolist(), place.tolist(), strict=True):
            grouped[key].append(values[at])
        return RankedValues.of([computed(by.function, several) for several in grouped.values()])

    @abstractmethod
    def read_order(self, order: Order, keys: Longs, limit: Limit, among: Longs | None) -> RankedValues:
        """Return the value of each key in a field, or the number of different nodes that it is joined with."""

    @abstractmethod
    def joined(self, count: Count, keys: Longs, limit: Limit, among: Longs | None) -> tuple[Longs, Longs]:
        """Return (keys, nodes): each different node that a count counts of a key, as two arrays of equal length."""

    @abstractmethod
    def execute_match(self, linked: LinkedPlan, limit: Limit, rows: int) -> FoundCandidates:
        """Return the candidates of an executable plan without exclusions and order, at least the best `rows`.

        It may return all that there are; if it returns less than that, they are `truncated`.
        """

    @abstractmethod
    def match_paths(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit, most: int) -> Matches:
        """Return the best matches of the keys for a bound plan without exclusions and order."""

    @abstractmethod
    def match_keys(self, linked: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys that T takes in a match of a plan without exclusions and order."""

    def _allowed(self, linked: LinkedPlan, bare: LinkedPlan, keys: Sequence[int], limit: Limit) -> list[int]:
        """Return the keys that no exclusion of the target bars, and whose counts fit; `bare` is what is matched."""
        counted = _counts_of(linked.plan, linked.plan.target.var)
        kept = list(keys)
        if counted:
            asked = np.asarray(keys, dtype=np.int64)
            kept = asked[self._fitting(counted, asked, bare, limit)].tolist()
        for index in self._of_target(linked):
            barred = self._among(linked.excluded(index), kept, limit)
            kept = [key for key in kept if key not in barred]
        return kept

    def _of_target(self, linked: LinkedPlan) -> list[int]:
        """Return the indexes of the exclusions that begin at the target and whose anchors are bound."""
        plan = linked.plan
        starts = [plan.excluded(exclusion).target.var for exclusion in plan.exclude]
        return [i for i, var in enumerate(starts) if var == plan.target.var and linked.is_known(i)]

    def _barring(self, linked: LinkedPlan, limit: Limit) -> LinkedPlan:
        """Return the plan without exclusions, counts and order; what is no condition of the target became `barred`."""
        plan = linked.plan
        if not _is_more(plan):
            return linked
        fields = tuple(condition for condition in plan.filters if condition.count is None)
        bare = replace(linked, plan=replace(plan, exclude=(), order=None, filters=fields, ask="which"))
        barred: dict[str, frozenset[int]] = {}
        for var in dict.fromkeys(one.var for one in plan.filters if one.count and one.var != plan.target.var):
            keys = self._taken(bare, var, limit)
            barred[var] = frozenset(keys[~self._fitting(_counts_of(plan, var), keys, bare, limit)].tolist())
        for index, exclusion in enumerate(plan.exclude):
            var = plan.excluded(exclusion).target.var
            if var == plan.target.var or not linked.is_known(index):
                continue
            found = self._barred(linked, index, None, limit, bare)
            barred[var] = barred.get(var, frozenset()) | frozenset(found.tolist())
        return replace(bare, barred=barred)

    def _barred(
        self,
        linked: LinkedPlan,
        index: int,
        keys: Longs | None,
        limit: Limit,
        bare: LinkedPlan | None = None,
    ) -> Longs:
        """Return the nodes that an exclusion bars from its variable: all of them, or those among the keys.

        Without keys, the nodes are those that the variable takes in a match of the part of the plan `bare` around it.
        Raises StageError if there are too many to look through.
        """
        pattern = linked.excluded(index)
        if keys is not None and len(keys) <= AT_ONCE:
            return _keys(self._among(pattern, keys.tolist(), limit))
        if pattern.is_bound:
            found = self.execute_match(pattern, limit, MOST_ROWS)
            if not found.truncated:
                return found.keys
        if keys is None:
            assert bare is not None
            keys = self._taken(bare, pattern.plan.target.var, limit)
        return _keys(self._among(pattern, keys.tolist(), limit))

    def _taken(self, bare: LinkedPlan, var: str, limit: Limit) -> Longs:
        """Return the nodes that a variable takes in a match of the part of a plan around it.

        Raises StageError if there are too many to look through.
        """
        reached = self.execute_match(_around(bare, var), limit, ALL_ROWS)
        if reached.truncated:
            reason = "the entities that a condition is about are more than are looked through"
            raise StageError("traverse", reason, permanent=True)
        return reached.keys

    def _values(self, order: Order, keys: Longs, bare: LinkedPlan, limit: Limit) -> RankedValues:
        """Return the value of each key that an order compares, of a count only what the plan selects.

        Raises StageError if the nodes to count among are too many to look through.
        """
        if not len(keys):
            return RankedValues.of([])
        if isinstance(order.by, EdgeField):
            found = self.edge_values(bare, order.by, keys.tolist(), limit)
            return RankedValues.of([order_value(several, order.direction) for several in found.values()])
        if not isinstance(order.by, Count) or not order.by.among:
            return self._ranked(order, keys, limit)
        return self._ranked(order, keys, limit, self._taken(bare, order.by.among, limit))

    def _fitting(self, counted: Sequence[Filter], keys: Longs, bare: LinkedPlan, limit: Limit) -> NDArray[np.bool_]:
        """Return which of the keys meet filters on counts."""
        fitting = np.ones(len(keys), dtype=bool)
        for condition in counted:
            if condition.count is not None:
                numbers = self._values(Order(condition.count), keys, bare, limit)
                values = [*numbers.read(np.arange(numbers.distinct)), None]
                fitting &= np.array([counts_fit(condition, one) for one in values], dtype=bool)[numbers.ranks]
        return fitting

    def _among(self, pattern: LinkedPlan, keys: Sequence[int], limit: Limit) -> set[int]:
        """Return those of the keys for which a pattern has a match."""
        found: set[int] = set()
        for first in range(0, len(keys), AT_ONCE):
            limit.check("traverse")
            found |= self.match_keys(pattern, keys[first : first + AT_ONCE], limit)
        return found

    def _in_order(
        self, found: FoundCandidates, order: Order, bare: LinkedPlan, limit: Limit
    ) -> tuple[FoundCandidates, RankedValues]:
        """Return the candidates in the plan's order and their values, without those beyond the order's limit."""
        ranked = self._values(order, found.keys, bare, limit)
        places = ranked.places(order.direction)
        rows = np.arange(len(places)) if order.limit is None else np.flatnonzero(places <= order.limit)
        rows = rows[np.argsort(places[rows], kind="stable")]
        return found.take(rows).also(in_words(order)), ranked.take(rows)

    def _aggregated(self, found: FoundCandidates, function: Aggregate, field: str, limit: Limit) -> Aggregated:
        """Return what a plan asks to compute from a field of all its candidates."""
        # Of a list, an order compares the value that comes first in it.
        order = Order(field, "desc" if function == "max" else "asc")
        values = self._ranked(order, found.keys, limit).values() if len(found.keys) else []
        return aggregated(function, field, values, complete=not found.truncated)


def _keys(keys: Collection[int]) -> Longs:
    return np.fromiter(keys, np.int64, len(keys))


def _is_more(plan: Plan) -> bool:
    """Whether a plan has parts that no engine matches at once."""
    whole = plan.exclude or plan.order is not None or plan.aggregate
    return bool(whole or any(one.count for one in plan.filters))


def _counts_of(plan: Plan, var: str) -> list[Filter]:
    return [one for one in plan.filters if one.count is not None and one.var == var]


def counted_in_words(condition: Filter) -> str:
    """Return a filter on a count as one line, for the text of an executed query."""
    count = condition.count
    assert count is not None
    return f"{_number_of(count)} {condition.op} {condition.value}"


def _number_of(count: Count) -> str:
    among = f" among {count.among}" if count.among else ""
    return f"{count.about} {count.direction or ''}".strip() + among


def _around(linked: LinkedPlan, var: str) -> LinkedPlan:
    """Return the part of a plan that hops connect with a variable, with that variable as its target."""
    plan = linked.plan
    near = routes([(hop.source, hop.to_var) for hop in plan.hops], var)
    part = replace(
        plan,
        anchors=tuple(anchor for anchor in plan.anchors if anchor.var in near),
        hops=tuple(hop for hop in plan.hops if hop.source in near),
        filters=tuple(one for one in plan.filters if one.var in near and one.compared is None),
        target=Target(var),
    )
    return replace(linked, plan=part)


def in_words(order: Order) -> str:
    """Return an order as one line, for the text of an executed query."""
    by = _number_of(order.by) if isinstance(order.by, Count) else order.field
    return f"-- in order of {by}, {order.direction}" + (f", {order.limit} places" if order.limit else "")
