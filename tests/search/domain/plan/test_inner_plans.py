"""An anchor may be a plan, whose answers are its nodes: how it is read, written, refused and compared."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.errors import PlanInvalid
from search.domain.mending import mend
from search.domain.payloads.plans import plan_from_json
from search.domain.plan import MAX_DEPTH, Plan
from search.domain.plan.normal_form import contradictions, normal_form
from tests.search.domain.shop import SHOP

OLDEST: dict[str, Any] = {
    "target": {"var": "B", "labels": ["brand"]},
    "order": {"by": {"field": "founded"}, "direction": "asc", "limit": 1},
}
MADE: dict[str, Any] = {"from": "T", "rel": "HAS_BRAND", "to_var": "b"}


def of(inner: object, **more: Any) -> dict[str, Any]:
    """Return the plan *products of …*, in which the brand is a plan."""
    return {
        "anchors": [{"var": "b", "plan": inner} | more],
        "hops": [MADE],
        "target": {"var": "T", "labels": ["product"]},
    }


def nested(depth: int) -> dict[str, Any]:
    """Return a plan with plans inside it, `depth` deep: products bought with products of the oldest brand."""
    if depth == 1:
        return OLDEST
    inner = nested(depth - 1)
    hop = {"from": "T", "rel": "HAS_BRAND" if depth == 2 else "ALSO_BUY", "to_var": "b"}
    return {"anchors": [{"var": "b", "plan": inner}], "hops": [hop], "target": {"var": "T", "labels": ["product"]}}


def faults(plan: object) -> dict[str, str]:
    with pytest.raises(PlanInvalid) as caught:
        Plan.parse(plan, SHOP)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def test_it_is_read_back_as_it_was_written_from_the_format_and_from_a_recorded_search() -> None:
    plan = Plan.parse(of(OLDEST), SHOP)
    [anchor] = plan.anchors
    assert anchor.plan == Plan.parse(OLDEST, SHOP)
    assert (anchor.text, anchor.label, anchor.ids) == ("brand with the lowest founded", "brand", ())
    assert Plan.parse(plan.to_json(), SHOP) == plan
    assert plan_from_json(plan.to_json()) == plan


def test_its_wording_is_kept_where_one_is_given() -> None:
    assert Plan.parse(of(OLDEST, text="the oldest brand"), SHOP).anchors[0].text == "the oldest brand"


def test_every_fault_inside_has_the_pointer_from_the_whole_plan() -> None:
    wrong = {
        "target": {"var": "B", "labels": ["brandt"], "relevance_text": "nice"},
        "ask": "how many",
        "order": {"by": {"field": "founded"}, "limit": 0},
    }
    found = faults(of(wrong))
    assert found.keys() == {
        "/anchors/0/plan/target/labels/0", "/anchors/0/plan/target/relevance_text", "/anchors/0/plan/ask",
        "/anchors/0/plan/order/limit",
    }  # fmt: skip
    assert "Did you mean 'brand'?" in found["/anchors/0/plan/target/labels/0"]


def test_a_field_that_the_inner_answers_lack_is_refused_at_its_place() -> None:
    wrong = OLDEST | {"order": {"by": {"field": "fonded"}, "limit": 1}}
    assert faults(of(wrong)).keys() == {"/anchors/0/plan/order/by/field"}


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        ("the oldest brand", "an object as the whole plan is, not a string"),
        ({"target": {"var": "B", "labels": ["brand"]}}, "A plan inside another one needs a starting point"),
        (nested(MAX_DEPTH), f"Plans are nested at most {MAX_DEPTH} deep"),
    ],
)
def test_what_cannot_be_executed_as_an_anchor_is_refused(inner: object, said: str) -> None:
    plan = {"anchors": [{"var": "a", "plan": inner}], "hops": [{"from": "T", "rel": "ALSO_BUY", "to_var": "a"}],
            "target": {"var": "T"}}  # fmt: skip
    [(pointer, message)] = faults(plan).items()
    assert pointer.startswith("/anchors/0/plan")
    assert said in message


def test_plans_may_be_nested_as_deep_as_is_said() -> None:
    plan = Plan.parse(nested(MAX_DEPTH), SHOP)
    assert plan_from_json(plan.to_json()) == plan


def test_the_plans_inside_a_plan_are_counted_at_every_depth() -> None:
    many = {
        "anchors": [{"var": f"a{i}", "plan": nested(2)} for i in range(4)],
        "hops": [{"from": "T", "rel": "ALSO_BUY", "to_var": f"a{i}"} for i in range(4)],
        "target": {"var": "T", "labels": ["product"]},
    }
    # Each anchor has a plan, which has another: eight in all.
    assert faults(many).keys() == {"/anchors/3/plan"}
    Plan.parse(many | {"anchors": many["anchors"][:3], "hops": many["hops"][:3]}, SHOP)


def test_ids_and_a_plan_exclude_each_other() -> None:
    assert faults(of(OLDEST, ids=["x"])).keys() == {"/anchors/0/ids"}


def test_its_wording_and_variables_make_no_difference_and_its_conditions_do() -> None:
    plan = normal_form(Plan.parse(of(OLDEST), SHOP), SHOP)
    renamed = OLDEST | {"target": {"var": "X", "labels": ["brand"]}}
    youngest = OLDEST | {"order": OLDEST["order"] | {"direction": "desc"}}
    assert normal_form(Plan.parse(of(renamed, text="whatever"), SHOP), SHOP) == plan
    assert normal_form(Plan.parse(of(youngest), SHOP), SHOP) != plan


def test_a_contradiction_inside_has_its_pointer_and_so_has_a_label_that_the_answers_cannot_have() -> None:
    apart = {
        "anchors": [{"var": "c", "text": "Norway", "label": "country"}],
        "hops": [{"from": "B", "rel": "USED_FOR", "to_var": "c"}],
        "target": {"var": "B", "labels": ["brand"]},
    }
    assert [fault.pointer for fault in contradictions(Plan.parse(of(apart), SHOP), SHOP)] == [
        "/anchors/0/plan/hops/0/rel"
    ]
    [fault] = contradictions(Plan.parse(of(OLDEST, label="country"), SHOP), SHOP)
    assert fault.pointer == "/anchors/0/label"
    assert contradictions(Plan.parse(of(OLDEST), SHOP), SHOP) == []


def test_an_exclusion_may_hold_one() -> None:
    pattern = {"anchors": [{"var": "b", "plan": OLDEST}], "hops": [MADE]}
    plan = Plan.parse({"target": {"var": "T", "labels": ["product"]}, "exclude": [pattern]}, SHOP)
    assert plan_from_json(plan.to_json()) == plan
    wrong = {"anchors": [{"var": "b", "plan": {"target": {"var": "B", "labels": ["brand"]}}}], "hops": [MADE]}
    found = faults({"target": {"var": "T", "labels": ["product"]}, "exclude": [wrong]})
    assert found.keys() == {"/exclude/0/anchors/0/plan"}


def test_its_harmless_faults_are_mended_too_and_told_with_their_place() -> None:
    written, said = mend(of(OLDEST | {"target": {"var": "B", "labels": "brands"}}), SHOP)
    assert Plan.parse(written, SHOP) == Plan.parse(of(OLDEST), SHOP)
    assert any(sentence.startswith("in the plan of starting point 1, ") for sentence in said)


def test_an_anchor_with_an_empty_plan_needs_a_name() -> None:
    with pytest.raises(PlanInvalid) as caught:
        Plan.parse(of(None), SHOP)
    assert [fault.pointer for fault in caught.value.faults] == ["/anchors/0/text"]


def test_its_wording_says_what_leads_to_its_answers_and_what_they_are_compared_with() -> None:
    of_oldest = {
        "anchors": [{"var": "b", "plan": OLDEST}],
        "hops": [MADE],
        "target": {"var": "T", "labels": ["product"]},
    }
    of_acme = {"anchors": [{"var": "b", "text": "Acme"}], "hops": [MADE], "target": {"var": "T", "labels": ["product"]}}
    dearest = of_acme | {"order": {"by": {"field": "price"}, "limit": 1}}
    than = {"var": "T", "field": "price", "op": ">", "value": {"var": "p", "field": "price"}}
    dearer = {
        "anchors": [{"var": "p", "plan": dearest}],
        "filters": [than],
        "target": {"var": "T", "labels": ["product"]},
    }
    said = {
        "product of Acme": of_acme,
        "product of the brand with the lowest founded": of_oldest,
        "product of Acme with the highest price": dearest,
        "product with price > that of the product of Acme with the highest price": dearer,
        "product with price < 50 and released missing without rain with the highest price": dearest
        | {
            "anchors": [],
            "hops": [],
            "filters": [
                {"var": "T", "field": "price", "op": "<", "value": 50},
                {"var": "T", "field": "released", "op": "missing"},
            ],
            "exclude": [
                {"anchors": [{"var": "u", "text": "rain"}], "hops": [{"from": "T", "rel": "USED_FOR", "to_var": "u"}]}
            ],
        },
        "product with number of REPLACES between 2, 3": {
            "filters": [{"var": "T", "count": {"rel": "REPLACES"}, "op": "between", "value": [2, 3]}],
            "target": {"var": "T", "labels": ["product"]},
        },
    }
    assert {Plan.parse(plan, SHOP).wording: plan for plan in said.values()} == said
