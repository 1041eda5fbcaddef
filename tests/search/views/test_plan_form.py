"""The plan as a form: what is read from it, and what its buttons do, over the shop of the domain's tests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from search.services.searches.check_plan import check_plan
from search.views import plan_form
from search.views.plan_conditions import exclude_anchor, require_exclusion
from search.views.plan_form import oriented, read_plan
from search.views.shown.editor import show_editor
from tests.search.domain.shop import SHOP

FIELDS = {
    "/target/var": "T", "/target/labels": '["product"]', "/target/relevance_text": " keeps tea hot ",
    "/risk_level": "weak", "/retrieval_mode": "",
    "/anchors/0/var": "c", "/anchors/0/text": "Norway", "/anchors/0/was": "Norway", "/anchors/0/label": "country",
    "/anchors/0/match_mode": "name", "/anchors/0/ids": '["country/no"]',
    "/hops/0/from": "c", "/hops/0/to_var": "b", "/hops/0/rel": "in BASED_IN", "/hops/0/to_label": "brand",
    "/hops/1/from": "b", "/hops/1/to_var": "T", "/hops/1/rel": "any HAS_BRAND", "/hops/1/to_label": "*",
    "/filters/0/var": "T", "/filters/0/was": "T", "/filters/0/field": "price", "/filters/0/op": "between",
    "/filters/0/value": "10", "/filters/0/value2": "1,000",
}  # fmt: skip


def plan() -> dict[str, Any]:
    """Products of Norwegian brands."""
    return read_plan(FIELDS, SHOP)


def test_the_fields_make_the_plan_with_values_of_the_fields_kind() -> None:
    read = plan()

    assert read == {
        "anchors": [{"var": "c", "text": "Norway", "label": "country", "match_mode": "name", "ids": ["country/no"]}],
        "hops": [
            {"from": "c", "rel": "BASED_IN", "to_var": "b", "to_label": "brand", "direction": "in"},
            {"from": "b", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product"},
        ],
        "target": {"var": "T", "labels": ["product"], "relevance_text": "keeps tea hot"},
        "filters": [{"var": "T", "field": "price", "op": "between", "value": [10, 1000]}],
        "risk_level": "weak",
    }
    assert check_plan(read, SHOP).plan is not None


def test_another_name_lets_go_of_the_entity_that_was_picked() -> None:
    read = read_plan(FIELDS | {"/anchors/0/text": "Sweden"}, SHOP)

    assert "ids" not in read["anchors"][0]


def test_another_type_lets_go_of_it_too() -> None:
    read = read_plan(FIELDS | {"/anchors/0/was_label": "country", "/anchors/0/label": "city"}, SHOP)

    assert "ids" not in read["anchors"][0]


INNER: dict[str, Any] = {
    "target": {"var": "B", "labels": ["brand"]},
    "order": {"by": {"field": "founded"}, "direction": "asc", "limit": 1},
}


def with_inner(**changed: str) -> dict[str, Any]:
    """Products of the oldest brand, as a form with changed fields gives them back."""
    given = {
        "var": "b",
        "text": "the oldest brand",
        "was": "the oldest brand",
        "label": "brand",
        "plan": json.dumps(INNER),
    }
    fields = {f"/anchors/0/{key}": value for key, value in (given | changed).items()}
    hop = {"/hops/0/from": "T", "/hops/0/to_var": "b", "/hops/0/rel": "any HAS_BRAND", "/hops/0/to_label": "*"}
    return read_plan({"/target/var": "T", "/target/labels": '["product"]'} | fields | hop, SHOP)


def test_a_plan_inside_an_anchor_goes_through_the_form_unchanged() -> None:
    read = with_inner()
    assert read["anchors"][0]["plan"] == INNER
    assert check_plan(read, SHOP).plan is not None
    [[chip, *_], *_] = show_editor(oriented(read), SHOP).lines
    assert chip.inner
    assert ("/anchors/0/plan", json.dumps(INNER)) in chip.hidden


def test_another_name_or_a_picked_entity_takes_the_place_of_the_plan_inside() -> None:
    assert "plan" not in with_inner(text="Ostervik")["anchors"][0]
    picked = with_inner()
    plan_form.pick(picked, 0, "brand/o", "Ostervik", "brand")
    assert picked["anchors"][0]["ids"] == ["brand/o"]
    assert "plan" not in picked["anchors"][0]


def test_what_is_typed_into_a_number_stays_so_that_its_fault_can_be_said() -> None:
    read = read_plan(FIELDS | {"/filters/0/op": "<", "/filters/0/value": "cheap"}, SHOP)

    assert read["filters"][0]["value"] == "cheap"
    assert [fault.pointer for fault in check_plan(read, SHOP).faults] == ["/filters/0/value"]


def test_one_of_takes_a_value_a_line() -> None:
    read = read_plan(FIELDS | {"/filters/0/op": "in", "/filters/0/value": "3\r\n\r\n 4.5 "}, SHOP)

    assert read["filters"][0]["value"] == [3, 4.5]


@pytest.mark.parametrize("hostile", ["{", '{"a": 1}', "[" * 9999, "[1, null]", ""])
def test_lists_that_are_none_are_empty(hostile: str) -> None:
    read = read_plan(FIELDS | {"/anchors/0/ids": hostile, "/target/labels": hostile}, SHOP)

    assert "ids" not in read["anchors"][0]
    assert read["target"]["labels"] == []


def test_an_empty_form_is_an_empty_plan() -> None:
    assert read_plan({}, SHOP)["anchors"] == read_plan({}, SHOP)["hops"] == []


def test_more_items_than_a_plan_may_have_are_a_fault_and_no_flood() -> None:
    many = {f"/anchors/{i}/var": f"v{i}" for i in range(99)}

    assert len(read_plan(many, SHOP)["anchors"]) == 7


def test_hops_are_written_from_the_anchor_towards_the_target() -> None:
    backwards = plan() | {"hops": [
        {"from": "T", "rel": "HAS_BRAND", "to_var": "b", "to_label": "brand", "direction": "out"},
        {"from": "b", "rel": "BASED_IN", "to_var": "c", "to_label": "country"},
    ]}  # fmt: skip

    turned = oriented(backwards)

    assert turned["hops"] == [
        {"from": "b", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product", "direction": "in"},
        {"from": "c", "rel": "BASED_IN", "to_var": "b", "to_label": "brand"},
    ]
    assert oriented(turned) == turned


def test_a_dropped_hop_joins_its_ends() -> None:
    shorter = plan()
    plan_form.drop_hop(shorter, 1)

    [hop] = shorter["hops"]
    assert (hop["from"], hop["rel"], hop["to_var"], hop["to_label"]) == ("c", "BASED_IN", "T", "product")
    # A product is based nowhere: the fault says so, beside the hop.
    assert [fault.pointer for fault in check_plan(shorter, SHOP).faults] == ["/hops/0/rel"]


def test_the_first_hop_can_be_dropped_too_and_conditions_follow_their_node() -> None:
    shorter = plan()
    shorter["filters"].append({"var": "b", "field": "founded", "op": "<", "value": 1900})
    plan_form.drop_hop(shorter, 0)

    [hop] = shorter["hops"]
    assert (hop["from"], hop["rel"], hop["to_var"]) == ("c", "HAS_BRAND", "T")
    assert [condition["var"] for condition in shorter["filters"]] == ["T", "c"]


def test_the_last_hop_of_an_entity_takes_it_along() -> None:
    read = plan()
    plan_form.drop_hop(read, 1)
    plan_form.drop_hop(read, 0)

    assert (read["anchors"], read["hops"]) == ([], [])
    assert check_plan(read, SHOP).plan is not None


def test_an_entity_goes_with_the_hops_that_only_it_needs() -> None:
    read = plan()
    plan_form.add_anchor(read)
    added = read["anchors"][1]["var"]
    plan_form.drop_anchor(read, 0)

    assert [anchor["var"] for anchor in read["anchors"]] == [added]
    assert [(hop["from"], hop["to_var"]) for hop in read["hops"]] == [(added, "T")]


def test_a_picked_entity_brings_its_id_and_type() -> None:
    read = plan()
    plan_form.pick(read, 0, "brand/1", "Acme", "brand")

    assert read["anchors"][0] | {"var": ""} == {
        "var": "", "text": "Acme", "label": "brand", "match_mode": "name", "ids": ["brand/1"],
    }  # fmt: skip


def test_a_new_condition_starts_with_a_field_that_has_an_order() -> None:
    read = plan()
    plan_form.add_filter(read, SHOP)

    assert read["filters"][1] == {"var": "T", "field": "price", "op": ">=", "value": ""}


def test_the_form_survives_json_and_back() -> None:
    read = plan()

    assert oriented(json.loads(json.dumps(read))) == read


def test_an_entity_is_turned_into_an_exclusion_with_the_hops_that_only_it_needs_and_back() -> None:
    changed = plan() | {"filters": [{"var": "b", "field": "founded", "op": "<", "value": 1990}]}
    as_it_was = {key: list(changed[key]) for key in ("anchors", "hops", "filters")}

    exclude_anchor(changed, 0)
    assert (changed["anchors"], changed["hops"], changed["filters"]) == ([], [], [])
    [pattern] = changed["exclude"]
    assert [hop["rel"] for hop in pattern["hops"]] == ["BASED_IN", "HAS_BRAND"]
    assert [condition["field"] for condition in pattern["filters"]] == ["founded"]
    assert check_plan(changed, SHOP).plan is not None

    require_exclusion(changed, 0)
    assert {key: changed[key] for key in as_it_was} == as_it_was
    assert "exclude" not in changed


def test_an_exclusion_that_begins_at_a_variable_which_goes_is_dropped_with_it() -> None:
    excluded = {"anchors": [], "hops": [{"from": "b", "rel": "*", "to_var": "x", "to_label": "*"}]}
    changed = plan() | {"exclude": [excluded]}
    plan_form.drop_anchor(changed, 0)

    assert "exclude" not in changed


def test_where_a_hop_is_dropped_exclusions_and_comparisons_follow_the_joined_variable() -> None:
    compared = {"var": "T", "field": "price", "op": "<", "value": {"var": "b", "field": "founded"}}
    excluded = {"anchors": [], "hops": [{"from": "b", "rel": "*", "to_var": "x", "to_label": "*"}]}
    changed = plan() | {"filters": [compared], "exclude": [excluded]}
    plan_form.drop_hop(changed, 0)

    assert changed["exclude"][0]["hops"][0]["from"] == "c"
    assert changed["filters"][0]["value"]["var"] == "c"


def test_the_order_and_what_is_asked_are_read_from_the_form() -> None:
    by = json.dumps({"count": {"rel": "REPLACES", "direction": "in", "to_label": "product"}})
    read = read_plan(
        FIELDS | {"/order/by": by, "/order/direction": "asc", "/order/limit": " 3 ", "/ask": "how many"}, SHOP
    )

    assert read["order"] == {"by": json.loads(by), "direction": "asc", "limit": 3}
    assert read["ask"] == "how many"
    checked = check_plan(read, SHOP)
    assert checked.plan is not None
    assert checked.plan.to_json()["order"] == read["order"]


def test_a_condition_without_a_value_and_one_that_compares_are_read() -> None:
    read = read_plan(FIELDS | {"/filters/0/op": "missing"}, SHOP)
    assert read["filters"] == [{"var": "T", "field": "price", "op": "missing"}]
    read = read_plan(FIELDS | {"/filters/0/op": "<", "/filters/0/compared": '{"var": "b", "field": "founded"}'}, SHOP)
    assert read["filters"][0]["value"] == {"var": "b", "field": "founded"}


HOSTILE_EXCLUDE = (
    "{", "3", '[3, {"anchors": 3}]', '[{"anchors": [{"var": "T", "text": "x", "ids": 3}]}]',
    '[{"hops": [{"from": "T", "rel": "*", "to_var": "y", "to_label": 3}]}]',
    '[{"hops": [{"from": "T", "rel": "*", "to_var": "y"}], "filters": [{"var": "y", "field": "a", "op": "=", '
    '"value": {}}]}]',
)  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE_EXCLUDE)
def test_whatever_the_form_holds_of_exclusions_and_orders_is_drawn_and_checked(hostile: str) -> None:
    fields = FIELDS | {"/exclude": hostile, "/order/by": hostile, "/order/limit": "many", "/ask": "why"}
    read = oriented(read_plan(fields, SHOP))
    show_editor(read, SHOP, check_plan(read, SHOP).faults)


def test_the_form_shows_exclusions_orders_and_their_faults() -> None:
    read = read_plan(FIELDS | {"/order/by": '{"field": "price"}', "/order/limit": "-1"}, SHOP)
    exclude_anchor(read, 0)
    editor = show_editor(read, SHOP, check_plan(read, SHOP).faults)

    assert [chip.text for chip in editor.exclude] == ["has brand, based in Norway"]
    assert [choice.label for choice in editor.order.by if choice.chosen] == ["price"]
    assert editor.order.limit == "-1"
    assert "from 1 to" in editor.order.faults[0]


def test_what_is_computed_is_chosen_beside_the_fields_and_read_back() -> None:
    for ask in ("sum", "mean", "min", "max"):
        read = read_plan(FIELDS | {"/ask": f"{ask} show price"}, SHOP)
        assert (read["ask"], read["show"]) == (ask, "price")
        assert check_plan(read, SHOP).plan is not None
        asks = show_editor(read, SHOP).order.asks
        assert [choice.value for choice in asks if choice.chosen] == [f"{ask} show price"]
    labels = [choice.label for choice in asks]
    assert [label for label in labels if label.endswith(" price")] == [
        "total price", "mean price", "lowest price", "highest price",
    ]  # fmt: skip
    # Only numbers are computed with.
    assert not [label for label in labels if label.endswith((" released", " description", " name"))]


def test_a_plan_that_asks_for_the_number_and_shows_a_field_keeps_both_in_the_form() -> None:
    both = plan() | {"ask": "how many", "show": "price"}
    [chosen] = [choice.value for choice in show_editor(both, SHOP).order.asks if choice.chosen]
    read = read_plan(FIELDS | {"/ask": chosen}, SHOP)
    assert (read["ask"], read["show"]) == ("how many", "price")


@pytest.mark.parametrize(
    "hostile", ["mean show ", "mean", "show ", " show price", "sum show show price", "  ", "mean showprice"]
)
def test_whatever_the_form_asks_for_is_drawn_and_checked(hostile: str) -> None:
    read = oriented(read_plan(FIELDS | {"/ask": hostile}, SHOP))
    checked = check_plan(read, SHOP)
    editor = show_editor(read, SHOP, checked.faults)
    assert bool(checked.faults) == bool(editor.order.ask_faults)


def test_why_nothing_can_be_computed_stands_at_what_is_asked() -> None:
    read = read_plan(FIELDS | {"/ask": "mean show released"}, SHOP)
    editor = show_editor(read, SHOP, check_plan(read, SHOP).faults)
    assert "released holds no numbers" in editor.order.ask_faults[0]
    assert editor.faults == ()
