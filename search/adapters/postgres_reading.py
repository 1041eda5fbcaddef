"""Runs queries in Postgres within the limits of a search, and translates its errors into errors of a search."""

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
    """Return the rows of a query that is stopped when the limit's time has run out; `settings` apply to it alone.

    Settings and query are sent together in one implicit transaction, so that a read needs one round trip: a search
    makes dozens of reads. Parameters are bound on the server, results are binary. With `keep`, a repeated query is
    prepared, so that Postgres parses and plans it once. This needs a database whose OPTIONS allow it
    (`prepare_threshold`), because connections behind a pooler cannot keep prepared statements.

    Raises DeadlineExceeded if the time ran out, and StageError if Postgres is unavailable (temporary) or refuses the
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
        # Within the pipeline, fetching would be a round trip of its own.
        return cursor.fetchall()


def _apart(raw: psycopg.Connection[Any]) -> AbstractContextManager[object]:
    """Keep the settings from leaking into an open transaction of the caller, by a savepoint that is rolled back."""
    return raw.transaction(force_rollback=True) if connection.in_atomic_block else nullcontext()


@contextmanager
def _errors(stage: str, limit: Limit) -> Iterator[None]:
    """Translate exceptions of Postgres and of the driver into errors of a search."""
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
    """Return the first line of the error message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
