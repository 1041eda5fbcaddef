"""Plans as chains of chips."""

from typing import Any

from search.views.shown.plans import LinkedEntity, show_plan


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
    assert plan.summary == "Ingunn Aas ← designed by — product — also buy — product"


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
