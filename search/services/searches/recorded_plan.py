"""recorded_plan: a plan of a finished search with its recorded bindings, so that it can be executed again."""

from __future__ import annotations

from search import wiring
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Plan
from search.services.searches.describe_search import Outputs


def recorded_plan(output: Outputs, index: int, tools: wiring.Tools) -> LinkedPlan:
    """Return the plan with this index, bound to the nodes that the search bound it to."""
    plan = Plan.parse(output.plans.entries[index].plan.to_json(), tools.schema)
    return LinkedPlan(plan, _bindings(output, index, tools), index)


def _bindings(output: Outputs, index: int, tools: wiring.Tools) -> tuple[Binding, ...]:
    """Return the recorded bindings of the anchors of the plan with this index; nodes that are gone are left out."""
    bound = [
        (anchor.anchor, binding.id, binding.score, anchor.exclude)
        for anchors in output.links.plans
        for anchor in anchors
        if anchor.plan_index == index
        for binding in anchor.bindings
    ]
    keys = tools.nodes.keys([identifier for _, identifier, _, _ in bound])
    known = [(*one, key) for one, key in zip(bound, keys, strict=True) if key is not None]
    nodes = tools.nodes.references([key for *_, key in known])
    return tuple(
        Binding(var, node, score, exclusion) for (var, _, score, exclusion, _), node in zip(known, nodes, strict=True)
    )
