"""Reads from Postgres within the limits of a search, and says its errors in the words of a search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.utils import DatabaseError, InterfaceError, OperationalError

from search.domain.errors import DeadlineExceeded, StageError
from search.domain.trace import Limit

LONGEST_TIMEOUT = 2**31 - 1
"""What `statement_timeout` can hold, in milliseconds."""


@contextmanager
def reading(stage: str, limit: Limit | None = None, **settings: str | int) -> Iterator[CursorWrapper]:
    """Yield a cursor in a transaction whose statements end with the limit's time; `settings` hold for it alone.

    Raises DeadlineExceeded when the time ran out, and StageError when Postgres is not there (temporary) or refuses the
    query (permanent).
    """
    limit = limit or Limit()
    limit.check(stage)
    left = limit.remaining()
    wanted: dict[str, Any] = dict(settings)
    if not math.isinf(left):
        wanted["statement_timeout"] = min(LONGEST_TIMEOUT, max(1, int(left * 1000)))
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            if wanted:
                calls = ", ".join(["set_config(%s, %s, true)"] * len(wanted))
                cursor.execute(f"SELECT {calls}", [str(part) for pair in wanted.items() for part in pair])
            yield cursor
    except (OperationalError, InterfaceError) as error:
        if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
            limit.check(stage)
            raise DeadlineExceeded(stage, "Postgres stopped the query: its time ran out") from error
        if not connection.in_atomic_block:
            connection.close()
        raise StageError(stage, f"Postgres does not answer: {_sentence(error)}") from error
    except DatabaseError as error:
        raise StageError(stage, f"Postgres refused the query: {_sentence(error)}", permanent=True) from error


def _sentence(error: Exception) -> str:
    """Return the first line of what the server or the driver says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
