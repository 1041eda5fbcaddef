"""Alive is one thing, ready another; neither is ever a traceback."""

from __future__ import annotations

import threading

import pytest
from django.test import Client

from search.services import health
from search.services.health import queue_status, system_status, worker_alive

pytestmark = pytest.mark.django_db


class State:
    """What a check of the site returns."""

    def __init__(self, ok: bool, reason: str = "") -> None:
        self.ok, self.reason = ok, reason


def well() -> State:
    return State(True)


def ill() -> State:
    return State(False, "It has a cold.")


def test_the_process_is_alive_without_asking_anybody(api: Client, django_assert_num_queries) -> None:
    with django_assert_num_queries(0):
        answer = api.get("/api/v1/healthz/")
    assert (answer.status_code, answer.json()) == (200, {"alive": True})


def test_a_missing_worker_keeps_the_site_from_being_ready_and_is_named(api: Client) -> None:
    answer = api.get("/api/v1/readyz/")
    assert answer.status_code == 503
    states = {service["name"]: service for service in answer.json()["services"]}
    assert [states[name]["state"] for name in ("postgres", "valkey", "search worker")] == ["ready", "ready", "down"]
    assert "No search worker" in states["search worker"]["reason"]


def test_the_site_is_ready_when_every_check_is(api: Client, settings) -> None:
    settings.GRASP_HEALTH = {"one": f"{__name__}.well", "other": f"{__name__}.well"}
    answer = api.get("/api/v1/readyz/")
    assert (answer.status_code, answer.json()["ready"]) == (200, True)
    settings.GRASP_HEALTH["other"] = f"{__name__}.ill"
    assert api.get("/api/v1/readyz/").json()["services"][1] == {
        "name": "other", "state": "down", "reason": "It has a cold.",
    }  # fmt: skip


def test_a_check_that_hangs_counts_as_down_within_a_second_or_so(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.2)
    monkeypatch.setattr("search.services.health.import_string", lambda path: lambda: released.wait(30) and well())
    try:
        [state] = system_status()[:1]
    finally:
        released.set()
    assert (state["state"], "not answered" in state["reason"]) == ("down", True)


@pytest.fixture(autouse=True)
def nothing_believed() -> None:
    health.forget()


def test_many_questions_after_a_worker_ask_the_broker_once(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(f"{__name__}.no_queues", lambda: asked.append(1) or [])
    settings.GRASP_QUEUES = f"{__name__}.no_queues"
    assert [worker_alive("search") for _ in range(50)] == [False] * 50
    assert len(asked) == 1


def no_queues() -> list[object]:
    return []


def test_queues_tell_what_waits_and_that_nobody_works_on_them() -> None:
    [queue] = [queue for queue in queue_status() if queue["name"] == "search"]
    assert (queue["worker"], queue["reason"]) == (None, "waiting: no worker for queue search")
    assert worker_alive("search") is False


def test_only_the_queue_of_a_machine_that_may_be_missing_needs_no_worker() -> None:
    needed = {queue["name"]: queue["needed"] for queue in queue_status()}
    assert needed == {"search": True, "jobs": True, "gpu": False}


def test_a_broker_that_is_away_leaves_the_worker_unknown(settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    assert worker_alive("search") is None
    assert queue_status() == []
    states = {service["name"]: service for service in system_status()}
    assert (states["valkey"]["state"], states["search worker"]["state"]) == ("down", "down")
