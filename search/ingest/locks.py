"""A lock that allows one import of a knowledge base at a time; Postgres releases it when the session ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

GRACE_SECONDS = 3.0
"""Time for which a taken lock is requested again: Postgres needs a moment to notice that a process was killed."""
PAUSE_SECONDS = 0.1
"""Pause between two requests for the lock."""


@contextmanager
def import_lock(knowledge_base: str, grace: float = GRACE_SECONDS) -> Iterator[bool]:
    """Hold the import lock of a knowledge base; yield whether it was acquired within `grace` seconds.

    The session that holds the lock may acquire it again.
    """
    deadline = time.monotonic() + grace
    with connection.cursor() as cursor:
        # While a statement runs, the server checks once a second whether the client is still connected.
        cursor.execute("SET client_connection_check_interval = '1s'")
    while not (taken := _ask("pg_try_advisory_lock", knowledge_base)) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
    try:
        yield taken
    finally:
        # If the connection is broken, Postgres has released the lock already.
        if taken and connection.connection is not None and not connection.connection.closed:
            _ask("pg_advisory_unlock", knowledge_base)


def _ask(function: str, knowledge_base: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [f"grasp import of {knowledge_base}"])
        row = cursor.fetchone()
    return bool(row and row[0])
