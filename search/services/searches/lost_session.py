"""lost_session: tell an error of a lost session from an error of a statement."""

from __future__ import annotations

import psycopg

SESSION_ENDED = ("08", "57P0", "25P03")
"""First characters of the SQLSTATE of errors that end a session: a lost connection, a server that stops."""


def lost_session(error: BaseException | None) -> psycopg.Error | None:
    """Return the error that ended the session with Postgres, if it is the given error or one of its causes."""
    for cause in causes_of(error):
        if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError) and _ends_session(cause):
            return cause
    return None


def causes_of(error: BaseException | None) -> list[BaseException]:
    """Return the error and what caused it, the outermost first."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _ends_session(error: psycopg.Error) -> bool:
    return error.sqlstate is None or error.sqlstate.startswith(SESSION_ENDED)
