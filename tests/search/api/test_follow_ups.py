"""Questions that follow another search over HTTP: the request, its faults, and what comes back."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search

ADDRESS = "/api/v1/searches/"


def post(api: Client, body: dict[str, Any], address: str = ADDRESS) -> Any:
    return api.post(address, json.dumps(body), content_type="application/json")


def done(question: str = "Who made Amber Road?") -> SearchRun:
    return run_search(request_search(knowledge_base="films", question=question, enqueue=False).pk)


@pytest.mark.django_db
@pytest.mark.parametrize("follows", ["x", 7, str(uuid.UUID(int=3)), [], {}])
def test_a_search_that_is_not_there_is_a_fault_of_follows(api: Client, films: KnowledgeBase, follows: object) -> None:
    answer = post(api, {"knowledge_base": "films", "question": "how many?", "follows": follows})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    [fault] = answer.json()["errors"]
    assert fault["pointer"] == "/follows"
    assert "There is no search with the id" in fault["message"]


@pytest.mark.django_db
def test_a_search_that_has_not_ended_cannot_be_followed_yet(api: Client, films: KnowledgeBase) -> None:
    run = request_search(knowledge_base="films", question="Who made Amber Road?", enqueue=False)
    answer = post(api, {"question": "how many?", "follows": str(run.pk)})
    assert answer.json()["errors"] == [
        {"pointer": "/follows", "message": "The search to follow has not ended yet; ask on when it has."}
    ]


@pytest.mark.django_db
def test_without_a_search_to_follow_the_knowledge_base_is_chosen(api: Client, films: KnowledgeBase) -> None:
    answer = post(api, {"question": "how many?", "follows": None}).json()
    assert (answer["knowledge_base"], answer["other_bases"], answer["follows"]) == ("films", [], None)


@pytest.mark.django_db(transaction=True)
def test_a_follow_up_needs_no_knowledge_base_and_shows_its_thread(api: Client, worker: None) -> None:
    first = post(api, {"knowledge_base": "films", "question": "Who made Amber Road?"}, f"{ADDRESS}?wait=20").json()
    assert (first["follows"], first["follow_up"]) == (None, None)
    answer = post(api, {"question": "how many?", "follows": first["id"]}, f"{ADDRESS}?wait=20")
    assert answer.status_code == 201
    shown = answer.json()
    assert (shown["knowledge_base"], shown["follows"]) == ("films", first["id"])
    assert shown["follow_up"]["thread"] == [{"id": first["id"], "question": "Who made Amber Road?"}]
    assert api.get(answer["Location"]).json() == shown


@pytest.mark.django_db
def test_a_given_plan_is_compared_with_the_plan_before(api: Client, films: KnowledgeBase) -> None:
    first = done()
    plan = {
        "anchors": [{"var": "a", "text": "Ada Holm", "label": "person"}],
        "hops": [{"from": "a", "rel": "directed by", "to_var": "T", "to_label": "film", "direction": "in"}],
        "target": {"var": "T", "labels": ["film"]},
        "filters": [{"var": "T", "field": "year", "op": ">", "value": 2000}],
    }
    run = request_search(
        knowledge_base="films", question="after 2000", plan=plan, follows=first.pk, enqueue=False
    )  # fmt: skip
    run_search(run.pk)
    told = api.get(f"{ADDRESS}{run.pk}/").json()["follow_up"]
    assert told["reading"] == "changed"
    assert [(one["kind"], one["part"], one["text"], one["was"], one["at"]) for one in told["changes"]] == [
        ("kept", "target", "film", "/target", "/target"),
        ("kept", "anchor", "Ada Holm", "/anchors/0", "/anchors/0"),
        ("kept", "hop", "is “directed by” of", "/hops/0", "/hops/0"),
        ("added", "filter", "year after 2000", None, "/filters/0"),
    ]


@pytest.mark.django_db
def test_the_description_of_the_api_names_follows(api: Client) -> None:
    described = api.get("/api/schema/?format=json").json()["components"]["schemas"]
    assert described["SearchRequest"]["properties"]["follows"]["format"] == "uuid"
    assert described["SearchRequest"]["required"] == ["question"]
    assert {"follows", "follow_up"} <= set(described["Search"]["properties"])
