"""One import a knowledge base at a time, by a lock that Postgres lets go when its session ends, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def import_lock(knowledge_base: str) -> Iterator[bool]:
    """Hold the lock of a knowledge base's imports; yields False at once where another session has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [_text(knowledge_base)])
        taken = bool(cursor.fetchone()[0])
    try:
        yield taken
    finally:
        # A connection that broke took the lock with it.
        if taken and connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [_text(knowledge_base)])


def _text(knowledge_base: str) -> str:
    return f"grasp import of {knowledge_base}"
