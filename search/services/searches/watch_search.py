"""watch_search: see that a search has changed, for one small query a look, and be woken when it is worth looking."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from search.models import SearchRun
from search.services.searches.end_abandoned import end_abandoned_search, why_nobody_takes

ENDED = frozenset({SearchRun.Status.DONE, SearchRun.Status.FAILED, SearchRun.Status.CANCELLED})
GLANCE_COLUMNS = ("status", "changes", "origin", "created", "started", "time_limit")
"""The columns of a look: small ones, so that none of the answer travels."""
SECONDS_WITH_NOTICES, SECONDS_WITHOUT_NOTICES = 1.0, 0.1
"""Seconds between two looks while notices come in, and while they do not."""
FOLLOWERS = 64
"""Requests that may be held at a time, each on a thread; further ones are answered at once."""

_places = threading.BoundedSemaphore(FOLLOWERS)


@dataclass(frozen=True, slots=True)
class Glance:
    """How far a search has come: its status, how often something was written of it, and why nobody takes it."""

    status: str
    changes: int
    waiting: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will be written."""
        return self.status in ENDED

    @property
    def mark(self) -> str:
        """A word that changes whenever there is something new to show."""
        return f"{self.status}-{self.changes}-{'alone' if self.waiting else 'attended'}"


class Notices(Protocol):
    """Hints that a run changed, between processes. One may be lost: whoever waits looks now and then without one."""

    @property
    def hears(self) -> bool:
        """Whether notices come in at this moment."""
        ...

    def tell(self, run: str) -> None:
        """Tell whoever listens that this run changed; nothing is raised where nobody can be told."""
        ...

    def heard(self, run: str, call: Callable[[], None]) -> AbstractContextManager[None]:
        """Have `call` called, from another thread, after each notice of this run."""
        ...


def notices() -> Notices:
    """Return what tells this process of changes."""
    return cast(Notices, import_string(settings.GRASP_NOTICES)())


def glance(run_id: UUID, among: QuerySet[SearchRun] | None = None) -> Glance:
    """Look at a search: one query of a few small columns; one that nobody works on any more is ended first.

    `among` are the runs that the asker may read, all where it is None. Raises SearchRun.DoesNotExist.
    """
    runs = SearchRun.objects.all() if among is None else among
    run = end_abandoned_search(runs.only(*GLANCE_COLUMNS).get(pk=run_id))
    return Glance(run.status, run.changes, why_nobody_takes(run) or "")


def await_change(run_id: UUID, seconds: float, enough: Callable[[Glance], bool]) -> Glance:
    """Look until it is `enough` or the seconds are over, and return the last look.

    The connection to Postgres is given back in between. Where too many are held already, one look is all.
    """
    ends = time.monotonic() + seconds
    changed = threading.Event()
    with _place() as found, notices().heard(str(run_id), changed.set):
        while True:
            changed.clear()
            seen = glance(run_id)
            left = ends - time.monotonic()
            if enough(seen) or left <= 0 or not found:
                return seen
            close_old_connections()
            changed.wait(min(left, _pause()))


class Following:
    """A search followed by a coroutine: `changed()` returns when it is worth looking again."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    @contextmanager
    def of(self, run_id: UUID) -> Iterator[Following]:
        """Hear of this run for as long as the block lasts."""
        with notices().heard(str(run_id), self._wake):
            yield self

    async def changed(self, seconds: float) -> None:
        """Wait for a notice, at most so many seconds, and not longer than it takes to notice that none come in."""
        try:
            async with asyncio.timeout(min(seconds, _pause())):
                await self._event.wait()
        except TimeoutError:
            return
        self._event.clear()

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._event.set)


def _pause() -> float:
    return SECONDS_WITH_NOTICES if notices().hears else SECONDS_WITHOUT_NOTICES


@contextmanager
def _place() -> Iterator[bool]:
    found = _places.acquire(blocking=False)
    try:
        yield found
    finally:
        if found:
            _places.release()
