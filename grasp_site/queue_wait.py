"""How long a new search would wait for a worker, as the door of a web process believes it: known without asking."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from search.domain.errors import ServiceUnavailable
from search.services.access.limits import expected_wait, seconds_for_one

LOOK_SECONDS = 0.2
"""Seconds between two looks into the queue while people ask."""
BELIEVED_SECONDS = 1.0
"""Seconds for which what was seen is believed; a question after a longer pause passes, and looks for the next ones."""
QUEUE = "search"


class QueueWait:
    """Call it for the seconds that a new search would wait; it looks again by a thread of its own, and never blocks.

    Between two looks, everybody who asks is believed to have joined the queue: so a crowd that comes at once is not let
    in as a whole on what was seen before it came.
    """

    def __init__(
        self,
        look: Callable[[], float] = lambda: expected_wait(QUEUE),
        clock: Callable[[], float] = time.monotonic,
        pace: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`look` returns the seconds of the wait, `pace` those that the workers need for one more search."""
        self._look = look
        self._clock = clock
        self._pace = pace
        self._seen, self._seconds = -BELIEVED_SECONDS, 0.0
        self._one, self._came = 0.0, 0
        self._looking: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="queue-wait")

    def __call__(self) -> float:
        """Return the seconds, 0 if it is not known."""
        age, before = self._clock() - self._seen, self._came
        looking = self._looking is not None and not self._looking.done()
        # A look that takes long says that there is much to do, and not that nothing is known.
        wait = (self._seconds if looking or age < BELIEVED_SECONDS else 0.0) + before * self._one
        self._came = before + 1
        if age >= LOOK_SECONDS and not looking:
            self._looking = self._thread.submit(self._refresh)
        return wait

    def _refresh(self) -> None:
        try:
            seconds, one = self._look(), self._pace()
        except ServiceUnavailable:
            # Without Valkey nothing can be queued; the search itself says so.
            seconds = one = 0.0
        self._seconds, self._seen, self._one, self._came = seconds, self._clock(), one, 0


def of_searches() -> QueueWait:
    """Return the wait for the search workers."""
    return QueueWait(pace=lambda: seconds_for_one(QUEUE))
