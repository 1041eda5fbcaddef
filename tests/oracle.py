"""The definition of a match as brute force: the oracle for every engine that executes plans.

It follows the definition in docs/architecture.md, ignores speed, and shares no code with the engines.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from search.domain.evidence import Path
from search.domain.graph import Node
from search.domain.linking import LinkedPlan
from search.domain.plan import Anchor, Filter, Hop


@dataclass(frozen=True)
class Graph:
    """Nodes by key, and edges as (source key, relation, target key) in stored direction, parallel edges included."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, str, int], ...]


def candidates(graph: Graph, linked: LinkedPlan) -> dict[int, float]:
    """Return key → best score of every node that the target takes in a match.

    The score of a match is the sum of its anchors' cosines.
    """
    best: dict[int, float] = {}
    for match, score in matches(graph, linked):
        key = match[linked.plan.target.var]
        best[key] = max(score, best.get(key, float("-inf")))
    return best


def matches(graph: Graph, linked: LinkedPlan) -> Iterator[tuple[Mapping[str, int], float]]:
    """Yield every match (variable → key) with its score."""
    plan = linked.plan
    anchors = [anchor.var for anchor in plan.anchors]
    free = [var for var in plan.variables if var not in anchors]
    for bindings in itertools.product(*(linked.bindings_of(var) for var in anchors)):
        bound = {var: binding.node.key for var, binding in zip(anchors, bindings, strict=True)}
        score = sum(binding.score for binding in bindings)
        for keys in itertools.product(*(_fitting(graph, linked, var) for var in free)):
            match = bound | dict(zip(free, keys, strict=True))
            if is_match(graph, linked, match):
                yield match, score


def is_match(graph: Graph, linked: LinkedPlan, match: Mapping[str, int], *, anchored: bool = True) -> bool:
    """Return whether an assignment of nodes to all variables satisfies the plan; with `anchored` it needs an anchor."""
    plan = linked.plan
    if anchored and not plan.anchors:
        return False
    for anchor in plan.anchors:
        if match[anchor.var] not in {binding.node.key for binding in linked.bindings_of(anchor.var)}:
            return False
        if any(match[var] == match[anchor.var] for var in plan.variables if var != anchor.var):
            return False
    if not all(match[var] in _fitting(graph, linked, var) for var in plan.variables):
        return False
    return all(_joined(graph, hop, match[hop.source], match[hop.to_var]) for hop in plan.hops)


def matching(graph: Graph, linked: LinkedPlan, keys: Iterable[int]) -> set[int]:
    """Return those of the keys that the target takes in a match; a plan without anchors may be matched too."""
    plan = linked.plan
    free = [var for var in plan.variables if var != plan.target.var]
    fitting = {var: _fitting(graph, linked, var) for var in free}
    for anchor in plan.anchors:
        bound = {binding.node.key for binding in linked.bindings_of(anchor.var)}
        fitting[anchor.var] = [key for key in fitting.get(anchor.var, ()) if key in bound]
    found = set()
    for key in keys:
        choices = (fitting[var] for var in free)
        matches = (
            {plan.target.var: key} | dict(zip(free, chosen, strict=True)) for chosen in itertools.product(*choices)
        )
        if any(is_match(graph, linked, match, anchored=False) for match in matches):
            found.add(key)
    return found


def statuses(graph: Graph, linked: LinkedPlan, key: int) -> tuple[bool, dict[str, bool], list[bool], list[bool]]:
    """Say whether a node meets a plan as a whole, each of its anchors, hops and filters.

    An anchor is met by its chain to the target without any filter. A hop is met with one of the anchors whose chains it
    is on; one that is on none by its chain from the target. A filter is met by the target's own fields, or by the chain
    to its variable together with the filter.
    """
    plan = linked.plan
    target = plan.target.var

    def chain(var: str) -> tuple[Hop, ...]:
        return replace(plan, anchors=(Anchor(var, var),)).branch(var).hops

    def holds(hops: Iterable[Hop], anchors: Iterable[str], filters: tuple[Filter, ...] = ()) -> bool:
        kept = tuple(anchor for anchor in plan.anchors if anchor.var in anchors)
        part = replace(plan, anchors=kept, hops=tuple(hops), filters=filters)
        return key in matching(graph, replace(linked, plan=part), [key])

    def hop_is_met(hop: Hop) -> bool:
        on = [var for var in bound if hop in chain(var)]
        if on:
            return any(anchors[var] for var in on)
        near = min((chain(end) for end in (hop.source, hop.to_var) if end == target or chain(end)), key=len)
        hops = {*near, hop}
        return holds(hops, {end for one in hops for end in (one.source, one.to_var)} - {target})

    def filter_is_met(condition: Filter) -> bool:
        var = condition.var
        if var == target:
            return _passes(graph.nodes[key], condition)
        on = [a for a in bound if any(var in (hop.source, hop.to_var) for hop in chain(a))]
        if var in bound:
            on = [var]
        if on:
            return any(holds(chain(a), {a}, (condition,)) for a in on)
        ends = {end for hop in chain(var) for end in (hop.source, hop.to_var)}
        return holds(chain(var), ends - {target}, (condition,))

    bound = [anchor.var for anchor in plan.anchors]
    anchors = {var: holds(chain(var), {var}) for var in bound}
    whole = key in matching(graph, linked, [key])
    return whole, anchors, [hop_is_met(hop) for hop in plan.hops], [filter_is_met(f) for f in plan.filters]


def is_valid(graph: Graph, linked: LinkedPlan, paths: tuple[Path, ...], key: int) -> bool:
    """Return whether the paths of one match, one for each anchor, follow stored edges and agree with a match."""
    plan = linked.plan
    if len(paths) != len(plan.anchors):
        return False
    standing: dict[str, int] = {}
    for anchor, path in zip(plan.anchors, paths, strict=True):
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
    return any(all(match[var] == node for var, node in standing.items()) for match, _ in matches(graph, linked))


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
    filters = [condition for condition in plan.filters if condition.var == var]
    return [
        node.key
        for node in graph.nodes
        if all(node.type in labels for labels in wanted) and all(_passes(node, condition) for condition in filters)
    ]


def _joined(graph: Graph, hop: Hop, source: int, target: int) -> bool:
    for start, relation, end in graph.edges:
        if hop.rel not in ("*", relation):
            continue
        if hop.direction in (None, "out") and (start, end) == (source, target):
            return True
        if hop.direction in (None, "in") and (end, start) == (source, target):
            return True
    return False


def _passes(node: Node, condition: Filter) -> bool:
    value = node.name if condition.field == "name" else node.fields.get(condition.field)
    if value is None:
        return False
    items = value if isinstance(value, list) else [value]
    return any(_holds(item, condition.op, condition.value) for item in items)


def _holds(item: object, op: str, value: object) -> bool:
    if op == "in":
        return isinstance(value, list) and any(_holds(item, "=", one) for one in value)
    if op == "between":
        assert isinstance(value, list)
        return _holds(item, ">=", value[0]) and _holds(item, "<=", value[1])
    if isinstance(item, str) != isinstance(value, str):
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
