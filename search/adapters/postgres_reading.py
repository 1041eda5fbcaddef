"""Reads from Postgres within the limits of a search, and says its errors in the words of a search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import psycopg
from django.db import connection
from django.db.utils import InterfaceError, OperationalError

from search.domain.errors import DeadlineExceeded, StageError
from search.domain.trace import Limit
from search.models.timeouts import STOPPED, milliseconds, present_limit


def read(
    stage: str,
    query: str | psycopg.sql.Composed,
    parameters: Mapping[str, Any] | Sequence[Any] = (),
    limit: Limit | None = None,
    settings: Mapping[str, str | int] | None = None,
    *,
    keep: bool = False,
) -> list[tuple[Any, ...]]:
    """Return the rows of a query that ends with the limit's time; `settings` hold for it alone.

    Settings and query travel together as one implicit transaction, so that a read is one journey to the server: a
    search makes dozens of them. Parameters are bound on the server, results come in binary. With `keep` a query that
    comes again and again is prepared, so that it is no longer parsed and planned each time; this needs a database whose
    OPTIONS allow it (`prepare_threshold`), since connections that a pooler hands around cannot keep anything.

    Raises DeadlineExceeded when the time ran out, and StageError when Postgres is not there (temporary) or refuses the
    query (permanent).
    """
    limit = limit or present_limit()
    limit.check(stage)
    wanted = dict(settings or {})
    if (most := milliseconds(limit)) is not None:
        wanted["statement_timeout"] = most
    prepare = None if keep else False
    with _errors(stage, limit):
        connection.ensure_connection()
        raw = connection.connection
        with raw.pipeline(), _apart(raw):
            if wanted:
                calls = ", ".join(["set_config(%s, %s, true)"] * len(wanted))
                values = [str(part) for pair in wanted.items() for part in pair]
                psycopg.Cursor(raw).execute(f"SELECT {calls}", values, prepare=prepare, binary=True)
            cursor = psycopg.Cursor(raw)
            cursor.execute(query, parameters, prepare=prepare, binary=True)
            return cursor.fetchall()


def _apart(raw: psycopg.Connection[Any]) -> AbstractContextManager[object]:
    """Keep the settings out of a transaction that somebody has open already: a savepoint, rolled back."""
    return raw.transaction(force_rollback=True) if connection.in_atomic_block else nullcontext()


@contextmanager
def _errors(stage: str, limit: Limit) -> Iterator[None]:
    """Say what Postgres says in the words of a search."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        limit.check(stage)
        raise DeadlineExceeded(stage, STOPPED) from error
    except (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError) as error:
        connection.close()
        raise StageError(stage, f"Postgres does not answer: {_sentence(error)}") from error
    except psycopg.errors.UndefinedTable as error:
        raise StageError(stage, "this release's data is no longer in Postgres", permanent=True) from error
    except psycopg.Error as error:
        raise StageError(stage, f"Postgres refused the query: {_sentence(error)}", permanent=True) from error


def _sentence(error: Exception) -> str:
    """Return the first line of what the server or the driver says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
