"""Limits the statements of a search to its remaining time. Postgres' timeout becomes DeadlineExceeded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
from django.db import connection
from django.db.utils import OperationalError
from psycopg.pq import TransactionStatus

from search.domain.errors import DeadlineExceeded
from search.domain.trace import Limit

LONGEST_TIMEOUT = 2**31 - 1
"""Largest value of `statement_timeout`, in milliseconds."""
STOPPED = "Postgres stopped the query: its time limit ran out"


def milliseconds(limit: Limit) -> int | None:
    """Return the remaining time in milliseconds, as a value of `statement_timeout`; None for a limit without an end."""
    left = limit.remaining()
    return None if math.isinf(left) else min(LONGEST_TIMEOUT, max(1, int(left * 1000)))


_bound: ContextVar[Limit | None] = ContextVar("bound", default=None)


def present_limit() -> Limit:
    """Return the limit of the search that runs in this thread; outside a search, a limit without an end."""
    return _bound.get() or Limit()


@contextmanager
def bounded(stage: str, limit: Limit, statement: float = math.inf) -> Iterator[None]:
    """Limit each Django statement on this thread's connection to the remaining time of `limit`, and to `statement` s.

    It covers what models read during a search: settings, servers, prompts, and the cancel request. Stages pass their
    limit to `search.adapters.postgres_reading.read`, which uses this one if it gets none. A statement that exceeds the
    time raises DeadlineExceeded.
    """

    def timed(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        most = milliseconds(limit.at_most(statement))
        if most is None:
            return execute(sql, params, many, context)
        if limit.remaining() == 0:
            # Postgres would stop it after 1 ms, which also ends a transaction that this search may run in.
            raise DeadlineExceeded(stage)
        raw = connection.connection
        psycopg.Cursor(raw).execute("SELECT set_config('statement_timeout', %s, false)", [str(most)])
        try:
            return execute(sql, params, many, context)
        except OperationalError as error:
            if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
                raise DeadlineExceeded(stage, STOPPED) from error
            raise
        finally:
            # In a failed transaction no RESET is possible, and its rollback restores the setting.
            if not raw.closed and raw.info.transaction_status in (TransactionStatus.IDLE, TransactionStatus.INTRANS):
                psycopg.Cursor(raw).execute("RESET statement_timeout")

    token = _bound.set(limit)
    try:
        with connection.execute_wrapper(timed):
            yield
    finally:
        _bound.reset(token)
