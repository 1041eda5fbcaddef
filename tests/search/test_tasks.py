"""The task of a search: it runs once, never again by itself, and leaves the reason in the row."""

from __future__ import annotations

import pytest

from search.domain.errors import StageError
from search.models import KnowledgeBase
from search.services.searches.request_search import request_search
from search.services.searches.send_search import TASK
from search.tasks import run_search
from tests.search import small

pytestmark = pytest.mark.django_db


def test_the_service_sends_the_task_by_the_name_it_has() -> None:
    assert run_search.name == TASK


def test_a_search_is_neither_retried_nor_delivered_again() -> None:
    assert not run_search.acks_late
    assert not hasattr(run_search, "autoretry_for")


def test_a_failure_stays_in_the_row_and_out_of_the_workers_way(films: KnowledgeBase) -> None:
    def away(limit: object) -> None:
        raise StageError("retrieve", "the index is away")

    small.HOOKS["Who?"] = away
    run = request_search(knowledge_base="films", question="Who?", enqueue=False)
    run_search(str(run.pk))
    run.refresh_from_db()
    assert (run.status, run.error and run.error["detail"]) == ("failed", "the index is away")
