"""Following a search costs one small query until something changed, and whoever waits is woken."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from search.api.events import SearchSource
from search.models import KnowledgeBase, SearchRun
from search.services.searches import watch_search
from search.services.searches.cancel_search import cancel_search
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.services.searches.watch_search import Ending, await_change, glance
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
    films: KnowledgeBase, django_assert_num_queries: Callable[..., Any]
) -> None:
    source = SearchSource(recorded().pk, after=-1)
    assert source.look() == ([], False)
    with django_assert_num_queries(1):
        assert source.look() == ([], False)


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
            connection.close()

    began = time.monotonic()
    assert await_change(run.pk, PATIENCE, enough).status == "done"
    assert time.monotonic() - began < PATIENCE


def test_nobody_is_held_where_too_many_are_held(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_search, "_places", threading.BoundedSemaphore(1))
    watch_search._places.acquire()
    assert await_change(recorded().pk, PATIENCE, lambda seen: False).status == "queued"


@contextmanager
def beside(run: SearchRun, **how: Any) -> Iterator[None]:
    """Run the search on another thread, as the worker does."""

    def searched() -> None:
        try:
            run_search(run.pk, live=True, **how)
        finally:
            connection.close()

    thread = threading.Thread(target=searched)
    thread.start()
    yield
    thread.join()


def listening() -> None:
    """Wait until notices come in, so that a test does not depend on which test was the first to listen."""
    with watch_search.notices().heard("nobody", lambda _: None):
        deadline = time.monotonic() + PATIENCE
        while not watch_search.notices().hears:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.django_db(transaction=True)
def test_who_awaits_the_end_gets_the_whole_search_without_reading_a_row(
    films: KnowledgeBase, django_assert_num_queries: Callable[..., Any]
) -> None:
    listening()
    run = recorded()
    with Ending(run.pk).awaited() as end, beside(run, awaited=True), django_assert_num_queries(0):
        told = end.wait(PATIENCE)
    assert told
    assert orjson.loads(told) == orjson.loads(orjson.dumps(describe_search(SearchRun.objects.get(pk=run.pk))))
    assert orjson.loads(told)["status"] == "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broker", ["there", "away"])
def test_an_end_that_is_told_without_an_answer_or_not_told_at_all_is_found_in_the_row(
    films: KnowledgeBase, settings: Any, broker: str
) -> None:
    if broker == "away":
        settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    run = recorded()
    with Ending(run.pk).awaited() as end, beside(run, awaited=broker == "away"):
        assert end.wait(PATIENCE) == b""
    assert glance(run.pk).status == "done"


@pytest.mark.django_db(transaction=True)
def test_who_awaits_a_search_is_told_that_it_failed_or_was_cancelled(films: KnowledgeBase) -> None:
    run, other = recorded(), recorded()

    def broken(limit: object) -> None:
        raise RuntimeError("an unexpected error")

    small.HOOKS[QUESTION] = broken
    listening()
    with Ending(run.pk).awaited() as end:
        with pytest.raises(RuntimeError):
            run_search(run.pk, live=True, awaited=True)
        assert orjson.loads(end.wait(PATIENCE) or b"null")["status"] == "failed"
    with Ending(other.pk).awaited() as end:
        cancel_search(other, user=None)
        assert end.wait(PATIENCE) == b""


@pytest.mark.django_db(transaction=True)
def test_the_end_is_not_awaited_where_too_many_wait_or_time_is_over(
    films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorded()
    with Ending(run.pk).awaited() as end:
        assert end.wait(0.0) is None
        monkeypatch.setattr(watch_search, "_places", threading.BoundedSemaphore(1))
        watch_search._places.acquire()
        assert end.wait(PATIENCE) is None
