"""Asking over HTTP: what is wrong is said with its place, what is right is queued, executed and shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from search.api import searches
from search.models import KnowledgeBase, RefusedRequests, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.reword import NO_MODEL
from search.services.searches.run_search import run_search

ADDRESS = "/api/v1/searches/"
NOBODYS = "00000000-0000-4000-8000-000000000000"
"""The id of a search that nobody asked; always the same, as it is part of the names of tests."""
QUESTION = "Who made Amber Road?"


def post(api: Client, body: Any, address: str = ADDRESS, **extra: Any) -> Any:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    return api.post(address, text, content_type="application/json", **extra)


def problem(answer: Any, status: int) -> dict[str, Any]:
    """Return the problem that an answer holds, after checking that it is one."""
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert found["request_id"]
    assert {"type", "title", "detail", "instance", "errors"} <= found.keys()
    return found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/question", "/knowledge_base"]),
        ({"knowledge_base": "films", "question": ""}, ["/question"]),
        ({"knowledge_base": "films", "question": "x" * 10_000}, ["/question"]),
        ({"knowledge_base": "films", "question": "a\x00b"}, ["/question"]),
        ({"knowledge_base": "nothing", "question": "who?"}, ["/knowledge_base"]),
        ({"knowledge_base": "films", "question": "who?", "k": 0}, ["/k"]),
        ({"knowledge_base": "films", "question": "who?", "k": 1_000_000}, ["/k"]),
        ({"knowledge_base": "films", "question": "who?", "k": "x"}, ["/k"]),
        ({"knowledge_base": "films", "question": "who?", "pipelin": "path"}, ["/pipelin"]),
        ({"knowledge_base": "films", "question": "who?", "a/b": 1}, ["/a~1b"]),
        ({"knowledge_base": "films", "question": "who?", "plan": {"hops": 1, "x": 2}},
         ["/plan/x", "/plan/hops", "/plan/target"]),
        ({"knowledge_base": "films", "question": "who?", "settings": {"fuse.k": -1}}, ["/settings/fuse.k"]),
        ({"knowledge_base": "films", "question": "who?", "\x00\ud800": 1}, ["/\ufffd?"]),
        ({"knowledge_base": "films", "question": "who?", "settings": {"\x00": 1}}, ["/settings"]),
        ({"knowledge_base": "films", "question": "who?", "plan": {"\x00": 1, "target": {"var": "T"}}}, ["/plan"]),
        ([], [""]), ("a string", [""]), (None, [""]), (5, [""]),
    ],
)  # fmt: skip
def test_every_fault_of_a_request_is_named_with_its_place(
    api: Client, films: KnowledgeBase, body: Any, pointers: list[str]
) -> None:
    found = problem(post(api, json.dumps(body)), 400)
    assert [fault["pointer"] for fault in found["errors"]] == pointers
    assert all(fault["message"] for fault in found["errors"])


@pytest.mark.django_db
def test_a_refused_request_is_counted_and_leaves_no_search(api: Client, films: KnowledgeBase) -> None:
    problem(post(api, {"knowledge_base": "films", "question": "", "k": 0}), 400)
    assert not SearchRun.objects.exists()
    assert list(RefusedRequests.objects.values_list("origin", "kind", "number")) == [("api", "question", 1)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "line 1, column 2"), (b" ", "line 1, column 2"), (b"{'a': 1}", "line 1"), (b'{"k": NaN}', "JSON"),
        (b"\xff\xfe", "UTF-8"), (b"[" * 100_000, "nested"), (b'{"k": ' + b"9" * 5000 + b"}", "too long"),
    ],
)  # fmt: skip
def test_a_body_that_is_not_json_is_told_where_it_stops_being(
    api: Client, films: KnowledgeBase, body: bytes, said: str
) -> None:
    found = problem(post(api, body), 400)
    assert said in found["detail"]
    assert found["errors"][0]["pointer"] == ""


@pytest.mark.django_db
def test_a_body_without_end_is_refused(api: Client, films: KnowledgeBase) -> None:
    problem(post(api, b'{"question": "' + b"x" * 2_000_000 + b'"}'), 413)


@pytest.mark.django_db
def test_a_form_is_no_search(api: Client, films: KnowledgeBase) -> None:
    problem(api.post(ADDRESS, {"question": "who?"}), 415)


@pytest.mark.django_db
@pytest.mark.parametrize("wait", ["x", "-1", "nan", "1;DROP"])
def test_a_wait_that_is_no_number_is_a_fault(api: Client, films: KnowledgeBase, wait: str) -> None:
    answer = api.post(
        f"{ADDRESS}?wait={wait}", json.dumps({"knowledge_base": "films", "question": "who?"}), "application/json"
    )
    assert [fault["pointer"] for fault in problem(answer, 400)["errors"]] == ["/wait"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("get", f"{ADDRESS}{NOBODYS}/", 404), ("get", f"{ADDRESS}{NOBODYS}/events/", 404),
        ("post", f"{ADDRESS}{NOBODYS}/cancel/", 404), ("get", f"{ADDRESS}5/", 404), ("get", ADDRESS, 405),
        ("delete", f"{ADDRESS}{NOBODYS}/", 405), ("get", "/api/v1/nothing/", 404), ("get", "/api/v1/", 404),
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_problem(api: Client, method: str, address: str, status: int) -> None:
    problem(getattr(api, method)(address), status)


@pytest.mark.django_db
def test_the_callers_own_request_id_comes_back(api: Client) -> None:
    assert problem(api.get("/api/v1/nothing/", headers={"X-Request-ID": "mine-1"}), 404)["request_id"] == "mine-1"
    given = api.get("/api/v1/nothing/", headers={"X-Request-ID": "<script>"})
    assert problem(given, 404)["request_id"] != "<script>"


@pytest.mark.django_db
def test_a_search_can_be_read_by_whoever_may_search_its_knowledge_base(api: Client, films: KnowledgeBase) -> None:
    run = run_search(request_search(knowledge_base="films", question=QUESTION, enqueue=False).pk)
    assert api.get(f"{ADDRESS}{run.pk}/").json()["status"] == "done"
    KnowledgeBase.objects.update(visibility="staff")
    problem(api.get(f"{ADDRESS}{run.pk}/"), 404)
    api.force_login(User.objects.create_user("staff", is_staff=True))
    assert api.get(f"{ADDRESS}{run.pk}/").status_code == 200


@pytest.mark.django_db
def test_only_who_asked_may_cancel(films: KnowledgeBase) -> None:
    asker, other = User.objects.create_user("asker"), User.objects.create_user("other")
    run = request_search(knowledge_base="films", question=QUESTION, enqueue=False, user=asker)
    clients = {user: Client() for user in (asker, other)}
    for user, client in clients.items():
        client.force_login(user)
    assert clients[other].get(f"{ADDRESS}{run.pk}/").status_code == 200
    problem(clients[other].post(f"{ADDRESS}{run.pk}/cancel/"), 403)
    assert clients[asker].post(f"{ADDRESS}{run.pk}/cancel/").json()["status"] == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_a_search_is_queued_with_its_address_and_says_that_nobody_takes_it(
    api: Client, committed_films: KnowledgeBase
) -> None:
    answer = post(api, {"knowledge_base": "films", "question": QUESTION})
    assert answer.status_code == 202
    shown = answer.json()
    assert answer["Location"] == f"{ADDRESS}{shown['id']}/"
    assert shown["status"] == "queued"
    assert "No search worker" in shown["waiting"]
    assert api.post(f"{answer['Location']}cancel/").json()["status"] == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_waiting_for_a_search_that_nobody_takes_ends_soon(api: Client, committed_films: KnowledgeBase) -> None:
    answer = post(api, {"knowledge_base": "films", "question": QUESTION}, f"{ADDRESS}?wait=30")
    assert answer.status_code == 202
    assert "No search worker" in answer.json()["waiting"]
    SearchRun.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_longer_than_a_search_may_take(
    api: Client, committed_films: KnowledgeBase, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GRASP_SEARCH_SECONDS = 1
    waits: list[float] = []
    monkeypatch.setattr(searches.Ending, "wait", lambda end, seconds: waits.append(seconds))
    for wait in ("0.5", "600", "inf"):
        assert post(api, {"knowledge_base": "films", "question": QUESTION}, f"{ADDRESS}?wait={wait}").status_code == 202
    assert waits == [0.5, 1, 1]
    SearchRun.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_a_search_is_executed_by_the_worker_and_comes_back_whole(api: Client, worker: None) -> None:
    answer = post(api, {"knowledge_base": "films", "question": QUESTION, "k": 2}, f"{ADDRESS}?wait=20")
    assert answer.status_code == 201
    shown = answer.json()
    assert (shown["status"], shown["waiting"]) == ("done", None)
    assert [result["node"]["id"] for result in shown["results"]] == ["film/1", "film/2"]
    assert api.get(answer["Location"]).json() == shown

    answer = post(api, {"knowledge_base": "films", "question": QUESTION}, f"{ADDRESS}?wait=20&reword=true")
    told = answer.json()["answer"]
    assert (told["written"], told["reworded"]) == (shown["answer"]["written"], {"done": False, "because": NO_MODEL})


@pytest.mark.django_db(transaction=True)
def test_null_means_not_given_for_what_may_be_left_out(api: Client, worker: None) -> None:
    body = {
        "knowledge_base": "films",
        "question": QUESTION,
        "plan": None,
        "settings": None,
        "pipeline": None,
        "k": None,
    }
    assert post(api, body, f"{ADDRESS}?wait=20").status_code == 201
