"""What the buttons of a plan do to it; each changed plan is one that can be run."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from search.domain.graph import Field
from search.services.searches.check_plan import check_plan
from search.views import plan_form
from search.views.plan_additions import without_blanks
from search.views.plan_changes import changed
from search.views.plan_conditions import read_conditions
from search.views.plan_form import oriented
from search.views.shown.editor import show_editor
from search.views.shown.plans import show_plan
from tests.search.demo_schema import demo_schema

SCHEMA = demo_schema("products")
PLAN: dict[str, Any] = {
    "anchors": [{"var": "b", "text": "Ostervik", "label": "brand", "match_mode": "name"}],
    "hops": [{"from": "b", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product", "direction": "in"}],
    "target": {"var": "T", "labels": ["product"], "relevance_text": ""},
    "filters": [{"var": "T", "field": "price", "op": "<", "value": 30}],
    "risk_level": "normal",
}


def after(*actions: str, plan: dict[str, Any] = PLAN) -> dict[str, Any]:
    """The plan after some presses, one after the other."""
    now = oriented(copy.deepcopy(plan))
    for action in actions:
        name, _, given = action.partition(" ")
        now = oriented(changed(now, name, given, SCHEMA))
    return now


def runs(plan: dict[str, Any]) -> bool:
    checked = check_plan(without_blanks(plan), SCHEMA)
    assert checked.faults == (), [fault.sentence for fault in checked.faults]
    return True


@pytest.mark.parametrize("where", ["insert-before 0", "insert-after 0"])
def test_a_hop_is_inserted_anywhere_and_dropped_again(where: str) -> None:
    longer = after(where)
    assert [(hop["from"], hop["to_var"]) for hop in longer["hops"]] == [("b", "x1"), ("x1", "T")]
    new = 0 if where.startswith("insert-before") else 1
    assert [hop["rel"] for hop in longer["hops"]][new] == "*"
    assert "direction" not in longer["hops"][new]
    # Two brands are joined by no relation, two products are: the first plan needs another relation before it can run.
    assert bool(check_plan(longer, SCHEMA).faults) == where.startswith("insert-before")
    again = after(where, f"drop-hop {new}")
    assert again["hops"] == oriented(PLAN)["hops"]
    assert len(after(where, "insert-after 1", "insert-before 0")["hops"]) == 4


def test_a_relation_without_a_name_can_be_demanded_excluded_and_demanded_again() -> None:
    demanded = after("add-hop")
    assert demanded["hops"][1] == {"from": "T", "rel": "*", "to_var": "x1", "to_label": "*"}
    assert runs(demanded)
    excluded = after("add-hop", "exclude-hop 1")
    assert excluded["hops"] == oriented(PLAN)["hops"]
    assert excluded["exclude"] == [{"anchors": [], "hops": [demanded["hops"][1]]}]
    assert runs(excluded)
    assert after("add-hop", "exclude-hop 1", "require 0")["hops"] == demanded["hops"]
    assert "exclude" not in after("add-hop", "exclude-hop 1", "drop-exclusion 0")


def test_a_loose_relation_is_dropped_with_the_conditions_beyond_it() -> None:
    plan = after("add-hop")
    plan["filters"].append({"var": "x1", "field": "name", "op": "=", "value": "Brass"})
    dropped = after("drop-hop 1", plan=plan)
    assert (dropped["hops"], dropped["filters"]) == (oriented(PLAN)["hops"], PLAN["filters"])


def test_a_hop_that_leads_to_an_anchor_is_not_excluded_but_its_anchor_is() -> None:
    assert after("exclude-hop 0") == oriented(PLAN)
    turned = after("exclude-anchor 0")
    assert (turned["anchors"], turned["hops"], len(turned["exclude"])) == ([], [], 1)
    assert turned["exclude"][0]["hops"][0] == {
        "from": "T", "rel": "HAS_BRAND", "to_var": "b", "to_label": "brand", "direction": "out",
    }  # fmt: skip
    assert runs(turned)


def test_a_new_exclusion_is_of_anything_until_it_is_named() -> None:
    plan = after("add-exclusion")
    assert runs(plan)
    assert without_blanks(plan)["exclude"] == [
        {"anchors": [], "hops": [{"from": "T", "rel": "*", "to_var": "e1", "to_label": "*"}]}
    ]
    plan["exclude"][0]["anchors"][0] |= {"label": "material"}
    assert without_blanks(plan)["exclude"][0]["hops"][0]["to_label"] == "material"
    plan["exclude"][0]["anchors"][0] |= {"text": "Brass"}
    assert without_blanks(plan) == plan


def test_a_comparison_is_with_another_entity_of_the_same_type() -> None:
    plan = after("add-comparison")
    assert plan["anchors"][1] == {"var": "a1", "text": "", "label": "product", "match_mode": "name"}
    assert plan["filters"][1]["value"]["var"] == "a1"
    assert plan["filters"][1]["op"] == "<"
    plan["anchors"][1]["text"] = "Isvidde Flask 1 L"
    assert runs(plan)
    assert after("drop-anchor 1", plan=plan) == oriented(PLAN)


def test_an_order_is_turned_round_and_taken_away() -> None:
    plan = PLAN | {"order": {"by": {"field": "price"}, "direction": "desc", "limit": 3}}
    assert after("turn-order", plan=plan)["order"] == {"by": {"field": "price"}, "direction": "asc", "limit": 3}
    assert after("turn-order", "turn-order", plan=plan)["order"] == plan["order"]
    assert "order" not in after("drop-order", plan=plan)
    assert after("turn-order") == oriented(PLAN)


def test_a_narrower_range_takes_the_place_of_a_wider_one() -> None:
    def price(low: int, high: int) -> str:
        return f"add {json.dumps({'filters': [{'var': 'T', 'field': 'price', 'op': 'between', 'value': [low, high]}]})}"

    plan = after(price(10, 90), price(20, 30))
    assert [(one["op"], one["value"]) for one in plan["filters"]] == [("<", 30), ("between", [20, 30])]
    assert runs(plan)


@pytest.mark.parametrize(
    "action",
    ["insert-after 7", "insert-before", "exclude-hop x", "require 0", "drop-exclusion 0", "add 3", "add null", "odd",
     "pick [0]", "drop-hop -1", 'add {"hops": [{}]}', f"add {'[' * 100_000}"],
)  # fmt: skip
def test_an_action_that_does_not_fit_changes_nothing(action: str) -> None:
    assert after(action) == oriented(PLAN)


EDGES = replace(
    SCHEMA,
    relations=tuple(
        replace(one, fields=(Field("since", "date"),)) if one.name == "HAS_BRAND" else one for one in SCHEMA.relations
    ),
)
SINCE = [{"field": "since", "op": ">=", "value": "2015"}, {"field": "since", "op": "<", "value": "2020"}]
ON_AN_EDGE: dict[str, Any] = PLAN | {
    "hops": [PLAN["hops"][0] | {"where": SINCE}],
    "order": {"by": {"field": "since", "edge": "b"}, "direction": "asc", "limit": 1},
    "show": "since", "show_edge": "b",
}  # fmt: skip


def form_of(plan: dict[str, Any]) -> dict[str, str]:
    """Return what the form would send of the parts of a plan that say something of an edge."""
    editor = show_editor(plan, EDGES)
    chips = [chip for line in editor.lines for chip in line]
    sent = dict(pair for chip in chips for pair in chip.hidden)
    sent |= {f"{chip.at}/rel": choice.value for chip in chips for choice in chip.relations if choice.chosen}
    sent |= {"/order/by": next(choice.value for choice in editor.order.by if choice.chosen)}
    return sent | {"/ask": next(choice.value for choice in editor.order.asks if choice.chosen)}


def test_the_form_keeps_what_a_plan_says_of_an_edge_as_long_as_its_relation_stays() -> None:
    sent = form_of(ON_AN_EDGE)
    assert plan_form._hop(sent, "/hops/0")["where"] == SINCE
    assert "where" not in plan_form._hop(sent | {"/hops/0/rel": "any *"}, "/hops/0")
    read = read_conditions(sent)
    assert read["order"]["by"] == {"field": "since", "edge": "b"}
    assert (read["show"], read["show_edge"]) == ("since", "b")


def test_the_conditions_on_edges_are_chips_that_can_be_taken_away() -> None:
    shown = show_plan({"plan": ON_AN_EDGE, "source": "user", "probability": 1.0}, 0)
    assert [(part.text, part.drop) for part in shown.parts if part.drop.startswith("drop-edge")] == [
        ("has brand: since since 2015", "drop-edge-filter 0"), ("has brand: since before 2020", "drop-edge-filter 1"),
    ]  # fmt: skip
    assert "has brand: since since 2015" in shown.summary
    less = changed(copy.deepcopy(ON_AN_EDGE), "drop-edge-filter", "1", EDGES)
    assert less["hops"][0]["where"] == SINCE[:1]
    assert changed(copy.deepcopy(ON_AN_EDGE), "drop-edge-filter", "7", EDGES) == ON_AN_EDGE
    assert "show_edge" not in changed(copy.deepcopy(ON_AN_EDGE), "drop-show", "", EDGES)
    assert [hop.get("where") for hop in changed(copy.deepcopy(ON_AN_EDGE), "insert-after", "0", EDGES)["hops"]] == [
        SINCE, None,
    ]  # fmt: skip
