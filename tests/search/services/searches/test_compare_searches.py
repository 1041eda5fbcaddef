"""Searches side by side: rank tables worked out by hand, plans by their parts, and what cannot be compared."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.errors import InvalidRequest
from search.models import SearchRun
from search.services.searches.compare_searches import check_comparable, compare_described, plan_parts


def plan(**more: Any) -> dict[str, Any]:
    """A plan from Ada Holm over `directed by` to films."""
    return {
        "anchors": [{"var": "a", "text": "Ada Holm", "label": "person", "match_mode": "name"}],
        "hops": [{"from": "a", "rel": "directed by", "to_var": "T", "to_label": "film", "direction": "in"}],
        "target": {"var": "T", "labels": ["film"], "relevance_text": ""},
    } | more


def search(
    name: str,
    ids: str,
    status: str = "done",
    plan: Any = None,
) -> dict[str, Any]:
    return {
        "id": name, "question": "Which?", "knowledge_base": "films", "release": "films@1", "status": status,
        "seconds": 0.5, "plan": plan, "model_use": None, "degraded": [], "error": None,
        "pipeline": {"name": name, "title": name.title(), "version": 0, "specification": {}, "flow": []},
        "results": [{"node": {"id": one, "type": "film", "name": one.upper()}} for one in ids],
    }  # fmt: skip


def test_every_result_has_its_rank_in_each_search() -> None:
    told = compare_described([search("one", "abc"), search("two", "cad")])
    assert [(entry["node"]["name"], entry["ranks"]) for entry in told["nodes"]] == [
        ("A", [1, 2]), ("C", [3, 1]), ("B", [2, None]), ("D", [None, 3]),
    ]  # fmt: skip
    assert [one["only_here"] for one in told["searches"]] == [["b"], ["d"]]
    # a and c are in both, in opposite orders.
    assert told["agreement"] == [
        {"first": 0, "second": 1, "same": 2, "depth": 3, "overlap": 2 / 3, "common": 2, "correlation": -1.0}
    ]
    assert told["finished"]


def test_nothing_is_said_of_a_search_that_has_not_ended() -> None:
    told = compare_described([search("one", "ab"), search("two", "", "running"), search("three", "b")])
    assert [one["only_here"] for one in told["searches"]] == [None, None, None]
    assert [(one["first"], one["second"]) for one in told["agreement"]] == [(0, 2)]
    assert not told["finished"]


def test_a_search_that_failed_leaves_the_others_their_comparison() -> None:
    failed = search("two", "", "failed") | {"error": {"title": "Vectors are away"}}
    told = compare_described([search("one", "ab"), failed, search("three", "ba")])
    assert [(one["first"], one["second"], one["correlation"]) for one in told["agreement"]] == [(0, 2, -1.0)]
    assert told["searches"][1]["error"] == {"title": "Vectors are away"}
    assert told["finished"]


def test_what_each_search_spent_on_models_stands_beside_it() -> None:
    told = compare_described([search("one", "a") | {"model_use": {"calls": 2}}, search("two", "a")])
    assert [one["model_use"] for one in told["searches"]] == [{"calls": 2}, None]


def test_parts_of_plans_say_which_plans_have_them() -> None:
    other = plan(target={"var": "X", "labels": ["film"], "relevance_text": "amber"}, hops=[
        {"from": "X", "rel": "directed by", "to_var": "a", "to_label": "person", "direction": "out"}
    ])  # fmt: skip
    told = compare_described([search("one", "a", plan=plan()), search("two", "a", plan=other), search("three", "a")])
    shown = [[(one["part"], one["text"], one["searches"]) for one in each["plan"] or ()] for each in told["searches"]]
    # The hop is the same walked from either end; only the text differs.
    assert shown[0] == [
        ("target", "film", [0, 1]), ("anchor", "Ada Holm (person)", [0, 1]), ("hop", "directed by", [0, 1]),
    ]  # fmt: skip
    assert shown[1][-1] == ("text", "amber", [1])
    assert told["searches"][2]["plan"] is None


def test_a_turned_relation_and_another_entity_are_differences() -> None:
    turned = [{"from": "a", "rel": "directed by", "to_var": "T", "to_label": "film", "direction": "out"}]
    keys = {key for key, _ in plan_parts(plan())}
    assert {key[0] for key, _ in plan_parts(plan(hops=turned)) if key not in keys} == {"hop"}
    anchors = [{"var": "a", "text": "Ada Olm", "label": "person", "match_mode": "name"}]
    assert {key[0] for key, _ in plan_parts(plan(anchors=anchors)) if key not in keys} == {"anchor"}


def test_filters_exclusions_order_and_what_is_asked_are_parts() -> None:
    rich = plan(
        filters=[{"var": "T", "field": "year", "op": "<", "value": 2000}],
        exclude=[{"anchors": [{"var": "b", "text": "Birch", "label": "film"}], "hops": []}],
        order={"by": {"field": "year"}, "direction": "desc", "limit": None}, ask="how many",
    )  # fmt: skip
    said = {key[0]: text for key, text in plan_parts(rich)}
    assert said["filter"] == "year before 2000"
    assert said["exclude"] == "not Birch"
    assert said["order"] == "latest year first"
    assert said["ask"] == "how many there are"


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ([{}], "Two to four searches are compared at once, not 1."),
        ([{}] * 5, "Two to four searches are compared at once, not 5."),
        ([{}, {"question": "Who?"}], "These searches are of different questions; compare searches of one question."),
        (
            [{}, {"knowledge_base_name": "books"}],
            "These searches are of different knowledge bases (films, books); compare those of one.",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_sentence(runs: list[dict[str, Any]], sentence: str) -> None:
    made = [SearchRun(**{"question": "Which?", "knowledge_base_name": "films", **one}) for one in runs]
    with pytest.raises(InvalidRequest) as refused:
        check_comparable(made)
    assert [fault.message for fault in refused.value.faults] == [sentence]


def test_the_same_search_twice_is_refused() -> None:
    run = SearchRun(question="Which?", knowledge_base_name="films")
    with pytest.raises(InvalidRequest, match="twice"):
        check_comparable([run, run])


def test_plans_inside_that_find_other_things_differ_whatever_they_are_called_and_their_variables_are() -> None:
    def inside(var: str, founded: int) -> dict[str, Any]:
        one = {"var": var, "field": "founded", "op": ">", "value": founded}
        inner = {"anchors": [], "hops": [], "target": {"var": var, "labels": ["brand"]}, "filters": [one]}
        return plan(anchors=[{"var": "b", "text": "young brands", "label": "brand", "plan": inner}])

    parts = [dict(plan_parts(one)) for one in (inside("X", 1900), inside("Y", 1900), inside("X", 1950))]
    assert parts[0].keys() == parts[1].keys()
    assert {key[0] for key in parts[0].keys() ^ parts[2].keys()} == {"anchor"}
