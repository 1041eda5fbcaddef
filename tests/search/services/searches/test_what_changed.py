"""A search asked again: ranks gained and lost, what is new and gone, the answer, and the reasons."""

from __future__ import annotations

import pytest

from search.domain.errors import InvalidRequest
from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_again import run_again
from search.services.searches.run_search import run_search
from search.services.searches.what_changed import plan_changes, what_changed
from tests.search import small

pytestmark = pytest.mark.django_db
QUESTION = "Which films did Ada Holm direct?"


def ask(pipeline: str) -> SearchRun:
    run = request_search(knowledge_base="films", question=QUESTION, pipeline=pipeline, k=7, enqueue=False)
    return run_search(run.pk)


def again(run: SearchRun) -> SearchRun:
    asked = run_again(run, user=None)
    assert (asked.question, asked.pipeline, asked.k) == (run.question, run.pipeline, run.k)
    return run_search(asked.pk)


def test_ranks_that_moved_and_why(films: KnowledgeBase, services: object) -> None:
    before = ask("text")
    old = films.active_release
    assert old is not None
    films.active_release = films.releases.create(number=2, snapshot=old.snapshot, status=old.status)
    films.save()
    films.pipeline_versions.create(pipeline="text", version=1, active=True, options={"retrieve.depth": 2})
    # The first film falls behind the second one, and the third one is cut off.
    small.SCORES[QUESTION] = 0.45
    changed = what_changed(before, again(before))

    assert [(one["node"]["id"], one["before"], one["after"], one["kind"], one["by"]) for one in changed["results"]] == [
        ("film/1", 1, 2, "down", -1), ("film/2", 2, 1, "up", 1), ("film/3", 3, None, "gone", 0),
    ]  # fmt: skip
    assert changed["counts"] == {"new": 0, "gone": 1, "up": 1, "down": 1, "same": 0}
    assert changed["reasons"] == [
        {"kind": "release", "before": "films-1", "after": "films-2"},
        {"kind": "version", "before": "0", "after": "1"},
        {"kind": "option", "option": "retrieve.depth", "before": "50", "after": "2"},
    ]
    assert changed["finished"]
    assert not changed["answer"]["differs"]


def test_nothing_changes_where_nothing_did(films: KnowledgeBase, services: object) -> None:
    before = ask("path")
    changed = what_changed(before, again(before))
    assert {one["kind"] for one in changed["results"]} == {"same"}
    assert (changed["reasons"], changed["plan"]) == ([], [])


def test_searches_of_different_questions_are_refused(films: KnowledgeBase, services: object) -> None:
    other = run_search(request_search(knowledge_base="films", question="Who?", enqueue=False).pk)
    with pytest.raises(InvalidRequest, match="of different questions"):
        what_changed(ask("text"), other)


def test_a_follow_up_whose_earlier_search_is_gone_says_so(films: KnowledgeBase, services: object) -> None:
    first = ask("path")
    run = request_search(knowledge_base="", question="how many?", follows=first.pk, enqueue=False)
    first.delete()
    with pytest.raises(InvalidRequest, match="ask them anew"):
        run_again(run, user=None)


def test_parts_that_one_plan_has() -> None:
    shared, old, new = (
        {"part": "hop", "text": text, "searches": at} for text, at in (("a", [0, 1]), ("b", [0]), ("c", [1]))
    )
    comparison = {"searches": [{"plan": [shared, old]}, {"plan": [shared, new]}]}
    assert list(plan_changes(comparison)) == [
        {"kind": "removed", "part": "hop", "text": "b"}, {"kind": "added", "part": "hop", "text": "c"},
    ]  # fmt: skip
