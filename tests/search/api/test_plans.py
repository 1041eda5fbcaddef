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
