"""A search followed over server-sent events: each step as it happens, and from where somebody left off."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from httpx2 import Client as Caller
from httpx2 import Response

from search.api import streams
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.models import SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search import small

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Who made Amber Road?"
WHOLE = ["plan", "linked", "paths", "candidates", "candidates", "fused", "reranked", "done"]
PATIENCE = 20.0


def read(answer: Response) -> Iterator[dict[str, Any]]:
    """Give the events of a stream as they come; comments as events named `comment`."""
    event: dict[str, Any] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if not line and event:
            yield event
            event = {}
        elif line.startswith(":"):
            yield {"event": "comment"}
        elif name == "data":
            event["data"] = json.loads(value)
        elif line:
            event[name] = value


def recorded(**asked: Any) -> SearchRun:
    return request_search(**{"knowledge_base": "films", "question": QUESTION, "enqueue": False} | asked)


def address(server: str, run: SearchRun) -> str:
    return f"{server}/api/v1/searches/{run.pk}/events/"


def names(found: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in found if "event" in event]


def test_events_arrive_while_the_worker_is_still_searching(server: str, worker: None) -> None:
    seen = threading.Event()

    def hold(limit: Limit) -> None:
        assert seen.wait(PATIENCE), "nobody saw the plan while the search was running"

    small.HOOKS[QUESTION] = hold
    with Caller(timeout=PATIENCE) as caller:
        asked = caller.post(f"{server}/api/v1/searches/", json={"knowledge_base": "films", "question": QUESTION})
        found = []
        with caller.stream("GET", f"{server}{asked.headers['Location']}events/") as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            for event in read(answer):
                found.append(event)
                if event.get("event") == "plan":
                    assert SearchRun.objects.get().status == "running"
                    seen.set()
    assert names(found) == WHOLE
    assert [event["id"] for event in found if "id" in event] == ["0", "1", "2", "3", "4", "5", "7", "10"]
    assert found[-1]["data"]["results"][0]["node"]["id"] == "film/1"


def test_a_reader_who_comes_back_gets_what_was_missed_and_then_nothing(server: str) -> None:
    run = run_search(recorded().pk)
    with Caller(timeout=PATIENCE) as caller:
        with caller.stream("GET", address(server, run), headers={"Last-Event-ID": "4"}) as answer:
            assert names(list(read(answer))) == ["fused", "reranked", "done"]
        assert caller.get(address(server, run), headers={"Last-Event-ID": "10"}).status_code == 204
        with caller.stream("GET", address(server, run), headers={"Last-Event-ID": "nonsense"}) as answer:
            assert names(list(read(answer))) == WHOLE


def test_what_went_wrong_on_the_way_is_a_problem_of_its_own(server: str) -> None:
    def away(limit: Limit) -> None:
        raise StageError("rescore", "the engine is away")

    small.HOOKS[f"graph: {QUESTION}"] = away
    run = run_search(recorded().pk)
    with Caller(timeout=PATIENCE) as caller, caller.stream("GET", address(server, run)) as answer:
        found = list(read(answer))
    [problem] = [event["data"] for event in found if event.get("event") == "problem"]
    assert (problem["stage"], problem["status"], problem["detail"]) == (
        "rescore", "degraded", "the engine is away; text only",
    )  # fmt: skip
    assert names(found)[-1] == "done"


def test_silence_is_broken_by_comments_and_a_stream_does_not_live_for_ever(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.2)
    monkeypatch.setattr(streams, "LONGEST_STREAM_SECONDS", 1.0)
    run = recorded()
    with Caller(timeout=PATIENCE) as caller, caller.stream("GET", address(server, run)) as answer:
        assert names(list(read(answer))).count("comment") >= 2


def test_a_cancelled_search_ends_the_stream(server: str) -> None:
    with Caller(timeout=PATIENCE) as caller:
        asked = caller.post(f"{server}/api/v1/searches/", json={"knowledge_base": "films", "question": QUESTION})
        where = f"{server}{asked.headers['Location']}"
        with caller.stream("GET", f"{where}events/") as answer:
            stream = read(answer)
            assert "retry" in next(stream)
            assert caller.post(f"{where}cancel/").status_code == 200
            found = list(stream)
    assert names(found) == ["done"]
    assert found[-1]["data"]["status"] == "cancelled"


def test_a_reader_may_accept_nothing_but_events(server: str) -> None:
    run = run_search(recorded().pk)
    with Caller(timeout=PATIENCE) as caller:
        answer = caller.get(address(server, run), headers={"Accept": "text/event-stream"})
    assert answer.status_code == 200
