"""The plan checker over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from search.models import KnowledgeBase, SearchRun
from tests.search import small

pytestmark = pytest.mark.django_db
PLACE = "/api/v1/knowledge-bases/films/plans/check/"


def check(api: Client, body: Any, place: str = PLACE) -> Any:
    return api.post(place, body, content_type="application/json")


def test_a_valid_plan_is_returned_normalised_and_nothing_is_run(api: Client, films: KnowledgeBase) -> None:
    answer = check(api, small.PLAN.to_json())

    assert (answer.status_code, answer.json()) == (200, {"valid": True, "plan": small.PLAN.to_json()})
    assert not SearchRun.objects.exists()


def test_all_faults_come_at_once_with_status_200(api: Client, films: KnowledgeBase) -> None:
    wrong = small.PLAN.to_json() | {"risk_level": "daring", "filters": [{"var": "T", "field": "yaer", "op": "="}]}

    answer = check(api, wrong)

    assert answer.status_code == 200
    assert answer.json()["valid"] is False
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/filters/0/value", "/risk_level"]


def test_a_plan_may_be_wrapped_as_a_search_takes_it(api: Client, films: KnowledgeBase) -> None:
    answer = check(api, {"plan": small.PLAN.to_json() | {"risk_level": "daring"}}).json()

    assert [error["pointer"] for error in answer["errors"]] == ["/plan/risk_level"]


def test_what_is_not_json_and_whom_it_does_not_concern_are_problems(api: Client, films: KnowledgeBase) -> None:
    cases = [
        (check(api, "{"), 400),
        (api.post(PLACE, "plan=1", content_type="application/x-www-form-urlencoded"), 415),
        (check(api, {}, "/api/v1/knowledge-bases/nothing/plans/check/"), 404),
        (api.get(PLACE), 405),
    ]
    for answer, status in cases:
        assert answer.status_code == status
        assert answer["Content-Type"] == "application/problem+json"


def test_a_knowledge_base_that_is_not_for_the_caller_is_not_there(api: Client, films: KnowledgeBase) -> None:
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()

    assert check(api, small.PLAN.to_json()).status_code == 404


def many(**parts: Any) -> Any:
    return small.PLAN.to_json() | parts


BOUNDLESS = (
    many(target={"var": "T", "labels": [f"film {number}" for number in range(60_000)]}),
    many(target={"var": "T", "labels": ["film"] * 60_000}),
    many(anchors=[{"var": "a", "text": "Ada Holm", "label": "person", "ids": ["x"] * 60_000}]),
    many(filters=[{"var": "T", "field": "year", "op": "in", "value": ["x"] * 60_000}]),
    many(filters=[{"var": "T", "field": "year", "op": "=", "value": 1}] * 10_000),
    many(exclude=[{"hops": [{"from": "T", "rel": "no", "to_var": "x"}] * 10_000}] * 2),
    many(hops=[{f"key {number}": 1 for number in range(60_000)}]),
    {f"key {number}": 1 for number in range(60_000)},
    many(risk_level="x" * 200_000, target={"var": "x" * 200_000, "labels": ["x" * 200_000]}),
)


def test_what_no_text_can_hold_is_refused_at_the_door_with_at_most_fifty_faults(
    api: Client, films: KnowledgeBase
) -> None:
    answer = check(api, many(target={"var": "T", "labels": ["\x00"] * 60_000}))
    assert answer.status_code == 400
    assert 0 < len(answer.json()["errors"]) <= 51


@pytest.mark.parametrize("place", range(len(BOUNDLESS)))
def test_a_plan_of_any_size_has_at_most_fifty_faults_and_a_short_answer(
    api: Client, films: KnowledgeBase, place: int
) -> None:
    answer = check(api, BOUNDLESS[place])

    assert answer.status_code == 200
    errors = answer.json()["errors"]
    assert 0 < len(errors) <= 51
    assert (errors[-1]["pointer"] == "" and "more faults" in errors[-1]["message"]) is (len(errors) == 51)
    assert len(answer.content) < 40_000
