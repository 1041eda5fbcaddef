"""How long a new search would wait for a worker, as the door of a web process believes it: known without asking."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from search.domain.errors import ServiceUnavailable
from search.services.access.limits import expected_wait

LOOK_SECONDS = 0.2
"""Seconds between two looks into the queue while people ask."""
BELIEVED_SECONDS = 1.0
"""Seconds for which what was seen is believed; a question after a longer pause passes, and looks for the next ones."""
QUEUE = "search"


class QueueWait:
    """Call it for the seconds that a new search would wait; it looks again by a thread of its own, and never blocks."""

    def __init__(
        self, look: Callable[[], float] = lambda: expected_wait(QUEUE), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._look = look
        self._clock = clock
        self._seen, self._seconds = -BELIEVED_SECONDS, 0.0
        self._looking: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="queue-wait")

    def __call__(self) -> float:
        """Return the seconds, 0 if it is not known."""
        age = self._clock() - self._seen
        if age >= LOOK_SECONDS and (self._looking is None or self._looking.done()):
            self._looking = self._thread.submit(self._refresh)
        return self._seconds if age < BELIEVED_SECONDS else 0.0

    def _refresh(self) -> None:
        try:
            seconds = self._look()
        except ServiceUnavailable:
            # Without Valkey nothing can be queued; the search itself says so.
            seconds = 0.0
        self._seconds, self._seen = seconds, self._clock()
