"""Searches side by side over HTTP."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search.api.test_searches import problem

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/searches/compare/"


@pytest.fixture
def runs(films: KnowledgeBase) -> list[SearchRun]:
    """A search of one question with each of both pipelines, both ended."""
    made = [
        request_search(knowledge_base="films", question="Who made Amber Road?", pipeline=name, enqueue=False)
        for name in ("path", "text")
    ]
    return [run_search(run.pk) for run in made]


def get(api: Client, *ids: Any) -> Any:
    return api.get(ADDRESS, {"id": [str(one) for one in ids]})


def test_ranks_stand_side_by_side(api: Client, runs: list[SearchRun]) -> None:
    told = get(api, *(run.pk for run in runs)).json()

    assert [one["pipeline"]["name"] for one in told["searches"]] == ["path", "text"]
    assert [(entry["node"]["id"], entry["ranks"]) for entry in told["nodes"]] == [
        ("film/1", [1, 1]), ("film/2", [2, 2]), ("film/3", [3, 3]),
    ]  # fmt: skip
    assert told["agreement"] == [
        {"first": 0, "second": 1, "same": 3, "depth": 3, "overlap": 1.0, "common": 3, "correlation": 1.0}
    ]
    assert told["finished"]
    assert told["searches"][0]["plan"][0] == {"part": "target", "text": "film", "searches": [0]}
    assert told["searches"][1]["plan"] is None


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([], "not 0"), (["one", "two"], "id is the id of a search"),
    ],
)  # fmt: skip
def test_what_is_no_comparison_is_told(api: Client, films: KnowledgeBase, ids: list[str], sentence: str) -> None:
    assert sentence in problem(get(api, *ids), 400)["errors"][0]["message"]


def test_one_search_or_the_same_twice_is_told(api: Client, runs: list[SearchRun]) -> None:
    one = runs[0].pk
    assert "not 1" in problem(get(api, one), 400)["errors"][0]["message"]
    assert "twice" in problem(get(api, one, one), 400)["errors"][0]["message"]
    assert "not 5" in problem(get(api, *[one] * 9), 400)["errors"][0]["message"]


def test_a_search_that_one_may_not_read_does_not_exist(
    api: Client, runs: list[SearchRun], films: KnowledgeBase
) -> None:
    problem(get(api, runs[0].pk, uuid.uuid4()), 404)
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()
    problem(get(api, *(run.pk for run in runs)), 404)
