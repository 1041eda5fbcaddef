"""The places of a web process: how many requests use its processor and its database connections at the same time.

Python runs one thread at a time. A hundred requests on a hundred threads all take a hundred times as long, and most of
them wait for a database connection besides. With few places each request is answered quickly once it has one, and the
others wait in order without cost. Requests of searches that were accepted go before new ones, so that a crowd at the
door does not hold up those who are inside.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager


class Lanes:
    """Places that are given to those who wait, in order: first to all who are inside, then to those at the door.

    All methods may be called from any thread.
    """

    def __init__(self, places: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = places
        self._clock = clock
        self._lock = threading.Lock()
        self._inside: deque[Future[None]] = deque()
        self._door: deque[tuple[float, Future[None]]] = deque()

    def enter(self, new: bool = False) -> Future[None]:
        """Return a future that is done when the caller has a place; `new` is for those who are not inside yet.

        Whoever got a place calls `leave`; whoever gives up cancels the future, and calls `leave` if it was too late.
        """
        given: Future[None] = Future()
        with self._lock:
            if self._free > 0:
                self._free -= 1
                given.set_result(None)
            elif new:
                self._door.append((self._clock(), given))
            else:
                self._inside.append(given)
        return given

    def leave(self) -> None:
        """Give the place to the next one who still waits."""
        while (following := self._following()) is not None:
            if following.set_running_or_notify_cancel():
                following.set_result(None)
                return

    def waited(self) -> float:
        """Return the seconds for which the first one at the door has waited; 0 if nobody does."""
        with self._lock:
            while self._door and self._door[0][1].cancelled():
                self._door.popleft()
            return self._clock() - self._door[0][0] if self._door else 0.0

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Leave the place to others while the thread only waits, and take one again afterwards."""
        self.leave()
        try:
            yield
        finally:
            self.enter().result()

    def _following(self) -> Future[None] | None:
        """Return the next one who waits; if there is none, the place becomes free."""
        with self._lock:
            if self._inside:
                return self._inside.popleft()
            if self._door:
                return self._door.popleft()[1]
            self._free += 1
            return None
