"""Ends a worker whose threads are stuck in searches: it takes no more, and exits when the others are done.

Whoever keeps the worker running (the supervisor of `make run`, Docker, Kubernetes) then starts it again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import structlog

EXIT_STUCK = 70
"""Exit code of a worker that ends because of stuck threads (`EX_SOFTWARE` of sysexits.h)."""
PATIENCE = 5.0
"""Seconds in which the worker's main thread gives back tasks that it has fetched and not begun."""

log = structlog.get_logger(__name__)


def too_many(stuck: int, threads: int) -> bool:
    """Whether so many threads of a worker are stuck that it is started again: at least half of them."""
    return stuck > 0 and 2 * stuck >= threads


class Leaving:
    """Call it with the number of stuck threads and that of running searches, now and then (`overdue.Attendant`)."""

    def __init__(self, consumer: Any, queue: str, threads: int, leave: Callable[[int], object] = os._exit) -> None:
        self._consumer, self._queue, self._threads, self._leave = consumer, queue, threads, leave
        self._cancelled = False
        self._asked: float | None = None

    def __call__(self, stuck: int, running: int) -> None:
        if not self._cancelled and too_many(stuck, self._threads):
            self._cancelled = True
            log.error("search threads stuck: this worker takes no more searches", stuck=stuck, threads=self._threads)
            self._consumer.call_soon(self._consumer.cancel_task_queue, self._queue)
        elif self._cancelled and self._asked is None and running == stuck:
            self._asked = time.monotonic()
            self._consumer.call_soon(self._give_back_and_leave)
        elif self._asked is not None and time.monotonic() - self._asked > PATIENCE:
            self._leave(EXIT_STUCK)

    def _give_back_and_leave(self) -> None:
        """Put tasks that were fetched and not begun back into the queue, for other workers, and end the process.

        The threads cannot be ended, so an orderly end of the interpreter would wait for them for ever.
        """
        try:
            self._consumer.task_consumer.channel.qos.restore_unacked_once()
        finally:
            log.error("search threads stuck: this worker ends, to be started again")
            self._leave(EXIT_STUCK)
