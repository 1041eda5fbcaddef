"""Loading models and indexes takes none of the time of a search, and has a limit and a sentence of its own."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from search import wiring
from search.domain import trace
from search.models import KnowledgeBase, SearchRun
from search.services.searches import load_models
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.graphs import Nodes
from tests.search import small

pytestmark = pytest.mark.django_db
STEPS = ["plan", "link", "traverse", "rescore", "retrieve", "fuse", "check", "rerank", "explain"]


class Clock(SimpleNamespace):
    """The clock of limits; loading moves it on, as hours of loading would."""

    ahead: float = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    perf_counter = staticmethod(time.perf_counter)


CLOCK = Clock()
SECONDS: list[float] = []
"""How long loading takes."""


def slow_nodes(**_: Any) -> Nodes:
    """Return the nodes of the films, which take long to load."""
    CLOCK.ahead += SECONDS[-1]
    return small.node_tool()


@pytest.fixture
def cold(films: KnowledgeBase, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has loaded nothing."""
    monkeypatch.setattr(trace, "time", CLOCK)
    row = {"BACKEND": f"{__name__}.slow_nodes"}
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "nodes": row}
    wiring.forget_releases()
    SECONDS[:] = [90.0]


def searched() -> SearchRun:
    run = request_search(knowledge_base="films", question="Who made Amber Road?", enqueue=False)
    assert run.time_limit < SECONDS[-1]
    return run_search(run.pk)


def test_a_search_is_answered_though_loading_took_longer_than_it_may_take_itself(cold: None) -> None:
    run = searched()
    assert (run.status, run.error) == ("done", None)
    assert [step.name for step in run.steps.all()] == STEPS


def test_loading_that_takes_too_long_has_a_sentence_and_a_step_of_its_own(cold: None) -> None:
    SECONDS[:] = [load_models.LOADING_SECONDS + 1]
    run = searched()
    assert run.status == "failed"
    assert run.error == {
        "title": "The search failed",
        "detail": "the models were not loaded within 120 seconds; ask again, for what was loaded is kept",
        "stage": "load",
    }
    [step] = describe_search(run)["steps"]
    assert (step["name"], step["status"], step["detail"]) == ("load", "failed", run.error["detail"])
    # What was loaded is kept.
    assert searched().status == "done"


def test_loading_that_people_notice_is_a_step_beside_the_others_and_not_in_the_seconds(
    cold: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_models, "SHOWN_SECONDS", 0.0)
    run = searched()
    first, *others = run.steps.all()
    assert (first.name, first.role, first.status) == ("load", "other", "ok")
    assert first.detail == "Models and indexes were loaded; this is not a part of the search's time."
    assert [step.name for step in others] == STEPS
    assert run.seconds is not None
    assert sum(step.seconds for step in others) <= run.seconds
    assert [step.name for step in searched().steps.all()] == STEPS, "the second search has nothing to load"
