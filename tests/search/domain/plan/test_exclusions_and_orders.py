"""Exclusions, orders, comparisons and what is asked: how they are read, what is refused, what makes no difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from search.domain.errors import PlanInvalid
from search.domain.payloads.plans import plan_from_json
from search.domain.plan import Anchor, Count, Exclusion, FieldOf, Filter, Hop, Order, Plan, Target
from search.domain.plan.normal_form import contradictions, normal_form
from tests.search.domain.shop import SHOP

BRAND: dict[str, Any] = {"var": "b", "text": "Ostervik", "label": "brand"}
MADE: dict[str, Any] = {"from": "T", "rel": "HAS_BRAND", "to_var": "b"}
VALID: dict[str, Any] = {
    "anchors": [BRAND],
    "hops": [MADE],
    "target": {"var": "T", "labels": ["product"]},
    "exclude": [
        {
            "anchors": [{"var": "u", "text": "sailing", "label": "field_of_use"}],
            "hops": [{"from": "T", "rel": "USED_FOR", "to_var": "u"}],
        }
    ],
    "order": {"by": {"field": "price"}, "direction": "asc", "limit": 3},
    "ask": "how many",
}


def faults(**parts: Any) -> dict[str, str]:
    with pytest.raises(PlanInvalid) as caught:
        Plan.parse(VALID | parts, SHOP)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def parsed(**parts: Any) -> Plan:
    return Plan.parse(VALID | parts, SHOP)


def test_a_plan_with_every_part_is_read_and_written_back_equal() -> None:
    plan = parsed(
        anchors=[BRAND, {"var": "x", "text": "the Alma"}],
        filters=[
            {"var": "T", "field": "price", "op": "<", "value": {"var": "x", "field": "price"}},
            {"var": "T", "field": "released", "op": "missing"},
        ],
    )
    assert plan.exclude == (
        Exclusion((Anchor("u", "sailing", "field_of_use"),), (Hop("T", "USED_FOR", "u"),)),
    )  # fmt: skip
    assert plan.order == Order("price", "asc", 3)
    assert plan.filters == (Filter("T", "price", "<", FieldOf("x", "price")), Filter("T", "released", "missing"))
    assert Plan.parse(plan.to_json(), SHOP) == plan


def test_a_plan_without_the_new_parts_is_written_as_it_was() -> None:
    bare = {key: VALID[key] for key in ("anchors", "hops", "target")}
    assert set(Plan.parse(bare, SHOP).to_json()) == {"anchors", "hops", "target", "filters", "risk_level"}


def test_an_order_may_count_nodes_and_keeps_all_places_where_no_limit_is_given() -> None:
    by = {"count": {"rel": "REPLACES", "direction": "in", "to_label": "product"}}
    assert parsed(order={"by": by}).order == Order(Count("REPLACES", "in", "product"), "desc", None)


@pytest.mark.parametrize(
    "parts",
    [
        {"filters": [{"var": "T", "field": "price", "op": ">", "value": 9}]},
        {"order": {"by": {"field": "price"}}},
        {"exclude": [{"anchors": [], "hops": [{"from": "T", "rel": "USED_FOR", "to_var": "u"}]}], "order": None},
    ],
)
def test_no_anchor_is_needed_where_a_filter_an_order_or_an_exclusion_selects(parts: dict[str, Any]) -> None:
    plan = Plan.parse({"target": {"var": "T", "labels": ["product"]}} | parts, SHOP)
    assert plan.runs_over_type
    assert not Plan.parse({"target": {"var": "T", "labels": ["product"]}}, SHOP).runs_over_type


COUNTED: dict[str, Any] = {"var": "T", "count": {"rel": "REPLACES", "direction": "in"}, "op": ">", "value": 2}


def test_a_filter_may_count_neighbours_and_a_plan_may_show_a_field() -> None:
    plan = parsed(filters=[COUNTED], show="price")
    assert plan.filters == (Filter("T", "", ">", 2, Count("REPLACES", "in")),)
    assert plan.show == "price"
    assert Plan.parse(plan.to_json(), SHOP) == plan
    assert plan_from_json(plan.to_json()) == plan


AMONG: dict[str, Any] = {"rel": "REPLACES", "direction": "in", "among": "b"}


def test_a_count_may_be_made_among_the_nodes_of_another_variable() -> None:
    plan = parsed(filters=[COUNTED | {"count": AMONG}], order={"by": {"count": AMONG}})
    assert plan.filters == (Filter("T", "", ">", 2, Count("REPLACES", "in", among="b")),)
    assert plan.order == Order(Count("REPLACES", "in", among="b"), "desc", None)
    assert Plan.parse(plan.to_json(), SHOP) == plan
    assert plan_from_json(plan.to_json()) == plan
    renamed = parsed(
        anchors=[BRAND | {"var": "c"}], hops=[MADE | {"to_var": "c"}],
        filters=[COUNTED | {"count": AMONG | {"among": "c"}}], order={"by": {"count": AMONG | {"among": "c"}}},
    )  # fmt: skip
    assert normal_form(renamed, SHOP) == normal_form(plan, SHOP)
    assert len({normal_form(one, SHOP) for one in (plan, parsed(order={"by": {"count": AMONG}}), parsed())}) == 3


SOLD: dict[str, Any] = {"rel": "HAS_BRAND", "direction": "in", "to_label": "product", "function": "mean", "of": "price"}


def test_an_order_and_a_filter_may_compare_what_is_computed_from_neighbours() -> None:
    of_brand = {
        "anchors": [], "hops": [], "exclude": [], "target": {"var": "T", "labels": ["brand"]}, "ask": "which",
        "filters": [{"var": "T", "count": SOLD, "op": "between", "value": [19.5, 40]}],
    }  # fmt: skip
    plan = parsed(**of_brand, order={"by": {"count": SOLD | {"function": "sum"}}})
    by = Count("HAS_BRAND", "in", "product", function="mean", of="price")
    assert plan.order == Order(replace(by, function="sum"), "desc", None)
    assert plan.filters == (Filter("T", "", "between", [19.5, 40], by),)
    assert Plan.parse(plan.to_json(), SHOP) == plan == plan_from_json(plan.to_json())
    counted = SOLD | {"of": {"count": {"rel": "REPLACES", "direction": "in"}}}
    other = parsed(**of_brand, order={"by": {"count": counted}})
    assert other.order == Order(replace(by, of=Count("REPLACES", "in")), "desc", None)
    assert plan_from_json(other.to_json()) == other
    assert len({normal_form(one, SHOP) for one in (plan, other, parsed(**of_brand, order=None))}) == 3


@pytest.mark.parametrize(
    ("wrong", "pointer", "said"),
    [
        ({"of": "weight"}, "/of", "there is no field 'weight'"),
        ({"of": "prise"}, "/of", "Did you mean 'price'?"),
        ({"of": "name"}, "/of", "A mean needs a number of product"),
        ({"of": ""}, "/of", ""),
        ({"function": None}, "/of", "of needs a function"),
        ({"function": "median"}, "/function", ""),
        ({"of": {"count": {"rel": "REPLACE"}}}, "/of/count/rel", "Did you mean 'REPLACES'?"),
        ({"of": {"count": SOLD}}, "/of/count", "a field or a plain count"),
        ({"of": {"sum": 1}}, "/of/sum", ""),
    ],
)
def test_what_cannot_be_computed_from_neighbours_is_a_fault(wrong: dict[str, Any], pointer: str, said: str) -> None:
    target = {"var": "T", "labels": ["brand"]}
    found = faults(anchors=[], hops=[], exclude=[], target=target, order={"by": {"count": SOLD | wrong}})
    assert said in found[f"/order/by/count{pointer}"]


@pytest.mark.parametrize("value", ["20", None, True, [1, 2], float("nan"), 10**301])
def test_what_is_computed_is_compared_with_a_number(value: object) -> None:
    found = faults(filters=[{"var": "b", "count": SOLD, "op": ">", "value": value}])
    assert found["/filters/0/value"] == "A mean is compared with a number."


@pytest.mark.parametrize(
    ("parts", "pointer"),
    [
        ({"filters": [{"count": AMONG | {"among": "S"}}]}, "/filters/0/count/among"),
        ({"filters": [{"count": AMONG | {"among": "T"}}]}, "/filters/0/count/among"),
        ({"filters": [{"var": "b", "count": AMONG | {"among": "T"}}]}, "/filters/0/count/among"),
        ({"order": {"by": {"count": AMONG | {"among": "S"}}}}, "/order/by/count/among"),
    ],
)
def test_a_count_is_made_among_another_variable_of_the_plan_and_only_for_its_answers(
    parts: dict[str, Any], pointer: str
) -> None:
    parts = {key: [COUNTED | one for one in value] if key == "filters" else value for key, value in parts.items()}
    assert pointer in faults(**parts)


@pytest.mark.parametrize(
    ("wrong", "pointer", "said"),
    [
        ({"op": "contains"}, "/filters/0/op", "contains"),
        ({"value": -1}, "/filters/0/value", "a whole number, from 0"),
        ({"value": 2.5}, "/filters/0/value", "a whole number, from 0"),
        ({"op": "between", "value": [3, 1]}, "/filters/0/value", "two whole numbers, the lower first"),
        ({"op": "between", "value": 3}, "/filters/0/value", "two whole numbers, the lower first"),
        ({"var": "S"}, "/filters/0/var", "'S'"),
        ({"field": "price"}, "/filters/0", "about a field or about a count"),
        ({"count": {"rel": "REPLACE"}}, "/filters/0/count/rel", "Did you mean 'REPLACES'?"),
        ({"count": 3}, "/filters/0/count", "count is an object"),
    ],
)
def test_a_count_that_cannot_be_compared_is_a_fault(wrong: dict[str, Any], pointer: str, said: str) -> None:
    assert said in faults(filters=[COUNTED | wrong])[pointer]


def test_a_field_to_show_must_be_there_and_an_exclusion_counts_nothing() -> None:
    assert "'prize'" in faults(show="prize")["/show"]
    exclude = [VALID["exclude"][0] | {"filters": [COUNTED | {"var": "u"}]}]
    assert "only the plan's own filters count" in faults(exclude=exclude)["/exclude/0/filters/0/count"]


def test_counts_and_the_shown_field_make_a_difference_to_the_normal_form() -> None:
    plans = [
        parsed(), parsed(show="price"), parsed(filters=[COUNTED]), parsed(filters=[COUNTED | {"value": 3}]),
        parsed(filters=[COUNTED | {"count": {"rel": "REPLACES", "direction": "out"}}]),
    ]  # fmt: skip
    assert len({normal_form(plan, SHOP) for plan in plans}) == 5


HOP: dict[str, Any] = {"from": "T", "rel": "USED_FOR", "to_var": "u"}


@pytest.mark.parametrize(
    ("exclude", "pointer", "said"),
    [
        ({}, "/exclude", "exclude is a list, not an object."),
        ([{}], "/exclude/0", "at least one starting point or step"),
        ([{"hops": [HOP | {"from": "S"}]}], "/exclude/0", "The exclusion starts nowhere: one of"),
        ([{"hops": [HOP | {"to_var": "b"}]}], "/exclude/0", "this one holds 'T' and 'b'"),
        ([{"hops": [HOP | {"rel": "USED_FR"}]}], "/exclude/0/hops/0/rel", "Did you mean 'USED_FOR'?"),
        ([{"hops": [HOP], "anchors": [{"var": "z", "text": "x"}]}], "/exclude/0/anchors/0/var", "No steps lead from"),
        ([{"anchors": [{"var": "b", "text": "x"}]}], "/exclude/0/anchors/0/var", "cannot be excluded as well"),
        ([{"hops": [HOP, HOP | {"from": "y", "to_var": "z"}]}], "/exclude/0/hops/1/from", "not connected to 'T'"),
        ([{"hops": [HOP], "target": {}}], "/exclude/0/target", "There is no key 'target' here."),
        ([{"hops": [HOP]}] * 300, "/exclude", "A plan has at most 10 exclusions, not 300."),
        ([{"hops": [HOP], "filters": [{"var": "u", "field": "price", "op": "<", "value": 1}]}],
         "/exclude/0/filters/0/field", "has no field 'price'"),
    ],
)  # fmt: skip
def test_an_exclusion_that_cannot_be_read_is_a_fault(exclude: Any, pointer: str, said: str) -> None:
    hops = [HOP | {"to_label": "field_of_use"}]
    if isinstance(exclude, list) and exclude and exclude[0].get("filters"):
        exclude = [exclude[0] | {"hops": hops}]
    assert said in faults(exclude=exclude)[pointer]


@pytest.mark.parametrize(
    ("order", "pointer", "said"),
    [
        ([], "/order", "not a list"),
        ({"by": {"field": "description"}}, "/order/by/field", "description is text; an order needs"),
        ({"by": {"field": "colour_code"}}, "/order/by/field", "order by price or released"),
        ({"by": {"field": "prize"}}, "/order/by/field", "Did you mean 'price'?"),
        ({"by": {"field": "price", "count": {"rel": "USED_FOR"}}}, "/order/by", "one of the two"),
        ({"by": "price"}, "/order/by", "not a string"),
        ({"by": {"count": {"rel": "USED_FO"}}}, "/order/by/count/rel", "Did you mean 'USED_FOR'?"),
        ({"by": {"field": "price"}, "limit": -1}, "/order/limit", "from 1 to 10000, or null for all; not -1."),
        ({"by": {"field": "price"}, "limit": 0}, "/order/limit", "not 0."),
        ({"by": {"field": "price"}, "limit": True}, "/order/limit", "a whole number of places"),
        ({"by": {"field": "price"}, "direction": "up"}, "/order/direction", "It is one of desc, asc, not 'up'."),
    ],
)
def test_an_order_that_cannot_be_read_is_a_fault(order: Any, pointer: str, said: str) -> None:
    assert said in faults(order=order)[pointer]


@pytest.mark.parametrize(
    ("condition", "pointer", "said"),
    [
        ({"field": "released", "op": "<", "value": {"var": "b", "field": "founded"}}, "/filters/0/value",
         "released holds a date as YYYY, YYYY-MM or YYYY-MM-DD, and founded a number: they cannot be compared."),
        ({"field": "price", "op": "<", "value": {"var": "B", "field": "founded"}}, "/filters/0/value/var", "'B'"),
        ({"field": "price", "op": "<", "value": {"var": "b", "field": "found"}}, "/filters/0/value/field", "'founded"),
        ({"field": "price", "op": "in", "value": {"var": "b", "field": "founded"}}, "/filters/0/value", "no field"),
        ({"field": "description", "op": "<", "value": {"var": "b", "field": "name"}}, "/filters/0/op", "has no order"),
        ({"field": "price", "op": "exists", "value": 3}, "/filters/0/value", "leave the value out"),
        ({"field": "price", "op": "not in", "value": 3}, "/filters/0/value", "not in takes a list"),
        ({"field": "price", "op": "not contains", "value": "3"}, "/filters/0/op", "not contains looks inside text"),
    ],
)  # fmt: skip
def test_a_comparison_or_a_negation_that_does_not_fit_is_a_fault(condition: Any, pointer: str, said: str) -> None:
    assert said in faults(filters=[{"var": "T"} | condition])[pointer]


def test_every_fault_of_every_part_is_reported_at_once() -> None:
    found = faults(
        exclude=[{"hops": [HOP | {"rel": "USED"}]}],
        order={"by": {"field": "price"}, "limit": -1, "way": "up"},
        ask="how much",
    )
    assert set(found) == {"/exclude/0/hops/0/rel", "/order/limit", "/order/way", "/ask"}


def test_an_anchor_that_only_a_comparison_connects_is_a_part_of_the_plan() -> None:
    bare = {"anchors": [{"var": "x", "text": "Alma"}], "hops": [], "exclude": [], "order": None}
    compared = {"var": "T", "field": "price", "op": "<", "value": {"var": "x", "field": "price"}}
    assert "/target/var" in faults(**bare)
    assert parsed(**bare, filters=[compared]).chain("x") == ((), (Filter("T", "price", "<", FieldOf("x", "price")),))


@pytest.mark.parametrize(
    ("parts", "pointer"),
    [
        ({"exclude": [{"hops": [HOP | {"rel": "LIES_IN"}]}]}, "/exclude/0/hops/0/rel"),
        ({"order": {"by": {"count": {"rel": "LIES_IN"}}}}, "/order/by/count/rel"),
    ],
)
def test_what_no_edge_of_the_schema_can_be_is_a_contradiction(parts: dict[str, Any], pointer: str) -> None:
    assert [fault.pointer for fault in contradictions(parsed(**parts), SHOP)] == [pointer]
    assert contradictions(parsed(), SHOP) == []


def test_names_of_variables_and_the_order_of_parts_make_no_difference_to_the_normal_form() -> None:
    def plan(t: str, u: str, b: str, turned: bool) -> Plan:
        first = Exclusion((Anchor(u, "sailing"),), (Hop(t, "USED_FOR", u),))
        second = Exclusion((), (Hop(t, "REPLACES", "z"),))
        compared = (
            Filter(b, "price", ">", FieldOf(t, "price")) if turned else Filter(t, "price", "<", FieldOf(b, "price"))
        )
        exclude = (second, first) if turned else (first, second)
        hops = (Hop(t, "ALSO_BUY", b),)
        return Plan((Anchor(b, "Alma"),), hops, Target(t, ("product",)), (compared,), exclude=exclude)

    assert normal_form(plan("T", "u", "b", False), SHOP) == normal_form(plan("X", "a", "Y", True), SHOP)


def test_each_new_part_makes_a_difference_to_the_normal_form() -> None:
    forms = {
        normal_form(parsed(**parts), SHOP)
        for parts in (
            {}, {"exclude": []}, {"order": None}, {"ask": "which"}, {"order": {"by": {"field": "price"}}},
            {"exclude": [{"hops": [HOP]}]}, {"filters": [{"var": "T", "field": "price", "op": "exists"}]},
        )
    }  # fmt: skip
    assert len(forms) == 7
