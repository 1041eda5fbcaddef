"""The one projection of a run: complete when it is done, honest before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from search.domain.errors import StageError
from search.models import KnowledgeBase, SearchRun
from search.services.searches import end_abandoned as settling
from search.services.searches.describe_search import describe_search
from search.services.searches.end_abandoned import end_abandoned_searches
from search.services.searches.follow_search import follow_search
from search.services.searches.prune_runs import prune_runs
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search import small

pytestmark = pytest.mark.django_db
QUESTION = "Who made Amber Road?"


def recorded(**asked: Any) -> SearchRun:
    return request_search(**{"knowledge_base": "films", "question": QUESTION, "enqueue": False} | asked)


def test_a_finished_search_has_everything_that_its_readers_rely_on(films: KnowledgeBase) -> None:
    shown = describe_search(run_search(recorded(k=2).pk))
    assert (shown["status"], shown["knowledge_base"], shown["release"]) == ("done", "films", "films-1")
    assert shown["pipeline"]["name"] == "path"
    assert shown["plan"] == shown["plans"][0]["plan"] == small.PLAN.to_json()
    assert shown["plans"][0] | {"plan": None} == {"plan": None, "source": "schema", "probability": 1.0, "found": 2}
    assert shown["linked"] == [
        {
            "plan_index": 0,
            "anchor": "a",
            "bindings": [{"node": {"id": "person/1", "type": "person", "name": "Ada Holm"}, "score": 0.9}],
        }
    ]
    graph = shown["graph"]
    assert (graph["backend"], graph["query"], graph["candidates"], graph["truncated"]) == (
        "small",
        "SELECT 1",
        2,
        False,
    )
    assert shown["fusion"] == {
        "method": "static", "k": 5.0, "weights": {"graph": 2.0, "text": 1.0}, "bucket": "[1,10]", "risk": "",
        "leads": False, "surely": False, "probability": None, "trust": {}, "titles": {"graph": "Graph", "text": "Text"},
    }  # fmt: skip
    assert [result["node"]["id"] for result in shown["results"]] == ["film/1", "film/2"]
    for result in shown["results"]:
        assert sum(share["contribution"] for share in result["scores"].values()) == pytest.approx(result["score"])
    evidence = shown["results"][0]["evidence"]
    assert (evidence["anchors"], evidence["hops"]) == (
        [{"var": "a", "status": "met"}], [{"index": 0, "status": "met"}],
    )  # fmt: skip
    assert [step["name"] for step in shown["steps"] if step["status"] == "skipped"] == ["rerank"]


def test_a_search_that_has_not_begun_is_empty_but_complete(films: KnowledgeBase) -> None:
    shown = describe_search(recorded())
    assert shown.keys() == describe_search(run_search(recorded().pk)).keys()
    assert (shown["status"], shown["plan"], shown["graph"], shown["results"]) == ("queued", None, None, [])


def test_a_queued_search_that_no_worker_will_take_says_so(films: KnowledgeBase) -> None:
    assert "No search worker" in describe_search(recorded(origin="api"))["waiting"]
    assert describe_search(recorded(origin="command"))["waiting"] is None


def test_what_a_search_went_without_is_named(films: KnowledgeBase) -> None:
    def away(limit: object) -> None:
        raise StageError("rescore", "the engine is away")

    small.HOOKS[f"graph: {QUESTION}"] = away
    shown = describe_search(run_search(recorded().pk))
    assert shown["degraded"] == [{"stage": "rescore", "reason": "the engine is away; text only"}]


def aged(seconds: float, status: str, origin: str = "api") -> SearchRun:
    """Return a run that was asked, and began, so long ago."""
    then = timezone.now() - timedelta(seconds=seconds)
    run = recorded(origin=origin)
    SearchRun.objects.filter(pk=run.pk).update(status=status, created=then, started=then)
    return SearchRun.objects.get(pk=run.pk)


@pytest.mark.parametrize(
    ("seconds", "status", "origin", "expected", "reason"),
    [
        (1, "queued", "api", "queued", None),
        (3600, "queued", "api", "failed", settling.NOT_TAKEN),
        (1, "running", "api", "running", None),
        (10, "running", "api", "failed", settling.WORKER_GONE),
        (10, "running", "page", "failed", settling.WORKER_GONE),
        (10, "running", "command", "running", None),
        (3600, "running", "command", "failed", settling.OVERDUE),
        (3600, "done", "api", "done", None),
    ],
)
def test_a_search_that_nobody_works_on_is_ended_with_the_reason(
    films: KnowledgeBase, seconds: float, status: str, origin: str, expected: str, reason: str | None
) -> None:
    run = aged(seconds, status, origin)
    shown = describe_search(run)
    assert shown["status"] == expected
    assert (shown["error"] or {}).get("detail") == reason
    assert SearchRun.objects.get(pk=run.pk).status == expected


def test_a_worker_that_starts_ends_what_its_predecessor_left(films: KnowledgeBase) -> None:
    left = [aged(10, "running"), aged(3600, "queued")]
    fresh = aged(1, "queued")
    assert end_abandoned_searches() == 2
    assert {SearchRun.objects.get(pk=run.pk).status for run in left} == {"failed"}
    assert SearchRun.objects.get(pk=fresh.pk).status == "queued"


def test_the_events_of_a_search_come_in_order_with_their_places(films: KnowledgeBase) -> None:
    run = recorded()
    assert follow_search(run.pk) == ([], False)
    run_search(run.pk)
    events, ended = follow_search(run.pk)
    assert ended
    assert [(event.id, event.name) for event in events] == [
        (0, "plan"), (1, "linked"), (2, "paths"), (3, "candidates"), (4, "candidates"), (5, "fused"), (7, "reranked"),
        (10, "done"),
    ]  # fmt: skip
    assert events[3].data["list"] == "graph"
    assert events[4].data["ids"] == ["film/1", "film/2", "film/3"]
    assert events[-1].data == describe_search(SearchRun.objects.get(pk=run.pk))


def test_events_that_were_seen_do_not_come_again(films: KnowledgeBase) -> None:
    run = run_search(recorded().pk)
    assert [event.id for event in follow_search(run.pk, after=5)[0]] == [7, 10]
    assert follow_search(run.pk, after=10) == ([], True)


# As in the worker, no transaction is around the search: a statement that Postgres ends would end that, too.
@pytest.mark.django_db(transaction=True)
def test_a_failed_search_ends_with_the_problem_and_then_the_end(films: KnowledgeBase) -> None:
    run = run_search(recorded(time_limit=1e-6).pk)
    events, ended = follow_search(run.pk)
    assert ended
    assert [event.name for event in events][-2:] == ["problem", "done"]
    assert "ran out" in events[-2].data["detail"]


def test_runs_older_than_the_site_keeps_them_are_forgotten(films: KnowledgeBase) -> None:
    old, young = aged(3 * 86_400, "done"), aged(86_400 / 2, "done")
    assert prune_runs(2) == 1
    assert list(SearchRun.objects.values_list("pk", flat=True)) == [young.pk]
    assert old.pk != young.pk
