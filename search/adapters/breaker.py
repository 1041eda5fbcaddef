"""Remembers that a server does not answer, so that not every search waits to find out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FIRST_PAUSE_SECONDS = 1.0
"""Pause after the first failure; it doubles with each further one."""
LONGEST_PAUSE_SECONDS = 30.0


class Breaker:
    """A circuit breaker: remembers that a server does not answer, so that not every search waits to find out.

    After a pause one caller may try again; the pause doubles with each failure.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._reason = ""
        self._pause = 0.0
        self._again = 0.0

    def reason(self) -> str:
        """Return why the server must not be called now, or an empty string if it may be."""
        with self._lock:
            if self._reason and self._clock() >= self._again:
                # Other callers have to wait while this one tries.
                self._again = self._clock() + self._pause
                return ""
            return self._reason

    def failed(self, reason: str) -> None:
        """Record that the server did not answer."""
        with self._lock:
            self._pause = min(LONGEST_PAUSE_SECONDS, 2 * self._pause) if self._reason else FIRST_PAUSE_SECONDS
            self._reason, self._again = reason, self._clock() + self._pause

    def answered(self) -> None:
        """Record that the server answered."""
        with self._lock:
            self._reason = ""
