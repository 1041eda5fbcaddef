"""overdue: ends searches that overstay their time limit, and counts those that are stuck.

If a search does not look at its limit, its row is ended here with the reason, so that nobody waits. It counts as stuck
until it comes back; the process that is told so can end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, connection

GRACE_SECONDS = 10.0
"""Seconds that a search may need after its limit, for the end of a computation on a busy machine."""
LOOK_SECONDS = 0.5
"""Seconds between two looks at the running searches."""

log = structlog.get_logger(__name__)

Attendant = Callable[[int], None]
"""Is called after each look with the number of stuck searches."""


@dataclass
class _Watched:
    """A running search: how its row is ended, when it is overdue (monotonic clock), whether it was ended for that."""

    end: Callable[[], object]
    ends: float = float("inf")
    ended: bool = False


class Watch:
    """The watched searches of one process, and the thread that looks at them."""

    def __init__(self) -> None:
        self._searches: dict[UUID, _Watched] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._attendants: list[Attendant] = []

    @contextmanager
    def over(self, run_id: UUID, end: Callable[[], object]) -> Iterator[None]:
        """Watch a search inside the `with` block; `end` ends its row if it is overdue, which needs an `allow` first."""
        with self._lock:
            self._searches[run_id] = _Watched(end)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="overdue-searches", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                del self._searches[run_id]

    def allow(self, run_id: UUID, seconds: float) -> None:
        """Say that a search may take so many seconds from now on; one that nobody watches may take any time."""
        with self._lock:
            if run_id in self._searches:
                self._searches[run_id].ends = time.monotonic() + seconds + GRACE_SECONDS

    def attend(self, attendant: Attendant) -> None:
        """Have the thread that looks call this."""
        self._attendants.append(attendant)

    def stuck(self) -> int:
        """Return the number of searches that were ended and have not come back."""
        with self._lock:
            return sum(one.ended for one in self._searches.values())

    def look(self) -> None:
        """End the searches that are overdue, and tell the attendants."""
        now = time.monotonic()
        with self._lock:
            overdue = [(run_id, one) for run_id, one in self._searches.items() if one.ends < now and not one.ended]
        for run_id, one in overdue:
            try:
                one.end()
            except (OperationalError, InterfaceError) as error:
                # Postgres is away; the next look tries again.
                log.warning("overdue search not ended", run=str(run_id), reason=str(error))
                continue
            log.error("search overstays its limit", run=str(run_id))
            one.ended = True
        for attendant in self._attendants:
            attendant(self.stuck())

    def _run(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            try:
                self.look()
            finally:
                connection.close()


WATCH = Watch()
"""The watch over the searches of this process."""
