"""A worker whose threads are stuck takes no more searches, and ends when the others are done."""

from __future__ import annotations

from typing import Any

import pytest

from grasp_site import leaving
from grasp_site.leaving import EXIT_STUCK, Leaving, too_many


class Consumer:
    """Celery's consumer, as far as a leaving worker asks it."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.task_consumer = self.channel = self.qos = self

    def call_soon(self, call: Any, *arguments: Any) -> None:
        call(*arguments)

    def cancel_task_queue(self, queue: str) -> None:
        self.asked.append(f"no more from {queue}")

    def restore_unacked_once(self) -> None:
        self.asked.append("given back")


@pytest.mark.parametrize(
    ("stuck", "threads", "many"),
    [(0, 1, False), (1, 1, True), (1, 2, True), (1, 3, False), (2, 3, True), (3, 8, False)],
)
def test_a_worker_leaves_when_half_of_its_threads_are_stuck(stuck: int, threads: int, many: bool) -> None:
    assert too_many(stuck, threads) is many


def test_a_worker_waits_for_its_healthy_searches_gives_back_the_others_and_ends() -> None:
    consumer, left = Consumer(), []
    attendant = Leaving(consumer, "search", 4, left.append)
    attendant(1, 4)
    assert consumer.asked == []
    attendant(2, 4)
    attendant(2, 3)
    assert (consumer.asked, left) == (["no more from search"], [])
    attendant(2, 2)
    assert (consumer.asked, left) == (["no more from search", "given back"], [EXIT_STUCK])


def test_a_worker_whose_main_thread_does_not_answer_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer, left = Consumer(), []
    monkeypatch.setattr(consumer, "call_soon", lambda *_: None)
    monkeypatch.setattr(leaving, "PATIENCE", -1.0)
    attendant = Leaving(consumer, "search", 2, left.append)
    attendant(1, 1)
    attendant(1, 1)
    assert left == []
    attendant(1, 1)
    assert left == [EXIT_STUCK]
