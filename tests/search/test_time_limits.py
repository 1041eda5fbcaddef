"""Whatever a search asks of Postgres ends with the search's time limit, also where a table is locked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection

from search import wiring
from search.domain.errors import StageError
from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Plan
from search.domain.trace import Limit
from search.models import Endpoint, KnowledgeBase, SearchRun
from search.models.partitions import partition
from search.models.timeouts import bounded
from search.services.knowledge.index_snapshot import index_snapshot
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.fakes import HashEncoder
from tests.search import small
from tests.search.services.knowledge.test_index_snapshot import snapshot_of

pytestmark = pytest.mark.django_db(transaction=True)
SECONDS = 0.3
LATE = 3.0
"""Seconds after which a call has not kept its limit, on a machine that does something else too."""
QUESTION = "Who made Amber Road?"


@contextmanager
def locked(*tables: str) -> Iterator[None]:
    """Have another connection hold these tables, so that nobody can read them."""
    with psycopg.connect(**{**connection.get_connection_params(), "cursor_factory": psycopg.Cursor}) as other:
        other.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
        try:
            yield
        finally:
            other.rollback()


def stopped_in_time(ask: Callable[[], object]) -> None:
    began = time.monotonic()
    with pytest.raises(StageError):
        ask()
    assert time.monotonic() - began < LATE


@pytest.fixture
def tools(transactional_db: None) -> wiring.Tools:
    """The site's own tools over a small release of real rows."""
    wiring.forget()
    return wiring.tools(index_snapshot(snapshot=snapshot_of(), encoder=HashEncoder()))


def rows_of(tools: wiring.Tools) -> tuple[str, ...]:
    assert tools.release.vector_set is not None
    snapshot, vectors = tools.snapshot.pk, tools.release.vector_set.pk
    return (
        partition("search_node", snapshot), partition("search_edge", snapshot), partition("search_vector", vectors),
    )  # fmt: skip


def film_plan(tools: wiring.Tools) -> LinkedPlan:
    written = {
        "anchors": [{"var": "a", "text": "Person 0", "label": "person"}],
        "hops": [{"from": "T", "rel": "made by", "to_var": "a", "to_label": "person"}],
        "target": {"var": "T", "labels": ["film"]},
        # Only a plan with a filter asks Postgres.
        "filters": [{"var": "T", "field": "name", "op": "contains", "value": "Amber"}],
    }
    [person] = tools.nodes.references([2])
    return LinkedPlan(Plan.parse(written, tools.schema), (Binding("a", person, 1.0),), 0)


@pytest.mark.parametrize("call", ["nodes", "sample", "nearest", "execute", "paths"])
@pytest.mark.parametrize("given", ["by the caller", "by the search around it"])
def test_every_read_of_a_search_ends_with_its_limit(
    tools: wiring.Tools, call: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Few vectors are compared in memory; only many ask Postgres.
    monkeypatch.setattr("search.adapters.vectors_pgvector.IN_MEMORY", 0)
    vector = HashEncoder().vector("amber")
    plan = film_plan(tools)
    kind = tools.schema.node_types[0].name

    def ask(limit: Limit | None, needed: Limit) -> object:
        calls: dict[str, Callable[[], object]] = {
            "nodes": lambda: tools.nodes.nodes([0, 1], limit),
            "sample": lambda: tools.vectors.sample(kind, 10, limit),
            "nearest": lambda: tools.vectors.nearest("name", vector, 3, (), limit),
            "execute": lambda: tools.graph.execute(plan, needed),
            "paths": lambda: tools.graph.paths(plan, [0], needed),
        }
        return calls[call]()

    with locked(*rows_of(tools)):
        if given == "by the caller":
            limit = Limit.seconds(SECONDS)
            stopped_in_time(lambda: ask(limit, limit))
        else:
            limit = Limit.seconds(SECONDS)
            with bounded("search", limit):
                stopped_in_time(lambda: ask(None, limit))


def test_what_models_read_in_a_search_ends_with_its_limit(db: None) -> None:
    with locked("search_endpoint"), bounded("plan", Limit.seconds(SECONDS)):
        stopped_in_time(lambda: Endpoint.objects.filter(active=True).exists())
    assert not Endpoint.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_a_search_whose_tables_are_locked_fails_within_its_limit_and_says_so(films: KnowledgeBase) -> None:
    def look(limit: Limit) -> None:
        with locked("search_endpoint"):
            Endpoint.objects.filter(active=True).exists()

    small.HOOKS[QUESTION] = look
    run = request_search(knowledge_base="films", question=QUESTION, enqueue=False, time_limit=1.0)
    began = time.monotonic()
    run_search(run.pk)
    assert time.monotonic() - began < LATE
    run.refresh_from_db()
    assert (run.status, "time limit ran out" in str(run.error)) == ("failed", True)


def test_a_step_that_cannot_be_written_does_not_hold_the_search(films: KnowledgeBase) -> None:
    run, looked = request_search(knowledge_base="films", question=QUESTION, enqueue=False), threading.Event()

    def lock(limit: Limit) -> None:
        with locked("search_searchstep"):
            looked.wait(LATE / 2)

    small.HOOKS[QUESTION] = lock
    assert run_search(run.pk, live=True).status == "done"
    assert [step.name for step in SearchRun.objects.get(pk=run.pk).steps.all()][-1] == "explain"


def test_a_limit_without_an_end_sets_nothing(db: None, django_assert_num_queries: Any) -> None:
    with bounded("plan", Limit()), django_assert_num_queries(1):
        Endpoint.objects.exists()
