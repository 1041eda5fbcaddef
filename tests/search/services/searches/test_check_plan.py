"""Checking a plan: every fault at once, and the plan made right where that needs no guessing."""

from __future__ import annotations

from typing import Any

from search.services.searches.check_plan import check_plan
from tests.search.domain.shop import SHOP


def plan(**changed: Any) -> dict[str, Any]:
    """A plan for “what does Acme make?”."""
    return {
        "anchors": [{"var": "b", "text": "Acme", "label": "brand", "match_mode": "name"}],
        "hops": [{"from": "b", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product", "direction": "in"}],
        "target": {"var": "T", "labels": ["product"], "relevance_text": ""},
        "filters": [],
        "risk_level": "normal",
        **changed,
    }


def test_a_valid_plan_comes_back_as_it_would_run() -> None:
    bare = {
        "anchors": [{"var": "b", "text": " Acme ", "label": "brand"}],
        "hops": [{"from": "b", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product", "direction": "in"}],
        "target": {"var": "T", "labels": "product"},
    }

    assert check_plan(bare, SHOP).to_json() == {"valid": True, "plan": plan()}


def test_every_fault_is_named_with_its_place_and_the_nearest_name() -> None:
    wrong = plan(
        hops=[{"from": "b", "rel": "HAS_BRANDS", "to_var": "T", "to_label": "prodct"}],
        filters=[{"var": "T", "field": "price", "op": "about", "value": 3}],
        risk_level="brave",
    )

    answer = check_plan(wrong, SHOP).to_json()

    assert answer["valid"] is False
    assert [(e["pointer"], e.get("nearest")) for e in answer["errors"]] == [
        ("/hops/0/rel", "HAS_BRAND"), ("/hops/0/to_label", "product"), ("/filters/0/op", None), ("/risk_level", None),
    ]  # fmt: skip
    assert "mended" not in answer


def test_a_relation_that_does_not_join_its_types_is_a_fault_that_names_those_which_do() -> None:
    wrong = plan(hops=[{"from": "b", "rel": "USED_FOR", "to_var": "T", "to_label": "product"}])

    [fault] = check_plan(wrong, SHOP).faults

    assert (fault.pointer, fault.nearest) == ("/hops/0/rel", "HAS_BRAND")
    assert "USED_FOR does not lead from brand to product" in fault.message


def test_a_faulty_condition_does_not_hide_a_walk_that_cannot_be() -> None:
    wrong = plan(
        hops=[{"from": "b", "rel": "USED_FOR", "to_var": "T", "to_label": "product"}],
        filters=[{"var": "T", "field": "price", "op": "<", "value": "cheap"}],
    )

    assert [fault.pointer for fault in check_plan(wrong, SHOP).faults] == ["/filters/0/value", "/hops/0/rel"]


def test_harmless_faults_are_mended_and_each_is_said() -> None:
    loose = plan(anchors=[{"var": "b", "text": "Acme", "label": "Makers"}], risk_level="medium")

    answer = check_plan(loose, SHOP).to_json()

    assert answer["valid"] is False
    assert answer["mended"]["plan"] == plan()
    assert answer["mended"]["changes"] == [
        "risk_level 'medium' was read as normal", "type 'Makers' of starting point 1 was read as brand",
    ]  # fmt: skip


def test_the_ids_that_a_person_picked_outlive_mending() -> None:
    picked = plan(anchors=[{"var": "b", "text": "Acme", "label": "Brand", "ids": ["brand/1"]}])

    answer = check_plan(picked, SHOP).to_json()

    assert answer["mended"]["plan"]["anchors"][0]["ids"] == ["brand/1"]
    assert answer["mended"]["changes"] == ["type 'Brand' of starting point 1 was read as brand"]


def test_what_is_no_plan_at_all_is_said_in_a_sentence() -> None:
    for data, kind in ((None, "nothing"), ([], "a list"), ("plan", "a string"), (3, "a number")):
        [fault] = check_plan(data, SHOP).faults
        assert (fault.pointer, fault.message) == ("", f"A plan is a JSON object, not {kind}.")


def test_text_that_no_database_takes_is_a_fault_where_it_stands() -> None:
    [fault] = check_plan(plan(anchors=[{"var": "b", "text": "A\x00", "label": "brand"}]), SHOP).faults

    assert fault.pointer == "/anchors/0/text"


def test_the_mended_plan_keeps_the_ids_of_every_anchor_also_inside_plans_and_exclusions() -> None:
    named = {"var": "c", "text": "Norway", "label": "country", "ids": ["country/no"]}
    inner = {
        "anchors": [named], "hops": [{"from": "B", "rel": "based in", "to_var": "c"}],
        "target": {"var": "B", "labels": ["brand"]},
    }  # fmt: skip
    excluded = {"anchors": [{"var": "u", "text": "rain", "plan": None, "ids": ["use/rain"]}],
                "hops": [{"from": "T", "rel": "USED_FOR", "to_var": "u"}]}  # fmt: skip
    given = plan(
        anchors=[{"var": "b", "plan": inner}, {"var": "a", "text": "Lamp", "ids": ["product/lamp"]}],
        hops=[
            {"from": "T", "rel": "HAS_BRAND", "to_var": "b"}, {"from": "T", "rel": "ALSO_BUY", "to_var": "a"},
        ],
        exclude=[excluded],
    )  # fmt: skip
    checked = check_plan(given, SHOP)
    assert checked.mended is not None
    [of_brand, lamp] = checked.mended.anchors
    assert of_brand.plan is not None
    assert of_brand.plan.anchors[0].ids == ("country/no",)
    assert of_brand.plan.hops[0].rel == "BASED_IN"
    assert lamp.ids == ("product/lamp",)
    assert checked.mended.exclude[0].anchors[0].ids == ("use/rain",)


def test_a_field_that_nothing_can_be_computed_from_does_not_hide_a_walk_that_cannot_be() -> None:
    walk = [{"from": "b", "rel": "USED_FOR", "to_var": "T", "to_label": "product"}]
    faults = check_plan(plan(hops=walk, ask="sum", show="released"), SHOP).faults
    assert [fault.pointer for fault in faults] == ["/show", "/hops/0/rel"]
