"""Plans as chains of chips."""

from typing import Any

from search.views.plan_changes import changed
from search.views.shown.plans import LinkedEntity, show_plan
from tests.search.domain.shop import SHOP


def test_each_anchor_is_a_chain_of_its_own_that_ends_at_the_target(described: dict[str, Any]) -> None:
    plan = show_plan(described["plans"][0], 0, described["linked"])

    [first], [second] = plan.chains
    assert (first.chip.kind, first.chip.text, first.chip.type) == ("anchor", "Ingunn Aas", "designer")
    assert first.chip.linked == (LinkedEntity("designer:ingunn-aas", "designer", "Ingunn Aas", 1.0),)
    assert [linked.name for linked in second.chip.linked] == ["Ostervik", "Österby"]
    assert first.arrow is not None
    assert (first.arrow.relation, first.arrow.direction) == ("designed by", "in")
    assert (plan.target.type, plan.residual, plan.risk) == ("product", "keeps a drink cold", "aggressive")
    assert plan.filters == ("price at most 60",)


def test_a_variable_between_anchor_and_target_is_a_chip(described: dict[str, Any]) -> None:
    plan = show_plan(described["plans"][1], 1, described["linked"])

    [[start, between]] = plan.chains
    assert (start.chip.kind, between.chip.kind, between.chip.var) == ("anchor", "between", "x")
    assert between.arrow is not None
    assert between.arrow.direction == "either"
    assert plan.summary == "Ingunn Aas — designed by → product — also buy → product"


def test_a_hop_written_from_the_target_is_turned_round() -> None:
    plan = {
        "anchors": [{"var": "a", "text": "Ostervik", "label": "brand", "match_mode": "name"}],
        "hops": [{"from": "T", "rel": "HAS_BRAND", "to_var": "a", "to_label": "brand", "direction": "out"}],
        "target": {"var": "T", "labels": ["product"], "relevance_text": ""},
    }

    [[link]] = show_plan({"plan": plan}, 0).chains
    assert link.arrow is not None
    assert link.arrow.direction == "in"


def test_a_plan_by_text_alone_has_no_chain_and_looks_for_anything() -> None:
    plan = {"anchors": [], "hops": [], "target": {"var": "T", "labels": [], "relevance_text": "cold"}, "filters": []}

    shown = show_plan({"plan": plan, "probability": 0.4, "found": 0, "source": "schema"}, 0)

    assert shown.chains == ()
    assert shown.target.type == "anything"
    assert shown.summary == "anything, by text alone, about “cold”"
    assert not shown.walks


def test_a_plan_with_an_entity_or_a_filter_asks_the_graph_something(described: dict[str, Any]) -> None:
    entry = described["plans"][0]
    assert show_plan(entry, 0).walks
    assert show_plan({"plan": entry["plan"] | {"anchors": [], "hops": []}}, 0).walks


def test_a_plan_whose_hops_go_in_a_circle_or_nowhere_is_still_shown() -> None:
    plan = {
        "anchors": [{"var": "a", "text": "A", "label": "*", "match_mode": "name"}],
        "hops": [
            {"from": "a", "rel": "*", "to_var": "b", "to_label": "*"},
            {"from": "b", "rel": "r", "to_var": "a", "to_label": "*"},
        ],
        "target": {"var": "T", "labels": ["x_y"], "relevance_text": ""},
    }

    shown = show_plan({"plan": plan}, 0)

    assert [[link.arrow for link in chain] for chain in shown.chains] == [[None]]
    assert shown.target.type == "x y"


def test_a_choice_between_named_things_shows_how_it_was_said_and_both_of_them() -> None:
    plan = {
        "anchors": [{"var": "T", "text": "Osa or Lim", "label": "river", "match_mode": "name", "ids": ["osa", "lim"]}],
        "hops": [], "target": {"var": "T", "labels": ["river"]}, "filters": [],
        "order": {"by": {"field": "length"}, "direction": "desc", "limit": 1},
    }  # fmt: skip
    nodes = [{"id": name.lower(), "type": "river", "name": name} for name in ("Osa", "Lim")]
    linked = [{"plan_index": 0, "anchor": "T", "bindings": [{"node": node, "score": 1.0} for node in nodes]}]
    shown = show_plan({"plan": plan}, 0, linked)
    [[link]] = shown.chains
    assert (link.chip.text, link.chip.several, link.arrow) == ("Osa or Lim", True, None)
    assert [node.name for node in link.chip.linked] == ["Osa", "Lim"]
    assert shown.summary == "Osa or Lim river, longest one"


def test_several_nodes_of_one_name_are_no_choice() -> None:
    plan = {
        "anchors": [{"var": "T", "text": "Osa", "label": "river", "match_mode": "name", "ids": ["osa1", "osa2"]}],
        "hops": [], "target": {"var": "T", "labels": ["river"]}, "filters": [],
    }  # fmt: skip
    nodes = [{"id": name, "type": "river", "name": "Osa"} for name in ("osa1", "osa2")]
    linked = [{"plan_index": 0, "anchor": "T", "bindings": [{"node": node, "score": 1.0} for node in nodes]}]
    [[link]] = show_plan({"plan": plan}, 0, linked).chains
    assert not link.chip.several


LONGEST = {
    "anchors": [], "hops": [], "target": {"var": "R", "labels": ["river"]},
    "order": {"by": {"field": "length"}, "direction": "desc", "limit": 1},
}  # fmt: skip


def test_what_is_only_compared_with_is_said_by_the_condition() -> None:
    compared = {"var": "T", "field": "length", "op": ">", "value": {"var": "r", "field": "length"}}
    plan = {
        "anchors": [{"var": "r", "text": "river of Moor", "label": "river", "match_mode": "name", "plan": LONGEST}],
        "hops": [], "target": {"var": "T", "labels": ["river"]}, "filters": [compared],
    }  # fmt: skip
    shown = show_plan({"plan": plan}, 0)
    assert shown.filters == ("length over that of the river of Moor",)
    assert shown.summary == "river, where length over that of the river of Moor"
    [[link]] = shown.chains
    assert (link.chip.inner, link.chip.text) == (True, "the river of Moor")


def test_what_is_computed_is_one_part_that_is_taken_away_at_once() -> None:
    plan = {"anchors": [], "hops": [], "target": {"var": "T", "labels": ["river"]}, "ask": "mean", "show": "length"}
    shown = show_plan({"plan": plan, "found": 3}, 0)
    assert [(part.kind, part.text, part.drop) for part in shown.parts] == [("ask", "mean length", "drop-ask")]
    assert shown.walks
    assert changed({**plan, "filters": []}, "drop-ask", "", SHOP).keys() & {"ask", "show"} == set()
