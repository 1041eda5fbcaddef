"""Conditions on edges, orders by them and what they show: how they are read, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from search.domain.errors import PlanInvalid
from search.domain.graph import Field, NodeType, Relation, RelationType, Schema
from search.domain.payloads.plans import plan_from_json
from search.domain.plan import EdgeField, Filter, Hop, Order, Plan
from search.domain.plan.changes import plan_changes
from search.domain.plan.json_schema import plan_json_schema
from search.domain.plan.normal_form import normal_form
from search.plan_words import edge_filter_words, edge_filters, exclusion_words, order_words, where_words

PRICE, NOTE, SINCE = Field("price", "number", coverage=3), Field("note", "text"), Field("since", "date")
SHOPS = Schema(
    (NodeType("lamp", 3, (Field("weight", "number"),)), NodeType("shop", 2), NodeType("person", 2)),
    (Relation("SOLD_AT", fields=(PRICE, NOTE)), Relation("WORKS_AT", fields=(SINCE,)), Relation("LIKES")),
    (
        RelationType("lamp", "SOLD_AT", "shop", 4), RelationType("person", "WORKS_AT", "shop", 2),
        RelationType("person", "LIKES", "lamp", 1),
    ),
)  # fmt: skip
ALBA = {"var": "a", "text": "Alba", "label": "lamp"}
SOLD = {"from": "a", "rel": "SOLD_AT", "to_var": "T", "to_label": "shop"}
CHEAP = {"field": "price", "op": "<", "value": 20}
VALID: dict[str, Any] = {"anchors": [ALBA], "hops": [SOLD], "target": {"var": "T", "labels": ["shop"]}}


def parsed(**parts: Any) -> Plan:
    return Plan.parse(VALID | parts, SHOPS)


def sold(*where: dict[str, Any]) -> list[dict[str, Any]]:
    return [SOLD | {"where": list(where)}]


def faults(**parts: Any) -> dict[str, str]:
    with pytest.raises(PlanInvalid) as caught:
        parsed(**parts)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def test_every_part_is_read_and_written_back_equal() -> None:
    plan = parsed(
        hops=sold(CHEAP, {"field": "note", "op": "contains", "value": "new"}),
        order={"by": {"field": "price", "edge": "a"}, "direction": "asc", "limit": 1},
        show="price",
        show_edge="a",
    )
    assert plan.hops == (
        Hop("a", "SOLD_AT", "T", "shop", None, (Filter("", "price", "<", 20), Filter("", "note", "contains", "new"))),
    )  # fmt: skip
    assert plan.order == Order(EdgeField("price", "a"), "asc", 1)
    assert plan.shown_edge == EdgeField("price", "a")
    assert Plan.parse(plan.to_json(), SHOPS) == plan == plan_from_json(plan.to_json())
    assert hash(plan.hops[0])


def test_a_plan_without_these_parts_is_written_as_it_was() -> None:
    written = parsed().to_json()
    assert set(written) == {"anchors", "hops", "target", "filters", "risk_level"}
    assert set(written["hops"][0]) == {"from", "rel", "to_var", "to_label"}


@pytest.mark.parametrize(
    ("parts", "pointer", "said"),
    [
        ({"hops": sold(CHEAP | {"field": "prize"})}, "/hops/0/where/0/field",
         "SOLD_AT has no field 'prize'. It has price, note. Did you mean 'price'?"),
        ({"hops": sold(CHEAP | {"value": "cheap"})}, "/hops/0/where/0/value", "price holds a number, not a string."),
        ({"hops": sold(CHEAP | {"var": "T"})}, "/hops/0/where/0/var",
         "There is no key 'var' here. Did you mean 'value'?"),
        ({"hops": sold(CHEAP | {"value": {"var": "a", "field": "weight"}})}, "/hops/0/where/0/value",
         "A filter of a relation takes a value; only one of an entity compares."),
        ({"hops": sold({"field": "note", "op": "<", "value": "b"})}, "/hops/0/where/0/op",
         "note is text and has no order; use contains."),
        ({"hops": [SOLD | {"rel": "*", "where": [CHEAP | {"field": "colour"}]}]}, "/hops/0/where/0/field",
         "No relation has a field 'colour'."),
        ({"order": {"by": {"field": "note", "edge": "a"}}}, "/order/by/field",
         "note is text; an order needs a number or a date."),
        ({"order": {"by": {"field": "price", "edge": "b"}}}, "/order/by/edge",
         "No step joins 'T', the answers, and 'b'."),
        ({"show": "weight", "show_edge": "a"}, "/show",
         "SOLD_AT has no field 'weight'. It has price, note."),
        ({"show": "price", "show_edge": "a", "ask": "mean"}, "/show_edge",
         "mean is computed from a field of the answers, not of a relation."),
        ({"show_edge": "a"}, "/show", "show names the field of the relation."),
        ({"hops": [SOLD, {"from": "T", "rel": "SOLD_AT", "to_var": "a"}],
          "order": {"by": {"field": "price", "edge": "a"}}},
         "/order/by/edge", "Several steps join 'T' and 'a', so it is open which relation is meant."),
        ({"hops": [SOLD, {"from": "p", "rel": "WORKS_AT", "to_var": "T"}, {"from": "p", "rel": "LIKES", "to_var": "a"}],
          "order": {"by": {"field": "price", "edge": "a"}}}, "/order/by/edge",
         "'T' and 'a' are also joined by other steps, and then no relation is compared."),
    ],
)  # fmt: skip
def test_what_is_refused(parts: dict[str, Any], pointer: str, said: str) -> None:
    assert faults(**parts)[pointer] == said


def test_a_release_without_counted_fields_refuses_and_otherwise_works() -> None:
    old = Schema.from_json(SHOPS.to_json())
    old = replace(old, relations=tuple(replace(one, fields=()) for one in old.relations))
    assert all("fields" not in one for one in old.to_json()["relations"])
    assert Plan.parse(VALID, old) == parsed()
    with pytest.raises(PlanInvalid, match="SOLD_AT has no field 'price'"):
        Plan.parse(VALID | {"hops": sold(CHEAP)}, old)


def test_the_schema_is_written_and_read_back_equal() -> None:
    assert Schema.from_json(SHOPS.to_json()) == SHOPS
    assert set(SHOPS.edge_fields("*")) == {"price", "note", "since"}


def test_the_form_for_servers_allows_what_the_parser_reads() -> None:
    strict = Draft202012Validator(plan_json_schema(SHOPS))
    written = {
        "anchors": [ALBA | {"match_mode": "name", "plan": None}],
        "hops": [SOLD | {"direction": None, "where": [CHEAP]}],
        "target": {"var": "T", "labels": ["shop"], "relevance_text": ""}, "filters": [], "exclude": [],
        "order": {"by": {"field": "price", "edge": "a"}, "direction": "asc", "limit": 1},
        "ask": "which", "show": "price", "show_edge": "a", "risk_level": "normal",
    }  # fmt: skip
    assert list(strict.iter_errors(written)) == []
    assert Plan.parse(written, SHOPS).hops[0].where == (Filter("", "price", "<", 20),)


def test_conditions_and_the_edge_that_is_compared_make_a_difference_and_names_and_their_order_do_not() -> None:
    by = {"by": {"field": "price", "edge": "a"}, "direction": "asc", "limit": 1}
    new = {"field": "note", "op": "contains", "value": "new"}
    several = [
        parsed(), parsed(hops=sold(CHEAP)), parsed(hops=sold(CHEAP | {"op": ">"})), parsed(hops=sold(CHEAP, new)),
        parsed(order=by), parsed(show="price", show_edge="a"),
    ]  # fmt: skip
    assert len({normal_form(plan, SHOPS) for plan in several}) == len(several)
    turned = {"from": "T", "rel": "SOLD_AT", "to_var": "z", "to_label": "lamp", "where": [new, CHEAP]}
    alike = parsed(anchors=[ALBA | {"var": "z"}], hops=[turned], order={**by, "by": {"field": "price", "edge": "z"}})
    assert normal_form(alike, SHOPS) == normal_form(parsed(hops=sold(CHEAP, new), order=by), SHOPS)


def test_another_condition_is_a_change_of_the_hop() -> None:
    changed = [one for one in plan_changes(parsed(hops=sold(CHEAP)), parsed(hops=sold())) if one.kind != "kept"]
    assert [(one.kind, one.part, one.was, one.at) for one in changed] == [("changed", "hop", "/hops/0", "/hops/0")]


def test_an_order_and_what_is_shown_end_with_their_variable() -> None:
    plan = parsed(order={"by": {"field": "price", "edge": "a"}}, show="price", show_edge="a")
    assert plan.within({"T", "a"}) == plan
    assert plan.within({"T"}) == replace(plan, order=None, show="", show_edge="")


def test_the_words_of_conditions_on_edges() -> None:
    plan = parsed(hops=sold(CHEAP, {"field": "price", "op": ">=", "value": 5})).to_json()
    assert where_words(plan["hops"][0]) == " (price under 20, price at least 5)"
    assert where_words(SOLD) == ""
    assert [edge_filter_words(plan, *place) for place in edge_filters(plan)] == [
        "sold at: price under 20", "sold at: price at least 5",
    ]  # fmt: skip
    assert exclusion_words({"anchors": [ALBA], "hops": [SOLD | {"where": [CHEAP]}]}, {"T": "T"}) == (
        "sold at (price under 20) Alba"
    )
    assert order_words({"by": {"field": "price", "edge": "a"}, "direction": "asc", "limit": 1}) == ("cheapest one")
    assert parsed(hops=sold(CHEAP)).wording == "shop of Alba with price < 20"
