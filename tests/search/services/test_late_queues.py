"""A process too busy to hear the broker in time believes the last answer, and at once that the broker is away."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import redis
from pytest_django.fixtures import Settings

from grasp_site.health import Queue
from search.services import health

answers = threading.Event()
refuses = threading.Event()


def queues() -> list[Queue]:
    """Return a queue with a worker, once it may."""
    if refuses.is_set():
        raise redis.ConnectionError("refused")
    answers.wait(10)
    return [Queue("search", 0, {"worker": "search@test"}, [{"worker": "search@test", "threads": 2}])]


@pytest.fixture(autouse=True)
def asked_each_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The state of the queues is asked anew for every look, and late after a twentieth of a second."""
    settings.GRASP_QUEUES = f"{__name__}.queues"
    monkeypatch.setattr(health, "QUEUE_STATE_SECONDS", 0.0)
    health.forget()
    yield
    answers.set()
    refuses.clear()
    health.forget()


def test_a_late_answer_is_not_taken_for_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    answers.set()
    assert health.worker_alive("search") is True
    answers.clear()
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.05)
    assert health.worker_alive("search") is True
    assert health.workers_of("search") == [{"worker": "search@test", "threads": 2}]
    monkeypatch.setattr(health, "STILL_BELIEVED_SECONDS", 0.0)
    assert health.worker_alive("search") is None


def test_a_refusal_is_believed_at_once() -> None:
    answers.set()
    assert health.worker_alive("search") is True
    refuses.set()
    assert health.worker_alive("search") is None
    assert health.workers_of("search") == []
