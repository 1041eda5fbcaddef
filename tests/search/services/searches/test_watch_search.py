"""Following a search costs one small query until something changed, and whoever waits is woken."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from search.api import events
from search.models import KnowledgeBase, SearchRun
from search.services.searches import watch_search
from search.services.searches.cancel_search import cancel_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.services.searches.watch_search import await_change, glance
from tests.search import small

pytestmark = pytest.mark.django_db
QUESTION = "Who made Amber Road?"
PATIENCE = 20.0


def recorded(**asked: Any) -> SearchRun:
    return request_search(**{"knowledge_base": "films", "question": QUESTION, "enqueue": False} | asked)


def test_a_look_reads_no_answer_and_no_step(
    films: KnowledgeBase, django_assert_num_queries: Callable[..., Any]
) -> None:
    run = run_search(recorded().pk)
    with django_assert_num_queries(1) as captured:
        glance(run.pk)
    [query] = captured.captured_queries
    assert not any(column in query["sql"] for column in ("answer", "specification", "search_searchstep"))


def test_a_page_that_asks_for_news_reads_no_step_while_there_is_none(
    films: KnowledgeBase, client: Client, django_assert_num_queries: Callable[..., Any]
) -> None:
    run = recorded()
    address = reverse("search-live", args=[run.pk])
    mark = glance(run.pk).mark
    with django_assert_num_queries(1):
        assert client.get(address, {"seen": mark}).status_code == 204
    assert client.get(address, {"seen": "something else"}).status_code == 200


def test_a_stream_reads_no_step_while_there_is_none(
    films: KnowledgeBase, django_assert_num_queries: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.api.events.connection.close", lambda: None)
    run = recorded()
    seen, found, ended = events._look(run.pk, -1, events.NOTHING_SEEN)
    assert (found, ended) == ([], False)
    with django_assert_num_queries(1):
        assert events._look(run.pk, -1, seen) == (seen, [], False)


def test_everything_that_is_written_of_a_run_changes_it(films: KnowledgeBase) -> None:
    asked = recorded()
    seen = [glance(asked.pk)]
    small.HOOKS[QUESTION] = lambda limit: seen.append(glance(asked.pk))
    run_search(asked.pk)
    seen.append(glance(asked.pk))
    assert [(one.status, one.changes) for one in seen] == [("queued", 0), ("running", 1), ("done", 2)]
    other = recorded()
    cancel_search(other, user=None)
    assert (glance(other.pk).status, glance(other.pk).changes) == ("cancelled", 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broker", ["there", "away"])
def test_who_waits_is_told_of_the_end(films: KnowledgeBase, settings: Any, broker: str) -> None:
    if broker == "away":
        settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    run, looks = recorded(), []

    def enough(seen: watch_search.Glance) -> bool:
        looks.append(seen)
        if len(looks) == 1:
            # From here on it runs beside the one who waits.
            threading.Thread(target=searched).start()
        return seen.ended

    def searched() -> None:
        try:
            run_search(run.pk, live=True)
        finally:
            events.connection.close()

    began = time.monotonic()
    assert await_change(run.pk, PATIENCE, enough).status == "done"
    assert time.monotonic() - began < PATIENCE


def test_nobody_is_held_where_too_many_are_held(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_search, "_places", threading.BoundedSemaphore(1))
    watch_search._places.acquire()
    assert await_change(recorded().pk, PATIENCE, lambda seen: False).status == "queued"
