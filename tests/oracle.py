"""The definition of a match as brute force: the oracle for every engine that executes plans.

It follows the definition in docs/architecture.md, ignores speed, and shares no code with the engines.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from search.domain.evidence import Path
from search.domain.graph import Node
from search.domain.linking import LinkedPlan
from search.domain.plan import Count, EdgeField, FieldOf, Filter, Hop, Order, Plan, Target

Chain = tuple[tuple[Hop, ...], tuple[Filter, ...]]
"""The hops and the comparisons of a walk from a variable to the target."""


@dataclass(frozen=True)
class Graph:
    """Nodes by key, and edges as (source key, relation, target key) in stored direction, parallel edges included.

    `properties` holds the fields of those edges that have any.
    """

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, str, int], ...]
    properties: Mapping[tuple[int, str, int], Mapping[str, Any]] = field(default_factory=dict)


def answers(graph: Graph, linked: LinkedPlan) -> list[tuple[int, float, object, int]]:
    """Return (key, score, value, place) of the answers of a plan with an order, in it, equal ones by score and key."""
    order = linked.plan.order
    assert order is not None
    among = counted_among(graph, linked, order.by) if isinstance(order.by, Count) else None
    if isinstance(order.by, EdgeField):
        of_edges = edge_values(graph, linked, order.by)
        valued = {key: _first(of_edges[key], order.direction) for key in candidates(graph, linked)}
    else:
        valued = {key: value_of(graph, order, key, among) for key in candidates(graph, linked)}
    distinct: list[Any] = list({value for value in valued.values() if value is not None})
    distinct.sort(key=lambda value: (isinstance(value, str), value), reverse=order.direction == "desc")
    placed = {key: len(distinct) + 1 if v is None else distinct.index(v) + 1 for key, v in valued.items()}
    found = [
        (key, score, valued[key], placed[key])
        for key, score in candidates(graph, linked).items()
        if order.limit is None or placed[key] <= order.limit
    ]
    return sorted(found, key=lambda one: (one[3], -one[1], one[0]))


def aggregate(graph: Graph, linked: LinkedPlan) -> tuple[object, int, int] | None:
    """Return (value, nodes that have the field, all answers) of what a plan computes from a field of its answers.

    Of a node with several numbers, the first in the order of the aggregate counts. None if nothing is computed, because
    the plan does not ask for it or has an anchor without nodes.
    """
    plan = linked.plan
    unbound = any(not linked.bindings_of(anchor.var) for anchor in plan.anchors)
    if unbound or plan.ask not in ("sum", "mean", "min", "max"):
        return None
    keys = [one[0] for one in answers(graph, linked)] if plan.order else list(candidates(graph, linked))
    first = Order(plan.show, "desc" if plan.ask == "max" else "asc")
    found = [value_of(graph, first, key) for key in keys]
    return _made_of(plan.ask, found), sum(isinstance(value, int | float) for value in found), len(keys)


def _made_of(function: str, found: Sequence[Any]) -> float | None:
    """Return the sum, mean, least or greatest of those values that are numbers; None if none is."""
    numbers = [Fraction(value) for value in found if isinstance(value, int | float)]
    if not numbers:
        return None
    total = sum(numbers)
    return float({"sum": total, "mean": total / len(numbers), "min": min(numbers), "max": max(numbers)}[function])


def counted_among(graph: Graph, linked: LinkedPlan, count: Count) -> set[int] | None:
    """Return the nodes that a count is made among: those of the variable in matches of hops and filters on fields."""
    if not count.among:
        return None
    filters = tuple(one for one in linked.plan.filters if one.count is None)
    bare = replace(linked, plan=replace(linked.plan, filters=filters, exclude=(), order=None))
    return {match[count.among] for match, _ in matches(graph, bare)}


def value_of(graph: Graph, order: Order, key: int, among: set[int] | None = None) -> Any:
    """Return what an order compares of a node: the first of a field's values, or the number of its neighbours.

    Or what a function makes of a field or of a count of these neighbours; None if none of them has a number.
    """
    if isinstance(order.by, str):
        value = graph.nodes[key].name if order.by == "name" else graph.nodes[key].fields.get(order.by)
        return _first(value if isinstance(value, list) else [] if value is None else [value], order.direction)
    assert isinstance(order.by, Count)
    hop = Hop("T", order.by.rel, "n", order.by.to_label, order.by.direction)
    counted = [node for node in graph.nodes if order.by.to_label in ("*", node.type)]
    pairs = _pairs(graph, hop)
    joined = [node.key for node in counted if (among is None or node.key in among) and (key, node.key) in pairs]
    if order.by.function is None:
        return len(joined)
    first = Order(order.by.of, "desc" if order.by.function == "max" else "asc")
    return _made_of(order.by.function, [value_of(graph, first, one) for one in joined])


def _first(items: Iterable[Any], direction: str) -> Any:
    ranked = sorted(items, key=lambda item: (isinstance(item, str), item))
    return None if not ranked else ranked[0] if direction == "asc" else ranked[-1]


def edge_values(graph: Graph, linked: LinkedPlan, of: EdgeField) -> dict[int, list[Any]]:
    """Return key of T → the values of a field of all edges that a hop takes from it in any match, each edge once."""
    plan = linked.plan
    target = plan.target.var
    [hop] = [one for one in plan.hops if {one.source, one.to_var} == {target, of.var}]
    taken: dict[int, set[tuple[int, str, int]]] = {}
    for match, _ in matches(graph, replace(linked, plan=replace(plan, order=None))):
        edges = taken.setdefault(match[target], set())
        for edge in set(graph.edges):
            for way, ends in (("out", (edge[0], edge[2])), ("in", (edge[2], edge[0]))):
                same = ends == (match[hop.source], match[hop.to_var]) and hop.rel in ("*", edge[1])
                if same and hop.direction in (None, way) and _fits(graph, edge, hop):
                    edges.add(edge)
    return {
        key: sorted(item for edge in edges for item in _listed(graph.properties.get(edge, {}).get(of.field)))
        for key, edges in taken.items()
    }


def _fits(graph: Graph, edge: tuple[int, str, int], hop: Hop) -> bool:
    fields = graph.properties.get(edge, {})
    return all(_items_pass(_listed(fields.get(one.field)), one) for one in hop.where)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def candidates(graph: Graph, linked: LinkedPlan) -> dict[int, float]:
    """Return key → best score of every node that the target takes in a match, whatever the order.

    The score of a match is the sum of its anchors' cosines.
    """
    best: dict[int, float] = {}
    for match, score in matches(graph, linked):
        key = match[linked.plan.target.var]
        best[key] = max(score, best.get(key, float("-inf")))
    return best


def matches(
    graph: Graph, linked: LinkedPlan, standing: Mapping[str, int] | None = None
) -> Iterator[tuple[Mapping[str, int], float]]:
    """Yield every match (variable → key) with its score; with `standing` those that agree with these assignments."""
    plan, trial = linked.plan, Trial(graph, linked)
    standing = standing or {}
    anchors = [anchor.var for anchor in plan.anchors]
    free = [var for var in plan.variables if var not in anchors]
    for bindings in itertools.product(*(linked.bindings_of(var) for var in anchors)):
        bound = {var: binding.node.key for var, binding in zip(anchors, bindings, strict=True)}
        if any(standing.get(var, key) != key for var, key in bound.items()):
            continue
        score = sum(binding.score for binding in bindings)
        choices = ({standing[var]} if var in standing else sorted(trial.fitting[var]) for var in free)
        for keys in itertools.product(*choices):
            match = bound | dict(zip(free, keys, strict=True))
            if trial.is_match(match):
                yield match, score


class Trial:
    """A plan that is tried on a graph; what is the same for all assignments of nodes is found once."""

    def __init__(self, graph: Graph, linked: LinkedPlan) -> None:
        self._graph, self._linked = graph, linked
        plan = linked.plan
        self.fitting = {var: set(_fitting(graph, linked, var)) for var in plan.variables}
        self._bound = {anchor.var: {b.node.key for b in linked.bindings_of(anchor.var)} for anchor in plan.anchors}
        self._hops = [(hop.source, hop.to_var, _pairs(graph, hop)) for hop in plan.hops]
        self._excluded: dict[tuple[int, int], bool] = {}
        self._starts = [_start(linked, index) for index in range(len(plan.exclude))]

    def is_match(self, match: Mapping[str, int], *, anchored: bool = True) -> bool:
        """Return whether an assignment of nodes to all variables satisfies the plan; `anchored`: it needs an anchor."""
        plan, nodes = self._linked.plan, self._graph.nodes
        given = plan.anchors or plan.hops or plan.filters or plan.exclude or plan.order
        if anchored and not (given or plan.ask in ("sum", "mean", "min", "max")):
            return False
        for var, keys in self._bound.items():
            if match[var] not in keys or any(match[other] == match[var] for other in self.fitting if other != var):
                return False
        if not all(match[var] in keys for var, keys in self.fitting.items()):
            return False
        if not all((match[source], match[to_var]) in pairs for source, to_var, pairs in self._hops):
            return False
        for f in plan.filters:
            if isinstance(f.value, FieldOf):
                one, other = nodes[match[f.var]], nodes[match[f.value.var]]
                equal = any(_holds(a, "=", b) for a in _all(one, f.field) for b in _all(other, f.value.field))
                holds = any(_holds(a, f.op, b) for a in _all(one, f.field) for b in _all(other, f.value.field))
                if not (holds if f.op != "!=" else not equal):
                    return False
        return not any(self._is_excluded(index, match[start]) for index, start in enumerate(self._starts))

    def _is_excluded(self, index: int, key: int) -> bool:
        if (index, key) not in self._excluded:
            self._excluded[index, key] = _is_excluded(self._graph, self._linked, index, key)
        return self._excluded[index, key]


def _start(linked: LinkedPlan, index: int) -> str:
    """Return the variable of the plan that an exclusion begins at."""
    pattern = linked.plan.exclude[index]
    names = {a.var for a in pattern.anchors} | {end for hop in pattern.hops for end in (hop.source, hop.to_var)}
    [start] = [var for var in names if var in linked.plan.variables]
    return start


def _is_excluded(graph: Graph, linked: LinkedPlan, index: int, key: int) -> bool:
    """Whether the pattern of an exclusion has a match that begins at a node; none if an anchor is unbound."""
    pattern = linked.plan.exclude[index]
    alone = LinkedPlan(
        Plan(pattern.anchors, pattern.hops, Target(_start(linked, index)), pattern.filters),
        tuple(replace(b, exclusion=None) for b in linked.bindings if b.exclusion == index),
    )
    return key in matching(graph, alone, [key])


def matching(graph: Graph, linked: LinkedPlan, keys: Iterable[int]) -> set[int]:
    """Return those of the keys that the target takes in a match; a plan without anchors may be matched too."""
    plan, trial = linked.plan, Trial(graph, linked)
    free = [var for var in plan.variables if var != plan.target.var]
    if any(not linked.bindings_of(anchor.var) for anchor in plan.anchors):
        return set()
    fitting = {var: sorted(trial.fitting[var]) for var in free}
    for anchor in plan.anchors:
        bound = {binding.node.key for binding in linked.bindings_of(anchor.var)}
        fitting[anchor.var] = [key for key in fitting.get(anchor.var, ()) if key in bound]
    found = set()
    for key in keys:
        choices = (fitting[var] for var in free)
        matches = (
            {plan.target.var: key} | dict(zip(free, chosen, strict=True)) for chosen in itertools.product(*choices)
        )
        if any(trial.is_match(match, anchored=False) for match in matches):
            found.add(key)
    return found


def statuses(  # noqa: C901
    graph: Graph, linked: LinkedPlan, key: int
) -> tuple[bool, dict[str, bool], list[bool], list[bool], list[bool]]:
    """Say whether a node meets a plan as a whole, and each of its anchors, hops, filters and exclusions.

    An anchor is met by its chain to the target without any filter but comparisons that connect it. A hop is met with
    one of the anchors whose chains it is on; one that is on none by its chain from the target. A filter is met by the
    target's own fields, or by the chain to its variable together with the filter; a comparison by the chains of both
    its variables. An exclusion is met like a filter on the variable that it begins at.
    """
    plan = linked.plan
    target = plan.target.var

    def ends(chain: Chain) -> set[str]:
        compared = {var for f in chain[1] for var in (f.var, f.value.var)}
        return {end for hop in chain[0] for end in (hop.source, hop.to_var)} | compared

    def holds(
        chain: Chain, anchors: Iterable[str], filters: tuple[Filter, ...] = (), excluded: int | None = None
    ) -> bool:
        kept = tuple(anchor for anchor in plan.anchors if anchor.var in anchors)
        several = (*chain[1], *filters)
        exclude = (plan.exclude[excluded],) if excluded is not None else ()
        part = replace(plan, anchors=kept, hops=chain[0], filters=several, exclude=exclude, order=None)
        bindings = tuple(
            b if b.exclusion is None else replace(b, exclusion=0)
            for b in linked.bindings
            if b.exclusion in (None, excluded)
        )
        return key in matching(graph, replace(linked, plan=part, bindings=bindings), [key])

    def hop_is_met(hop: Hop) -> bool:
        on = [var for var in bound if hop in plan.chain(var)[0]]
        if on:
            return any(anchors[var] for var in on)
        chains = [plan.chain(end) for end in (hop.source, hop.to_var) if end == target or any(plan.chain(end))]
        hops, compared = min(chains, key=lambda chain: len(chain[0]) + len(chain[1]))
        chain = ((*hops, hop), compared)
        return holds(chain, ends(chain) - {target})

    def of_variable(var: str, filters: tuple[Filter, ...], excluded: int | None) -> bool:
        on = [var] if var in bound else [a for a in bound if var in ends(plan.chain(a))]
        if on:
            return any(holds(plan.chain(a), {a}, filters, excluded) for a in on)
        return holds(plan.chain(var), ends(plan.chain(var)) - {target}, filters, excluded)

    def filter_is_met(condition: Filter) -> bool:
        if isinstance(condition.value, FieldOf):
            one, other = plan.chain(condition.var), plan.chain(condition.value.var)
            both = ((*one[0], *other[0]), (*one[1], *other[1], condition))
            return holds(both, ends(both) - {target})
        if condition.var == target and condition.count is not None:
            return _counts(graph, linked, condition, key)
        if condition.var == target:
            return _passes(graph.nodes[key], condition)
        return of_variable(condition.var, (condition,), None)

    def exclusion_is_met(index: int) -> bool:
        start = _start(linked, index)
        if start == target:
            return not _is_excluded(graph, linked, index, key)
        return of_variable(start, (), index)

    bound = [anchor.var for anchor in plan.anchors]
    anchors = {var: holds(plan.chain(var), {var}) for var in bound}
    whole = key in matching(graph, linked, [key])
    return (
        whole, anchors, [hop_is_met(hop) for hop in plan.hops], [filter_is_met(f) for f in plan.filters],
        [exclusion_is_met(index) for index in range(len(plan.exclude))],
    )  # fmt: skip


def is_valid(graph: Graph, linked: LinkedPlan, paths: tuple[Path, ...], key: int) -> bool:
    """Return whether the paths of one match follow stored edges and agree with a match.

    There is one for each anchor that hops connect with the target.
    """
    plan = linked.plan
    anchors = [anchor for anchor in plan.anchors if _leads(plan, anchor.var)]
    if len(paths) != len(anchors):
        return False
    standing: dict[str, int] = {}
    for anchor, path in zip(anchors, paths, strict=True):
        if path.nodes[0].var != anchor.var or path.nodes[-1].var != plan.target.var:
            return False
        if path.nodes[-1].node.key != key or len(path.edges) != len(path.nodes) - 1:
            return False
        for step in path.nodes:
            if standing.setdefault(step.var, step.node.key) != step.node.key:
                return False
        for edge, here, there in zip(path.edges, path.nodes, path.nodes[1:], strict=False):
            ends = (here.node.key, there.node.key) if edge.direction == "out" else (there.node.key, here.node.key)
            if (ends[0], edge.relation, ends[1]) not in graph.edges:
                return False
    return any(True for _ in matches(graph, linked, standing))


def _leads(plan: Plan, var: str) -> bool:
    reached = {var}
    for _ in plan.hops:
        for hop in plan.hops:
            reached |= {hop.source, hop.to_var} if reached & {hop.source, hop.to_var} else set()
    return plan.target.var in reached


def _counts(graph: Graph, linked: LinkedPlan, condition: Filter, key: int) -> bool:
    """Whether the number of nodes that a node is joined with meets a filter on a count."""
    assert condition.count is not None
    among = counted_among(graph, linked, condition.count)
    number, value = value_of(graph, Order(condition.count), key, among), condition.value
    if number is None:
        return False
    low, high = value if condition.op == "between" else (value, value)
    compared = {"=": number == low, "!=": number != low, "<": number < low, "<=": number <= low, ">": number > low,
                ">=": number >= low, "between": low <= number <= high}  # fmt: skip
    return bool(compared[condition.op])


def _fitting(graph: Graph, linked: LinkedPlan, var: str) -> list[int]:
    plan = linked.plan
    wanted: list[set[str]] = []
    for anchor in plan.anchors:
        if anchor.var == var and anchor.label != "*":
            wanted.append({anchor.label})
    for hop in plan.hops:
        if hop.to_var == var and hop.to_label != "*":
            wanted.append({hop.to_label})
    if plan.target.var == var and plan.target.labels:
        wanted.append(set(plan.target.labels))
    filters = [f for f in plan.filters if f.var == var and f.count is None and not isinstance(f.value, FieldOf)]
    counted = [f for f in plan.filters if f.var == var and f.count is not None]
    return [
        node.key
        for node in graph.nodes
        if all(node.type in labels for labels in wanted)
        and all(_passes(node, condition) for condition in filters)
        and all(_counts(graph, linked, condition, node.key) for condition in counted)
    ]


def _pairs(graph: Graph, hop: Hop) -> set[tuple[int, int]]:
    """Return the keys of source and target of every step that a hop allows."""
    fitting = [edge for edge in graph.edges if hop.rel in ("*", edge[1]) and _fits(graph, edge, hop)]
    edges = [(start, end) for start, _, end in fitting]
    along = edges if hop.direction in (None, "out") else []
    against = [(end, start) for start, end in edges] if hop.direction in (None, "in") else []
    return {*along, *against}


def _all(node: Node, field: str) -> list[Any]:
    return _listed(node.name if field == "name" else node.fields.get(field))


def _passes(node: Node, condition: Filter) -> bool:
    return _items_pass(_all(node, condition.field), condition)


def _items_pass(items: list[Any], condition: Filter) -> bool:
    if condition.op in ("exists", "missing"):
        return bool(items) == (condition.op == "exists")
    if condition.op in ("!=", "not in", "not contains"):
        unlike = {"!=": "=", "not in": "in", "not contains": "contains"}[condition.op]
        return not any(_holds(item, unlike, condition.value) for item in items)
    return any(_holds(item, condition.op, condition.value) for item in items)


def _holds(item: object, op: str, value: object) -> bool:
    if op == "in":
        return isinstance(value, list) and any(_holds(item, "=", one) for one in value)
    if op == "between":
        assert isinstance(value, list)
        return _holds(item, ">=", value[0]) and _holds(item, "<=", value[1])
    if op == "!=" or isinstance(item, str) != isinstance(value, str):
        return False
    if isinstance(item, str) and isinstance(value, str):
        if op == "=":
            return item.lower() == value.lower()
        if op == "contains":
            return value.lower() in item.lower()
        return _ordered(item.encode(), op, value.encode())
    return item == value if op == "=" else _ordered(item, op, value)


def _ordered(item: object, op: str, value: object) -> bool:
    compare = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
    return compare[op](item, value)
