"""The strict form in which servers are asked for plans: what it allows is what `Plan.parse` reads."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from search.domain.plan import Count, Plan
from search.domain.plan.json_schema import plan_json_schema
from tests.search.demo_schema import demo_schema

SCHEMA = demo_schema("products")
STRICT = Draft202012Validator(plan_json_schema(SCHEMA))


def most_of_oak(**count: Any) -> dict[str, Any]:
    """Return the plan of *the brand with the most products made of oak*."""
    return {
        "anchors": [{"var": "A1", "text": "oak", "label": "material", "match_mode": "name", "plan": None}],
        "hops": [
            {"from": "A1", "rel": "MADE_OF", "to_var": "x", "to_label": "product", "direction": "in"},
            {"from": "x", "rel": "HAS_BRAND", "to_var": "T", "to_label": "brand", "direction": "out"},
        ],
        "target": {"var": "T", "labels": ["brand"], "relevance_text": ""},
        "filters": [], "exclude": [], "ask": "which", "show": "", "risk_level": "aggressive",
        "order": {"by": {"count": {"rel": "HAS_BRAND", "direction": "in", "to_label": "product", **count}},
                  "direction": "desc", "limit": 1},
    }  # fmt: skip


@pytest.mark.parametrize("among", ["x", ""])
def test_a_count_among_the_nodes_of_a_variable_is_a_plan_that_may_be_written(among: str) -> None:
    written = most_of_oak(among=among)
    assert list(STRICT.iter_errors(written)) == []
    order = Plan.parse(written, SCHEMA).order
    assert order is not None
    assert order.by == Count("HAS_BRAND", "in", "product", among)


def test_every_key_must_be_written() -> None:
    assert [one.message for one in STRICT.iter_errors(most_of_oak())] != []


INSIDE: dict[str, Any] = {
    "anchors": [], "hops": [], "target": {"var": "X", "labels": ["brand"]}, "filters": [], "exclude": [],
    "order": {"by": {"field": "founded"}, "direction": "asc", "limit": 1},
}  # fmt: skip


def of_the(inside: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """Return the plan of *the average price of products of …*, in which a plan may say whose."""
    anchor = {"var": "A1", "text": "oldest brand", "label": "brand", "match_mode": "name", "plan": inside}
    hop = {"from": "A1", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product", "direction": None}
    return most_of_oak(among="") | {
        "anchors": [anchor], "hops": [hop], "target": {"var": "T", "labels": ["product"], "relevance_text": ""},
        "order": None, "ask": "mean", "show": "price",
    } | more  # fmt: skip


def test_a_plan_inside_an_anchor_and_an_aggregate_may_be_written() -> None:
    written = of_the(INSIDE)
    assert list(STRICT.iter_errors(written)) == []
    plan = Plan.parse(written, SCHEMA)
    assert (plan.ask, plan.show) == ("mean", "price")
    assert plan.anchors[0].plan == Plan.parse(INSIDE, SCHEMA)
    assert list(STRICT.iter_errors(of_the(None))) == []
    assert Plan.parse(of_the(None), SCHEMA).anchors[0].plan is None


def test_a_plan_inside_says_nothing_that_only_the_whole_plan_can_say_and_holds_no_further_one() -> None:
    for wrong in ({"ask": "sum"}, {"show": "founded"}, {"risk_level": "weak"}):
        assert list(STRICT.iter_errors(of_the(INSIDE | wrong))) != []
    assert list(STRICT.iter_errors(of_the(INSIDE | {"target": INSIDE["target"] | {"relevance_text": "old"}}))) != []
    deeper = of_the(INSIDE)["anchors"][0]
    assert list(STRICT.iter_errors(of_the(INSIDE | {"anchors": [deeper]}))) != []
