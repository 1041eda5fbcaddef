"""watch_search: wait until a search has changed. Each check is one small query; a notice starts a check early."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from search.models import SearchRun
from search.services.health import worker_alive
from search.services.observing.rest import at_rest
from search.services.searches.end_abandoned import end_abandoned_search, why_nobody_takes

ENDED = frozenset({SearchRun.Status.DONE, SearchRun.Status.FAILED, SearchRun.Status.CANCELLED})
GLANCE_COLUMNS = ("status", "changes", "origin", "created", "started", "time_limit")
"""Columns that a check reads; they are small, and the answer is not among them."""
SECONDS_WITH_NOTICES, SECONDS_WITHOUT_NOTICES = 1.0, 0.1
"""Seconds between two checks while notices come in, and while they do not."""
FOLLOWERS = 64
"""Largest number of requests that may wait at a time, each on a thread; further requests are answered at once."""

LOOK_SECONDS = 5.0
"""Seconds between two looks at the row of a search that somebody waits for, while notices come in and a worker lives.

The row only says more than the notices where one was lost.
"""
NOBODY_THERE = 2.5
"""Longest wait for the end of a queued search while no worker is alive, in seconds."""

_places = threading.BoundedSemaphore(FOLLOWERS)


@dataclass(frozen=True, slots=True)
class Glance:
    """The state of a search: its status, its number of changes, and the reason why no worker takes it, or empty."""

    status: str
    changes: int
    waiting: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will be written."""
        return self.status in ENDED

    @property
    def mark(self) -> str:
        """Text that changes whenever there is something new to show."""
        return f"{self.status}-{self.changes}-{'alone' if self.waiting else 'attended'}"


class Notices(Protocol):
    """Hints that a run changed, between processes. A notice may be lost, so waiting callers also check regularly."""

    @property
    def hears(self) -> bool:
        """Whether notices come in at this moment."""
        ...

    def tell(self, run: str, answer: bytes | None = None) -> None:
        """Send a notice that this run changed; raises nothing if it cannot be sent.

        `answer` is None while the search goes on. At its end it is the described search, or empty if nobody asked for
        it.
        """
        ...

    def heard(self, run: str, call: Callable[[bytes | None], None]) -> AbstractContextManager[None]:
        """Return a context in which `call` is called, from another thread, with the answer in each notice of this run.

        It is called with an empty answer when the notice of the end may have been lost.
        """
        ...


def notices() -> Notices:
    """Return the object that sends and receives this process's notices."""
    return cast(Notices, import_string(settings.GRASP_NOTICES)())


def glance(run_id: UUID, among: QuerySet[SearchRun] | None = None) -> Glance:
    """Return the state of a search, with one query of a few small columns; an abandoned search is ended first.

    `among` are the runs that the caller may read; None means all runs. Raises SearchRun.DoesNotExist.
    """
    runs = SearchRun.objects.all() if among is None else among
    run = end_abandoned_search(runs.only(*GLANCE_COLUMNS).get(pk=run_id))
    return Glance(run.status, run.changes, why_nobody_takes(run) or "")


def await_change(run_id: UUID, seconds: float, enough: Callable[[Glance], bool]) -> Glance:
    """Check until `enough` is true or the seconds are over, and return the last state.

    The connection to Postgres is released between checks. If `FOLLOWERS` requests wait already, there is one check.
    """
    [seen] = await_changes([run_id], seconds, lambda states: enough(states[0]))
    return seen


def await_changes(run_ids: Sequence[UUID], seconds: float, enough: Callable[[list[Glance]], bool]) -> list[Glance]:
    """Do the same for several searches at once; a change of any of them starts a check early."""
    ends = time.monotonic() + seconds
    changed = threading.Event()
    with _place() as found, ExitStack() as heard:
        for run_id in run_ids:
            heard.enter_context(notices().heard(str(run_id), lambda _: changed.set()))
        while True:
            changed.clear()
            seen = [glance(run_id) for run_id in run_ids]
            left = ends - time.monotonic()
            if enough(seen) or left <= 0 or not found:
                return seen
            close_old_connections()
            with at_rest():
                changed.wait(min(left, _pause()))


class Ending:
    """The end of one search, awaited by the thread that requests it. Enter the context before the search is queued.

    Then the notice of the end cannot be missed, and no row has to be read before it.
    """

    def __init__(self, run_id: UUID) -> None:
        self._run_id = run_id
        self._news = threading.Event()
        self._answer = b""

    @contextmanager
    def awaited(self) -> Iterator[Ending]:
        """Receive the notice of the end inside the `with` block."""
        with notices().heard(str(self._run_id), self._hear):
            yield self

    def wait(self, seconds: float) -> bytes | None:
        """Wait until the search has ended, and return its description as JSON, empty if it has to be read from rows.

        Return None if it did not end within `seconds`, if no worker has taken it for `NOBODY_THERE` seconds, and at
        once if `FOLLOWERS` requests wait already.
        """
        began = looked = time.monotonic()
        with _place() as found:
            while found:
                left = began + seconds - time.monotonic()
                close_old_connections()
                with at_rest():
                    told = self._news.wait(max(0.0, min(left, _pause())))
                if self._answer:
                    return self._answer
                self._news.clear()
                if not told and left > 0 and time.monotonic() - looked < LOOK_SECONDS and _attended():
                    continue
                looked, seen = time.monotonic(), glance(self._run_id)
                if seen.ended:
                    return b""
                if left <= 0 or (seen.waiting and looked - began > NOBODY_THERE):
                    return None
        return None

    def _hear(self, answer: bytes | None) -> None:
        if answer is not None:
            self._answer = answer
            self._news.set()


class Following:
    """A search followed by a coroutine: `changed()` returns when it is worth looking again."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    @contextmanager
    def of(self, run_id: UUID) -> Iterator[Following]:
        """Receive notices of this run inside the `with` block."""
        with notices().heard(str(run_id), self._wake):
            yield self

    async def changed(self, seconds: float) -> None:
        """Wait for a notice, at most `seconds` and at most the time between two checks."""
        try:
            async with asyncio.timeout(min(seconds, _pause())):
                await self._event.wait()
        except TimeoutError:
            return
        self._event.clear()

    def _wake(self, _answer: bytes | None) -> None:
        self._loop.call_soon_threadsafe(self._event.set)


def _attended() -> bool:
    """Return whether a worker lives and its notices come in; costs no query."""
    return notices().hears and worker_alive("search") is True


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
