"""A lock that allows one import of a knowledge base at a time; Postgres releases it when the session ends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from django.db import connection

from search.domain.run_context import UNOBSERVED, RunContext

GRACE_SECONDS = 3.0
"""Time for which a taken lock is requested again: Postgres needs a moment to notice that a process was killed."""
PAUSE_SECONDS = 0.1
"""Pause between two requests for the lock."""
SESSION = "session.json"
"""Name of the checkpoint that holds the database session of the job's present process."""

log = structlog.get_logger(__name__)


@contextmanager
def import_lock(knowledge_base: str, grace: float | None = None, run: RunContext = UNOBSERVED) -> Iterator[bool]:
    """Hold the import lock of a knowledge base; yield whether it was acquired within `grace` seconds.

    `grace` is `GRACE_SECONDS` by default. The session that holds the lock may acquire it again.

    A job that is taken over from a process that hangs may find the lock with that process. The session of that process
    is then ended: it no longer owns the job, and without its session it can write nothing into Postgres.
    """
    deadline = time.monotonic() + (GRACE_SECONDS if grace is None else grace)
    with connection.cursor() as cursor:
        # While a statement runs, the server checks once a second whether the client is still connected.
        cursor.execute("SET client_connection_check_interval = '1s'")
    taken = _ask("pg_try_advisory_lock", knowledge_base)
    if not taken:
        _end_former_session(run)
    while not taken and time.monotonic() < deadline:
        run.check()
        time.sleep(PAUSE_SECONDS)
        taken = _ask("pg_try_advisory_lock", knowledge_base)
    if taken:
        _remember_session(run)
    try:
        yield taken
    finally:
        # If the connection is broken, Postgres has released the lock already.
        if taken and connection.connection is not None and not connection.connection.closed:
            _ask("pg_advisory_unlock", knowledge_base)


def _remember_session(run: RunContext) -> None:
    """Save which session this process works with; the time at which it began makes its number unique."""
    row = _one("SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()", [])
    run.checkpoints.save(SESSION, json.dumps(row).encode())


def _end_former_session(run: RunContext) -> None:
    saved = run.checkpoints.load(SESSION)
    if saved is None:
        return
    pid, began = json.loads(saved)
    with run.fenced():
        statement = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid = %s AND backend_start::text = %s AND pid <> pg_backend_pid()"
        )
        if _one(statement, [pid, began]):
            log.warning("ended the session of the process that had this job before", pid=pid)


def _ask(function: str, knowledge_base: str) -> bool:
    row = _one(f"SELECT {function}(hashtextextended(%s, 0))", [f"grasp import of {knowledge_base}"])
    return bool(row and row[0])


def _one(statement: str, parameters: list[Any]) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()


_BACKUP = "SELECT {function}(hashtextextended('grasp backup', 0))"


def hold_for_backup(session: Any) -> None:
    """Note in Postgres that a backup runs, until the session (a connection of psycopg) ends; several may run."""
    session.execute(_BACKUP.format(function="pg_advisory_lock_shared"))


def backup_runs() -> bool:
    """Whether a backup runs: what it reads must not be dropped meanwhile."""
    free = _one(_BACKUP.format(function="pg_try_advisory_lock"), [])
    if free and free[0]:
        _one(_BACKUP.format(function="pg_advisory_unlock"), [])
        return False
    return True
