"""One import a knowledge base at a time, by a lock that Postgres lets go when its session ends, however it ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

GRACE_SECONDS = 3.0
"""So long the lock is asked for: a session whose process was killed takes a moment to find out."""
PAUSE_SECONDS = 0.1


@contextmanager
def import_lock(knowledge_base: str, grace: float = GRACE_SECONDS) -> Iterator[bool]:
    """Hold the lock of a knowledge base's imports; yields False where another session keeps it.

    The session may take the lock again while it has it.
    """
    deadline = time.monotonic() + grace
    with connection.cursor() as cursor:
        # A session at work looks once a second whether its process is still there.
        cursor.execute("SET client_connection_check_interval = '1s'")
    while not (taken := _ask("pg_try_advisory_lock", knowledge_base)) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
    try:
        yield taken
    finally:
        # A connection that broke took the lock with it.
        if taken and connection.connection is not None and not connection.connection.closed:
            _ask("pg_advisory_unlock", knowledge_base)


def _ask(function: str, knowledge_base: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [f"grasp import of {knowledge_base}"])
        row = cursor.fetchone()
    return bool(row and row[0])
