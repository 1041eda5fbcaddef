"""Random plans with all parts of the plan language: exclusions, order, comparisons, negated filters, no anchors."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import AGGREGATES, Anchor, Ask, Count, Exclusion, FieldOf, Filter, Hop, Order, Plan
from search.domain.plan.parts import COUNTING
from tests.oracle import Graph

FIELDS = ("name", "year", "title", "tags")
NEGATIVE = ("!=", "not in", "not contains", "exists", "missing")
ASKS: tuple[Ask, ...] = ("which", "how many", "whether", "sum", "mean", "min", "max")


def with_new_parts(
    rng: random.Random, graph: Graph, linked: LinkedPlan, values: Sequence[object], parts: Sequence[str] = ()
) -> LinkedPlan:
    """Return a variant of a plan with one or more of the new parts, or without its anchors.

    `parts` names them: `exclude` (once or twice), `order`, `compare`, `negative`, `count`, `aggregate`, and `type` for
    no anchors. Without any, they are drawn.
    """
    plan = linked.plan
    bindings = list(linked.bindings)
    parts = parts or rng.sample(
        ("exclude", "exclude", "order", "compare", "negative", "count", "aggregate", "type"), rng.randint(1, 3)
    )
    if "type" in parts:
        plan, bindings = replace(plan, anchors=()), []
        plan = replace(plan, filters=plan.filters or (_negative(rng, plan, values),))
        linked = replace(linked, bindings=())
    if "compare" in parts:
        plan, bindings = _comparing(rng, graph, plan, bindings)
    if "negative" in parts:
        plan = replace(plan, filters=(*plan.filters, _negative(rng, plan, values)))
    if "count" in parts:
        plan = replace(plan, filters=(*plan.filters, _counting(rng, graph, plan)))
    for _ in range(list(parts).count("exclude")):
        plan, bindings = _excluding(rng, graph, plan, bindings, values)
    if "order" in parts:
        plan = replace(plan, order=_order(rng, graph))
    if "aggregate" in parts:
        plan = replace(plan, ask=rng.choice(AGGREGATES), show=rng.choice(FIELDS[1:]))
    return replace(linked, plan=plan, bindings=tuple(bindings))


def _negative(rng: random.Random, plan: Plan, values: Sequence[object]) -> Filter:
    op = rng.choice(NEGATIVE)
    value: object = rng.choice(values)
    if op == "not in":
        value = rng.sample(list(values), rng.randint(0, 3))
    elif op == "not contains":
        value = rng.choice([one for one in values if isinstance(one, str)])
    elif op in ("exists", "missing"):
        value = None
    return Filter(rng.choice(plan.variables), rng.choice(FIELDS), op, value)


def _counting(rng: random.Random, graph: Graph, plan: Plan) -> Filter:
    """Compare the number of nodes that one of the plan's variables is joined with."""
    by = None
    while not isinstance(by, Count):
        by = _order(rng, graph).by
    op = rng.choice(COUNTING)
    return Filter(
        rng.choice(plan.variables), "", op, [1, rng.randint(1, 3)] if op == "between" else rng.randint(0, 2), by
    )


def _comparing(rng: random.Random, graph: Graph, plan: Plan, bindings: list[Binding]) -> tuple[Plan, list[Binding]]:
    """Compare two variables of the plan, or the target with an anchor that no hop connects with it."""
    if rng.random() < 0.4 and len(plan.anchors) < 3:
        several = rng.sample(graph.nodes, rng.randint(1, 2))
        bindings = [*bindings, *(Binding("c", node, round(rng.uniform(0.1, 1), 3)) for node in several)]
        plan = replace(plan, anchors=(*plan.anchors, Anchor("c", "c")))
        sides = ["T", "c"]
    else:
        sides = [rng.choice(plan.variables), rng.choice(plan.variables)]
    rng.shuffle(sides)
    op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
    # Every node has a name, and not every one has the other fields: half of the comparisons are of names.
    fields = ("name", "name") if rng.random() < 0.5 else (rng.choice(FIELDS), rng.choice(FIELDS))
    condition = Filter(sides[0], fields[0], op, FieldOf(sides[1], fields[1]))
    return replace(plan, filters=(*plan.filters, condition)), bindings


def _excluding(
    rng: random.Random, graph: Graph, plan: Plan, bindings: list[Binding], values: Sequence[object]
) -> tuple[Plan, list[Binding]]:
    """Add a pattern that begins at a variable of the plan: up to two hops, to an anchor or to any node."""
    index = len(plan.exclude)
    start = rng.choice(["T", rng.choice(plan.variables)])
    types, relations = sorted({node.type for node in graph.nodes}), sorted({edge[1] for edge in graph.edges}) or ["has"]
    chain = [start, *(f"e{i}" for i in range(rng.randint(0, 2)))]
    if len(chain) == 1 and start in {anchor.var for anchor in plan.anchors}:
        chain.append("e0")
    hops = []
    for one, two in itertools.pairwise(chain):
        ends = (one, two) if rng.random() < 0.5 else (two, one)
        label = rng.choice(("*", "*", rng.choice(types)))
        hops.append(Hop(ends[0], rng.choice((*relations, "*")), ends[1], label, rng.choice((None, None, "out", "in"))))
    anchors = ()
    if len(chain) == 1 or rng.random() < 0.6:
        anchors = (Anchor(chain[-1], f"excluded {index}"),)
        several = [] if rng.random() < 0.05 else rng.sample(graph.nodes, rng.randint(1, 2))
        bindings = [*bindings, *(Binding(chain[-1], node, 0.5, index) for node in several)]
    own = [var for var in chain if hops] or chain
    filters = (replace(_negative(rng, plan, values), var=rng.choice(own)),) if rng.random() < 0.2 else ()
    return replace(plan, exclude=(*plan.exclude, Exclusion(anchors, tuple(hops), filters))), bindings


def _order(rng: random.Random, graph: Graph) -> Order:
    relations = sorted({edge[1] for edge in graph.edges}) or ["has"]
    types = sorted({node.type for node in graph.nodes})
    by: str | Count = rng.choice(FIELDS)
    if rng.random() < 0.5:
        label = rng.choice(("*", rng.choice(types)))
        by = Count(rng.choice((*relations, "*")), rng.choice((None, "out", "in")), label)
        if rng.random() < 0.4:
            counted = Count(rng.choice(relations), rng.choice((None, "out", "in")))
            of = counted if rng.random() < 0.3 else rng.choice(FIELDS[1:])
            by = replace(by, function=rng.choice(AGGREGATES), of=of)
    return Order(by, rng.choice(("asc", "desc")), rng.choice((None, None, 1, 2, 3)))


def rebound(rng: random.Random, graph: Graph, linked: LinkedPlan, values: Sequence[object]) -> LinkedPlan:
    """Return a plan of the same shape about other things: other nodes, values, places, and another kind of answer.

    Every anchor of it is bound.
    The statement that an engine makes of a plan depends on its shape, so plans of one shape share a compiled statement.
    """
    plan = linked.plan
    bindings = [
        Binding(anchor.var, node, round(rng.uniform(0.1, 1), 3), exclusion)
        for exclusion, anchor in plan.all_anchors
        for node in rng.sample(graph.nodes, rng.randint(1, 2 if exclusion is not None else 5))
    ]
    plan = replace(
        plan,
        filters=tuple(_revalued(rng, one, values) for one in plan.filters),
        exclude=tuple(
            replace(one, filters=tuple(_revalued(rng, own, values) for own in one.filters)) for one in plan.exclude
        ),
        order=plan.order
        and replace(plan.order, direction=rng.choice(("asc", "desc")), limit=rng.choice((None, None, 1, 2, 3))),
        ask=rng.choice(ASKS),
        show=rng.choice(FIELDS[1:]),
    )
    return replace(linked, plan=plan, bindings=tuple(bindings))


def _revalued(rng: random.Random, condition: Filter, values: Sequence[object]) -> Filter:
    """Return the filter with other values, each of the kind that it was."""

    def other(value: object) -> object:
        return rng.choice([one for one in values if isinstance(one, str) == isinstance(value, str)])

    if condition.value is None or condition.count is not None or isinstance(condition.value, FieldOf):
        return condition
    if isinstance(condition.value, list):
        return replace(condition, value=[other(one) for one in condition.value])
    return replace(condition, value=other(condition.value))
