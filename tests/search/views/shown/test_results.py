"""Conditions, paths and values of results."""

from typing import Any

import pytest

from search.domain.graph import Relation
from search.views.shown.results import show_results


def test_conditions_are_entities_then_relations_then_the_text(described: dict[str, Any]) -> None:
    first = show_results(described)[0]

    assert [(c.kind, c.label, c.mark, c.word) for c in first.conditions] == [
        ("anchor", "Ingunn Aas", "✓", "met"),
        ("anchor", "Ostervik", "✓", "met"),
        ("hop", "designed by", "✓", "met"),
        ("hop", "has brand", "✓", "met"),
        ("text", "“keeps a drink cold”", "?", "not checked"),
    ]
    assert first.conditions[2].note == "Ingunn Aas to product"
    assert first.conditions[4].note == "likeness 0.52; the best texts of its type reach 0.31"


@pytest.mark.parametrize("status", ["met", "not_met"])
def test_how_near_a_text_is_is_no_condition_that_is_met_or_not(described: dict[str, Any], status: str) -> None:
    described["results"][0]["evidence"]["residual"] = {
        "text": "cold",
        "status": status,
        "score": 0.269,
        "threshold": None,
    }

    text = show_results(described)[0].conditions[-1]

    assert (text.status, text.mark, text.word, text.note) == ("near", "?", "not checked", "likeness 0.27")


def test_a_text_that_could_not_be_held_against_the_document_says_so(described: dict[str, Any]) -> None:
    described["results"][0]["evidence"]["residual"] = {"text": "cold", "status": "unknown", "score": None}

    text = show_results(described)[0].conditions[-1]

    assert (text.status, text.mark, text.word) == ("unknown", "?", "not checked")


def test_conditions_are_those_of_the_plan_that_the_evidence_names(described: dict[str, Any]) -> None:
    last = show_results(described)[3]

    assert [(c.label, c.status, c.word) for c in last.conditions] == [
        ("Ingunn Aas", "met", "met"),
        ("designed by", "met", "met"),
        ("also buy", "unknown", "not checked"),
    ]
    assert last.plan_index == 1


def test_paths_are_lines_and_tables(described: dict[str, Any]) -> None:
    last = show_results(described)[3]

    [path] = last.paths
    assert path.words.startswith("Ingunn Aas ← designed by — Sval Flask 1.0 — also buy → Alpenglow")
    assert [(start["node"]["name"], relation) for start, relation, _ in path.rows] == [
        ("Ingunn Aas", "designed by"),
        ("Sval Flask 1.0", "also buy"),
    ]


def test_a_result_without_evidence_has_no_conditions_and_no_paths(described: dict[str, Any]) -> None:
    described["results"][0]["evidence"] = None

    first = show_results(described)[0]

    assert (first.conditions, first.paths, first.plan_index) == ((), (), None)


def test_filters_stand_behind_the_relations_and_what_was_dropped_before_the_text(described: dict[str, Any]) -> None:
    described["results"][0]["evidence"]["filters"] = [{"index": 0, "status": "not_met"}]
    described["plans"][0]["dropped"] = ["good for winter"]

    conditions = show_results(described)[0].conditions

    assert [(c.kind, c.label, c.mark, c.word) for c in conditions[4:]] == [
        ("filter", "price at most 60", "✗", "not met"),
        ("dropped", "good for winter", "–", "dropped"),
        ("text", "“keeps a drink cold”", "?", "not checked"),
    ]


def test_the_value_that_the_plan_shows_stands_beside_its_result(described: dict[str, Any]) -> None:
    first, second = described["results"][:2]
    plan = described["plans"][first["evidence"]["plan_index"]]["plan"]
    plan["show"] = "unit_price"
    first["evidence"]["value"] = 29
    shown = show_results(described)
    assert (shown[0].ordered, shown[1].ordered) == ("unit price 29", "")
    assert second["evidence"] is None or "value" not in second["evidence"]


def test_a_place_is_shared_only_within_the_order_of_one_plan(described: dict[str, Any]) -> None:
    plans, results = described["plans"], described["results"]
    plans[:] = [plans[0] | {"plan": plans[0]["plan"] | {"order": {"by": {"field": "price"}, "direction": "asc"}}}] * 2
    for result, plan, price, place in zip(results, (0, 1, 1), (22, 22, 22), (1, 1, 1), strict=False):
        result["evidence"] = (result["evidence"] or results[0]["evidence"]) | {
            "plan_index": plan, "order": {"status": "met", "value": price, "place": place}
        }  # fmt: skip
    assert [one.place for one in show_results(described)[:3]] == ["place 1", "place 1, shared", "place 1, shared"]


def test_the_values_that_filters_compare_stand_beside_every_result(described: dict[str, Any]) -> None:
    first = described["results"][0]
    plan = described["plans"][first["evidence"]["plan_index"]]["plan"]
    first["evidence"]["values"] = {"weight_g": 2180, "half_life_hours": 1, "released": "2023-03-14"}
    assert show_results(described)[0].ordered == "weight 2.18 kg, half life 1 hour, released 14 March 2023"
    # What orders or is shown already is not said twice.
    plan["order"] = {"by": {"field": "weight_g"}, "direction": "asc"}
    first["evidence"] |= {"order": {"status": "met", "value": 2180, "place": 1}, "values": {"weight_g": 2180}}
    shown = show_results(described)[0]
    assert (shown.ordered, shown.place) == ("weight 2.18 kg", "place 1")


def test_a_card_says_a_name_with_its_relation_in_the_words_of_the_schema(described: dict[str, Any]) -> None:
    relations = {"HAS_BRAND": Relation("HAS_BRAND", "is made by", "makes")}

    assert [(c.label, c.word) for c in show_results(described, relations)[0].ticks] == [
        ("designed by “Ingunn Aas”", "met"),
        ("is made by “Ostervik”", "met"),
        ("“keeps a drink cold”", "not checked"),
    ]


def test_what_is_near_says_what_it_meets_and_what_not(described: dict[str, Any]) -> None:
    near = described["results"][2]
    near["evidence"]["anchors"] = [{"var": "a1", "status": "met"}, {"var": "a2", "status": "not_met"}]
    near["evidence"]["hops"] = [{"index": 0, "status": "met"}, {"index": 1, "status": "not_met"}]

    shown = show_results(described)[2]

    assert not shown.answers
    assert shown.near == "Designed by “Ingunn Aas”, but not: has brand “Ostervik”."


def test_what_fits_another_meaning_says_which_and_claims_nothing_of_the_shown_one(described: dict[str, Any]) -> None:
    described["results"][3]["evidence"]["whole"] = "met"

    shown = show_results(described)[3]

    assert not shown.answers
    assert shown.near.startswith("Fits another meaning: product that also buy a product that designed by “Ingunn Aas”")


def test_nothing_is_an_answer_where_the_verdict_is_that_there_is_none(described: dict[str, Any]) -> None:
    assert [one.answers for one in show_results(described)] == [True, True, False, False]
    described["answer"]["verdict"] = "none"
    assert not any(one.answers for one in show_results(described))


def test_what_the_plan_excludes_is_marked(described: dict[str, Any]) -> None:
    wool = {"var": "w", "text": "wool", "label": "material", "match_mode": "name"}
    hop = {"from": "T", "rel": "MADE_OF", "to_var": "w", "to_label": "material"}
    described["plans"][0]["plan"]["exclude"] = [{"anchors": [wool], "hops": [hop]}]
    described["results"][0]["evidence"]["exclude"] = [{"index": 0, "status": "not_met", "paths": []}]
    described["results"][1]["evidence"]["exclude"] = [{"index": 0, "status": "met", "paths": []}]

    first, second = show_results(described)[:2]

    assert first.near == "Excluded by the question."
    assert "Excluded" not in second.near
    assert [(one.kind, one.status) for one in first.conditions if one.kind == "exclude"] == [("exclude", "not_met")]
