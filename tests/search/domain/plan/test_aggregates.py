"""Plans that ask for the sum, the mean, the least or the largest value of a field of their answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from search.domain.errors import Fault, PlanInvalid
from search.domain.graph import Field, NodeType, Schema
from search.domain.payloads.plans import plan_from_json
from search.domain.plan import AGGREGATES, Plan
from search.domain.plan.changes import plan_changes
from search.domain.plan.normal_form import normal_form
from tests.search.domain.shop import SHOP

TARGET: dict[str, Any] = {"var": "T", "labels": ["product"]}
VASES = Schema(
    node_types=(
        NodeType("vase", 3, (Field("height", "number"), Field("ratings", "number", many=True), Field("glaze"))),
        NodeType("kiln", 3, (Field("height", "text"), Field("heat", "number"))),
        NodeType("potter", 3, (Field("glaze"),)),
    ),
    relations=(),
    relation_types=(),
)


def parsed(ask: object, show: object = "price", **more: Any) -> Plan:
    return Plan.parse({"target": TARGET, "ask": ask, "show": show} | more, SHOP)


def fault(data: dict[str, Any], schema: Schema = SHOP) -> Fault:
    """Return the only fault of a plan."""
    with pytest.raises(PlanInvalid) as caught:
        Plan.parse(data, schema)
    [only] = caught.value.faults
    return only


def of(label: str, ask: str, show: str = "") -> Fault:
    return fault({"target": {"var": "T", "labels": [label]}, "ask": ask, "show": show}, VASES)


@pytest.mark.parametrize("ask", AGGREGATES)
def test_an_aggregate_is_read_written_and_needs_no_condition(ask: str) -> None:
    plan = parsed(ask)
    assert (plan.ask, plan.aggregate, plan.show, plan.runs_over_type) == (ask, ask, "price", True)
    assert Plan.parse(json.loads(json.dumps(plan.to_json())), SHOP) == plan
    assert plan_from_json(plan.to_json()) == plan


def test_nothing_is_computed_where_the_answers_or_their_number_are_asked_for() -> None:
    for ask in ("which", "how many", "whether"):
        plan = parsed(ask)
        assert (plan.aggregate, plan.runs_over_type) == (None, False)


@pytest.mark.parametrize("ask", AGGREGATES)
def test_the_field_must_be_given_and_the_answers_must_have_it_with_numbers(ask: str) -> None:
    assert (missing := fault({"target": TARGET, "ask": ask})).pointer == "/show"
    assert missing.message == f"{ask} is computed from a field of the answers with numbers: show price."
    wrong = fault({"target": TARGET, "ask": ask, "show": "prize"})
    assert (wrong.pointer, wrong.nearest) == ("/show", "price")
    assert wrong.message == "product has no field 'prize'. Did you mean 'price'?"
    text = fault({"target": TARGET, "ask": ask, "show": "colour_code"})
    assert text.pointer == "/show"
    assert text.message.startswith(f"colour_code holds no numbers, and {ask} is computed from numbers: show price.")
    date = fault({"target": TARGET, "ask": ask, "show": "released"})
    assert "released holds no numbers" in date.message
    name = fault({"target": TARGET, "ask": ask, "show": "name"})
    assert name.pointer == "/show"


def test_a_type_without_numbers_says_so() -> None:
    assert of("potter", "mean").message.endswith("these answers have no such field.")
    assert "holds no numbers" in of("potter", "mean", "glaze").message


def test_several_numbers_of_one_node_are_not_added_up_but_have_a_least_and_a_largest() -> None:
    for ask in ("sum", "mean"):
        assert of("vase", ask, "ratings").message == (
            "ratings holds several numbers of one entity; only their min or max can be asked for."
        )
    for ask in ("min", "max"):
        data = {"target": {"var": "T", "labels": ["vase"]}, "ask": ask, "show": "ratings"}
        assert Plan.parse(data, VASES).show == "ratings"


def test_it_is_enough_that_one_type_of_the_answers_has_numbers_in_the_field() -> None:
    both = {"target": {"var": "T", "labels": ["vase", "kiln"]}, "ask": "max", "show": "height"}
    assert Plan.parse(both, VASES).aggregate == "max"
    assert of("kiln", "max", "height").pointer == "/show"
    anything = {"target": {"var": "T", "labels": []}, "ask": "max", "show": "heat"}
    assert Plan.parse(anything, VASES).aggregate == "max"


@pytest.mark.parametrize("ask", ["average", "SUM", "count", 3, ["sum"], "sum "])
def test_any_other_word_is_a_fault_that_lists_what_may_be_asked(ask: object) -> None:
    wrong = fault({"target": TARGET, "ask": ask, "show": "price"})
    assert wrong.pointer == "/ask"
    assert "which, how many, whether, sum, mean, min, max" in wrong.message


def test_a_plan_inside_another_one_computes_nothing() -> None:
    inner = {"target": {"var": "b", "labels": ["brand"]}, "ask": "sum", "show": "founded"}
    hop = {"from": "T", "rel": "HAS_BRAND", "to_var": "b"}
    data = {"anchors": [{"var": "b", "plan": inner}], "hops": [hop], "target": TARGET}
    with pytest.raises(PlanInvalid) as caught:
        Plan.parse(data, SHOP)
    assert [one.pointer for one in caught.value.faults] == ["/anchors/0/plan/ask", "/anchors/0/plan/show"]


def test_the_function_and_the_field_make_a_difference_to_the_normal_form_and_are_a_change() -> None:
    plans = [*(parsed(ask) for ask in ("which", "how many", *AGGREGATES)), parsed("which", "")]
    assert len({normal_form(plan, SHOP) for plan in plans}) == 7
    [_, change] = plan_changes(parsed("sum"), parsed("mean"))
    assert (change.kind, change.part) == ("changed", "ask")
    [_, change] = plan_changes(parsed("which"), parsed("mean"))
    assert (change.kind, change.part) == ("changed", "ask")
