"""An engine for small graphs: it extends matches edge by edge, and shares no code with the engines of the site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from search.domain.filtering import counts_fit, meets
from search.domain.graph import ANY
from search.domain.linking import LinkedPlan, Placed, Traversal
from search.domain.plan import Count, Hop, Order, Plan
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from tests import oracle

Match = dict[str, int]


class Backtracking:
    """Executes plans (interfaces.GraphStore, `execute` alone). All anchors have the same score.

    As for every engine, a variable other than an anchor's own never takes a node that an anchor is bound to.
    """

    backend = "backtracking"

    def __init__(self, graph: oracle.Graph) -> None:
        self._graph = graph
        self._next: dict[tuple[int, str, str], set[int]] = defaultdict(set)
        for source, relation, target in graph.edges:
            self._next[source, relation, "out"].add(target)
            self._next[target, relation, "in"].add(source)

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        limit.check("test")
        target = linked.plan.target.var
        every = matches = list(self._matches(linked, {}))
        for one in linked.plan.filters:
            if one.count is not None:
                values = self._numbers(one.count, sorted({match[one.var] for match in matches}), every)
                matches = [match for match in matches if counts_fit(one, values[match[one.var]])]
        keys = sorted({match[target] for match in matches})
        placed = {}
        if (order := linked.plan.order) is not None:
            by = order.by
            values = (
                self._numbers(by, keys, every) if isinstance(by, Count)
                else {key: oracle.value_of(self._graph, order, key) for key in keys}
            )  # fmt: skip
            distinct = sorted({v for v in values.values() if v is not None}, reverse=order.direction == "desc")
            places = {key: len(distinct) + 1 if v is None else distinct.index(v) + 1 for key, v in values.items()}
            keys = sorted(
                (k for k in keys if order.limit is None or places[k] <= order.limit), key=lambda k: (places[k], k)
            )
            placed = {key: Placed(values[key], places[key]) for key in keys}
        found = tuple(Candidate(key, 1.0) for key in keys[:rows])
        return Traversal(linked.index, self.backend, found, len(keys) > rows, placed=placed)

    def _numbers(self, count: Count, keys: list[int], matches: list[Match]) -> dict[int, Any]:
        """Return how many nodes each key is joined with as a count says."""
        among = {match[count.among] for match in matches} if count.among else None
        return {key: oracle.value_of(self._graph, Order(count), key, among) for key in keys}

    def _matches(self, linked: LinkedPlan, given: Match) -> Iterator[Match]:
        """Yield every match of a plan that agrees with the given variables."""
        plan = linked.plan
        bound = {anchor.var: {b.node.key for b in linked.bindings_of(anchor.var)} for anchor in plan.anchors}
        start = next(iter(bound), plan.target.var)
        firsts = [given[start]] if start in given else sorted(bound.get(start, range(len(self._graph.nodes))))
        for key in firsts:
            if self._allowed(linked, bound, given, start, key):
                yield from self._extended(linked, bound, {**given, start: key}, plan.hops)

    def _allowed(self, linked: LinkedPlan, bound: dict[str, set[int]], match: Match, var: str, key: int) -> bool:
        """Whether a variable may take a node beside what a match holds already."""
        plan, node = linked.plan, self._graph.nodes[key]
        if var in bound and key not in bound[var]:
            return False
        if var in match:
            return match[var] == key
        if var not in bound and any(key in keys for keys in bound.values()):
            return False
        typed = all(node.type in labels for labels in plan.labels_of.get(var, ()))
        return typed and meets(node, [one for one in plan.filters if one.var == var])

    def _extended(
        self, linked: LinkedPlan, bound: dict[str, set[int]], match: Match, hops: tuple[Hop, ...]
    ) -> Iterator[Match]:
        hop = next((h for h in hops if h.source in match or h.to_var in match), None)
        if hop is None:
            # What only a comparison joins with the rest, or nothing, is tried with every node.
            alone = next((var for var in self._variables(linked.plan) if var not in match), None)
            if alone is not None:
                for key in range(len(self._graph.nodes)):
                    if self._allowed(linked, bound, match, alone, key):
                        yield from self._extended(linked, bound, {**match, alone: key}, hops)
            elif self._compares(linked.plan, match) and all(
                self._free(linked, at, match) for at in range(len(linked.plan.exclude))
            ):
                yield match
            return
        rest = tuple(h for h in hops if h is not hop)
        for near, far in self._edges(hop, match):
            ends = ((hop.source, near), (hop.to_var, far))
            if all(self._allowed(linked, bound, match, var, key) for var, key in ends):
                yield from self._extended(linked, bound, {**match, hop.source: near, hop.to_var: far}, rest)

    def _edges(self, hop: Hop, match: Match) -> Iterator[tuple[int, int]]:
        """Yield the ends (source, to_var) of the edges of a hop, from the end that is known."""
        relations = {r for _, r, _ in self._graph.edges} if hop.rel == ANY else {hop.rel}
        for way in [hop.direction] if hop.direction else ["out", "in"]:
            back = {"out": "in", "in": "out"}[way]
            for relation in relations:
                if hop.source in match:
                    here = match[hop.source]
                    yield from ((here, far) for far in self._next[here, relation, way])
                else:
                    there = match[hop.to_var]
                    yield from ((near, there) for near in self._next[there, relation, back])

    def _variables(self, plan: Plan) -> list[str]:
        """Return every variable of a plan, those that only a comparison names, too."""
        compared = [var for one in plan.comparisons for var in (one.var, *one.others)]
        return [*plan.variables, *compared]

    def _compares(self, plan: Plan, match: Match) -> bool:
        """Whether the nodes of a match meet the filters that compare fields of two of them."""
        for one in plan.comparisons:
            assert one.compared is not None
            node, other = self._graph.nodes[match[one.var]], self._graph.nodes[match[one.compared.var]]
            value = other.fields.get(one.compared.field)
            items = value if isinstance(value, list) else [] if value is None else [value]
            positive = replace(one, op="=") if one.op == "!=" else one
            if any(meets(node, [replace(positive, value=item)]) for item in items) == (one.op == "!="):
                return False
        return True

    def _free(self, linked: LinkedPlan, index: int, match: Match) -> bool:
        """Whether an exclusion has no match around a match of the plan."""
        pattern = linked.excluded(index)
        start = pattern.plan.target.var
        return next(self._matches(pattern, {start: match[start]}), None) is None
