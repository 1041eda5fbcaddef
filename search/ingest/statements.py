"""Long statements of Postgres: their progress is reported while they run, and they are stopped when the run must stop.

A statement blocks its thread, so that the thread can neither look for a cancel request nor report anything. Another
thread does both meanwhile: it asks `RunContext.check` and cancels the statement, and it reads the progress of CREATE
INDEX from Postgres' own view.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import structlog
from django.db import OperationalError, connection
from psycopg.errors import QueryCanceled

from search.domain.errors import SearchError
from search.domain.run_context import RunContext

LOOK_SECONDS = 0.2
"""Interval at which the thread looks whether the run must stop."""
UNREPORTED_SECONDS = 0.6
"""A statement that is shorter is not worth the connection that reads its progress."""
CANCEL_SECONDS = 2.0
"""Longest wait for Postgres to take a request to cancel."""
STEPS = 1_000
"""Progress of one statement is counted in this many steps."""
HNSW_GROWTH = 1.3
"""Seconds for a share of an HNSW index grow with this power of the share (measured on 20,000 vectors)."""
_SCAN = "building index: scanning table"
_SORT = "building index: sorting live tuples"
_LOAD = "building index: loading tuples in tree"
_PROGRESS = (
    "SELECT phase, blocks_done, blocks_total, tuples_done, tuples_total FROM pg_stat_progress_create_index "
    "WHERE pid = %s"
)

log = structlog.get_logger(__name__)


@contextmanager
def watched(
    run: RunContext, part: str, place: int = 0, places: int = 1, driver: psycopg.Connection[Any] | None = None
) -> Iterator[None]:
    """Run a long statement on Django's connection inside the block; stop it within a second when the run must stop.

    The statement is number `place` of `places` in the part `part`, whose progress is reported. `driver` is the
    connection to another server that runs it; such a statement is counted when it has ended. Raises what `run.check`
    raises if the run must stop; every other error of Postgres passes.
    """
    run.report(part, place * STEPS, places * STEPS)
    if driver is None:
        connection.ensure_connection()
    watch = _Watch(run, driver or connection.connection, part, place, places, reports=driver is None)
    watch.start()
    try:
        yield
    except (OperationalError, QueryCanceled) as error:
        watch.stop()
        if isinstance(error, QueryCanceled) or isinstance(error.__cause__, QueryCanceled):
            run.check()
        raise
    finally:
        watch.stop()
    run.report(part, (place + 1) * STEPS, places * STEPS)


class _Watch(threading.Thread):
    """Looks after the statement that runs on `driver`, until it is stopped."""

    def __init__(
        self, run: RunContext, driver: psycopg.Connection[Any], part: str, place: int, places: int, *, reports: bool
    ) -> None:
        super().__init__(name="statement watch", daemon=True)
        self._run = run
        self._driver = driver
        self._part, self._place, self._places = part, place, places
        self._reports = reports
        self._ended = threading.Event()

    def run(self) -> None:
        """Look every `LOOK_SECONDS`, and report what Postgres tells about the statement."""
        waited = 0.0
        try:
            while not self._ended.wait(LOOK_SECONDS):
                waited += LOOK_SECONDS
                try:
                    self._run.check()
                except SearchError:
                    self._cancel()
                    continue
                if self._reports and waited >= UNREPORTED_SECONDS:
                    self._report()
        finally:
            connection.close()

    def stop(self) -> None:
        """End the thread and wait for it, so that no later statement is cancelled."""
        self._ended.set()
        self.join()

    def _cancel(self) -> None:
        try:
            self._driver.cancel_safe(timeout=CANCEL_SECONDS)
        except psycopg.Error as error:
            log.warning("a statement could not be cancelled", reason=str(error))

    def _report(self) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(_PROGRESS, [self._driver.info.backend_pid])
                row = cursor.fetchone()
        except OperationalError as error:
            log.warning("the progress of a statement could not be read", reason=str(error))
            return
        if row is not None and not self._ended.is_set():
            done = self._place * STEPS + min(STEPS - 1, int(STEPS * share_of_index(*row)))
            self._run.progress(self._part, done, self._places * STEPS)


def share_of_index(phase: str, blocks: int, all_blocks: int, tuples: int, all_tuples: int) -> float:
    """Return the share of a CREATE INDEX that is done, from a row of `pg_stat_progress_create_index`.

    A B-tree is built in three phases: the table is read, then sorted, then written, which take about the same time. For
    HNSW only the table's blocks are counted, and a row costs the more the more rows are in the index already.
    """
    read = blocks / all_blocks if all_blocks else 0.0
    if phase == _SCAN:
        return read / 3
    if phase == _SORT:
        return 1 / 3
    if phase == _LOAD:
        return 2 / 3 + (tuples / all_tuples / 3 if all_tuples else 0.0)
    return read**HNSW_GROWTH
