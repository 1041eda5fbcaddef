"""Steps, finished and to come."""

from typing import Any

import pytest

from search.views.shown.progress import show_steps
from search.views.shown.search import show_search


def test_bars_follow_one_another_and_are_as_long_as_their_step_took(described: dict[str, Any]) -> None:
    steps = show_steps(described)

    assert steps[0].x == 0.0
    assert steps[1].x == steps[0].width == round(1000 * 0.0171 / 0.0539, 1)
    assert [step.word for step in steps if step.name == "rerank"] == ["not used"]
    assert [step.width for step in steps if step.name == "rerank"] == [0.0]


def test_waiting_for_a_worker_is_the_first_bar_and_moves_the_others(described: dict[str, Any]) -> None:
    wait, plan, *_ = show_steps(described, waited=0.0539)

    assert (wait.title, wait.x, wait.width) == ("Waiting", 0.0, 500.0)
    assert wait.milliseconds == pytest.approx(53.9)
    assert (plan.x, plan.width) == (500.0, round(500 * 0.0171 / 0.0539, 1))


def test_while_a_search_runs_the_step_after_the_last_is_the_current_one(described: dict[str, Any]) -> None:
    described |= {"status": "running", "steps": described["steps"][:3], "results": [], "seconds": None}

    search = show_search(described)

    assert search.pending
    assert search.current is not None
    assert search.current.title == "Rescore"
    assert [step.status for step in search.steps[3:]] == ["current", "waiting", "waiting", "waiting"]
    assert [step.word for step in search.steps[:3]] == ["done"] * 3


def test_steps_that_were_passed_over_are_not_waited_for(described: dict[str, Any]) -> None:
    described |= {"status": "running", "steps": [described["steps"][0] | {"status": "degraded"}, described["steps"][4]]}

    search = show_search(described)

    assert search.current is not None
    assert search.current.name == "fuse"


def test_a_search_that_failed_says_which_steps_were_not_reached(described: dict[str, Any]) -> None:
    described |= {"status": "failed", "steps": described["steps"][:5], "error": {"title": "The search failed"}}

    assert [(step.name, step.word) for step in show_steps(described)[5:]] == [
        ("fuse", "not reached"),
        ("explain", "not reached"),
    ]


def test_the_mark_changes_with_every_step_and_with_the_worker(described: dict[str, Any]) -> None:
    described |= {"status": "queued", "steps": []}
    marks = {show_search(described).mark}
    marks.add(show_search(described | {"waiting": "No search worker is running."}).mark)
    marks.add(show_search(described | {"status": "running", "steps": []}).mark)

    assert len(marks) == 3


def test_a_step_without_a_language_model_is_plain_where_the_site_has_none(described: dict[str, Any]) -> None:
    plan, retrieve = described["steps"][0], described["steps"][4]
    plan |= {"status": "degraded", "detail": "No language model is configured: set LLM_BASE_URL."}
    retrieve |= {"status": "degraded", "detail": "vectors: the encoder did not answer"}

    search = show_search(described)

    assert [step.status for step in search.steps if step.status != "ok"] == ["plain", "degraded", "skipped"]
    assert search.plain == ("Plan",)
    assert [item["stage"] for item in search.degraded] == ["Retrieve"]
