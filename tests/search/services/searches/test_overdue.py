"""A search that overstays its limit is ended by others, and it counts as stuck until it comes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from django.db import OperationalError, connection

from search.domain.trace import Limit
from search.models import KnowledgeBase, SearchRun
from search.services.searches.overdue import GRACE_SECONDS, WATCH, Watch
from search.services.searches.request_search import request_search
from search.services.searches.run_search import OVERSTAYED, run_search
from search.services.searches.watch_search import notices
from tests.search import small

QUESTION = "Who made Amber Road?"
PATIENCE = 20.0
OVERDUE = -GRACE_SECONDS - 1


@contextmanager
def deaf_search() -> Iterator[SearchRun]:
    """Run a search that looks neither at its limit nor at its cancellation, until the block ends."""
    began, end = threading.Event(), threading.Event()

    def deaf(limit: Limit) -> None:
        began.set()
        end.wait(PATIENCE)

    def search() -> None:
        try:
            run_search(run.pk, live=True)
        finally:
            connection.close()

    small.HOOKS[QUESTION] = deaf
    run = request_search(knowledge_base="films", question=QUESTION, enqueue=False)
    thread = threading.Thread(target=search)
    thread.start()
    try:
        assert began.wait(PATIENCE)
        yield run
    finally:
        end.set()
        thread.join(PATIENCE)


@pytest.mark.django_db(transaction=True)
def test_a_search_that_does_not_stop_is_ended_with_the_reason_and_those_who_wait_are_told(
    films: KnowledgeBase,
) -> None:
    told = threading.Event()
    with deaf_search() as run:
        WATCH.look()
        run.refresh_from_db()
        assert (run.status, WATCH.stuck()) == ("running", 0)
        with notices().heard(str(run.pk), lambda answer: told.set() if answer is not None else None):
            WATCH.allow(run.pk, OVERDUE)
            WATCH.look()
            assert told.wait(PATIENCE)
        run.refresh_from_db()
        assert run.status == "failed"
        assert run.error == {"title": "The search failed", "detail": OVERSTAYED, "stage": "search"}
        assert WATCH.stuck() == 1
    ended = run.finished
    run.refresh_from_db()
    assert (run.status, run.finished, WATCH.stuck()) == ("failed", ended, 0)


@pytest.mark.django_db(transaction=True)
def test_a_search_may_take_its_limit_and_the_grace(films: KnowledgeBase) -> None:
    with deaf_search() as run:
        # Less than the grace beyond its limit.
        WATCH.allow(run.pk, 1 - GRACE_SECONDS)
        WATCH.look()
        run.refresh_from_db()
        assert (run.status, WATCH.stuck()) == ("running", 0)


def test_a_search_is_ended_once_and_its_attendants_are_told_how_many_are_stuck() -> None:
    watch, ended, told = Watch(), [], []
    watch.attend(told.append)
    first, second = uuid4(), uuid4()
    with watch.over(first, lambda: ended.append(first)), watch.over(second, lambda: ended.append(second)):
        watch.allow(first, OVERDUE)
        watch.look()
        watch.look()
    watch.look()
    assert ended == [first]
    assert told == [1, 1, 0]


def test_while_postgres_is_away_it_tries_again() -> None:
    watch, tries = Watch(), []

    def end() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OperationalError("away")

    search = uuid4()
    with watch.over(search, end):
        watch.allow(search, OVERDUE)
        watch.look()
        assert watch.stuck() == 0
        watch.look()
        assert (watch.stuck(), len(tries)) == (1, 2)
