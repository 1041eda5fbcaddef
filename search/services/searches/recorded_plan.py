"""recorded_plan: a plan of a finished search with its recorded bindings, so that it can be executed again."""

from __future__ import annotations

from search import wiring
from search.bindings import bindings
from search.domain.linking import LinkedPlan
from search.domain.plan import Plan
from search.services.searches.describe_search import Outputs


def recorded_plan(output: Outputs, index: int, tools: wiring.Tools) -> LinkedPlan:
    """Return the plan with this index, bound to the nodes that the search bound it to; nodes that are gone are not."""
    plan = Plan.parse(output.plans.entries[index].plan.to_json(), tools.schema)
    bound = (
        (anchor.anchor, anchor.exclude, binding.id, binding.score)
        for anchors in output.links.plans
        for anchor in anchors
        if anchor.plan_index == index
        for binding in anchor.bindings
    )
    return LinkedPlan(plan, bindings(bound, tools.nodes), index)
