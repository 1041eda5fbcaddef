"""No statement of a search takes longer than the search may: what Postgres says is said in the words of a search."""

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
"""What `statement_timeout` can hold, in milliseconds."""
STOPPED = "Postgres stopped the query: its time ran out"


def milliseconds(limit: Limit) -> int | None:
    """Return the time left as `statement_timeout` takes it; None where there is no end."""
    left = limit.remaining()
    return None if math.isinf(left) else min(LONGEST_TIMEOUT, max(1, int(left * 1000)))


_bound: ContextVar[Limit | None] = ContextVar("bound", default=None)


def present_limit() -> Limit:
    """Return the limit of the search that this thread is in, one without an end outside of any."""
    return _bound.get() or Limit()


@contextmanager
def bounded(stage: str, limit: Limit) -> Iterator[None]:
    """Have every statement that Django makes on this thread's connection end with the limit's time.

    For what is read by models in a search: settings, servers, prompts, whether somebody cancelled. Stages give their
    limit to `search.adapters.postgres_reading.read`, which takes this one where it gets none. Raises DeadlineExceeded.
    """

    def timed(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        most = milliseconds(limit)
        if most is None:
            return execute(sql, params, many, context)
        raw = connection.connection
        psycopg.Cursor(raw).execute("SELECT set_config('statement_timeout', %s, false)", [str(most)])
        try:
            return execute(sql, params, many, context)
        except OperationalError as error:
            if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
                raise DeadlineExceeded(stage, STOPPED) from error
            raise
        finally:
            # A transaction that broke takes the setting back with it.
            if not raw.closed and raw.info.transaction_status in (TransactionStatus.IDLE, TransactionStatus.INTRANS):
                psycopg.Cursor(raw).execute("RESET statement_timeout")

    token = _bound.set(limit)
    try:
        with connection.execute_wrapper(timed):
            yield
    finally:
        _bound.reset(token)
