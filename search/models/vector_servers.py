"""The servers of the vector engine (`VECTORS_URL`): Postgres with pgvectorscale, each with its share of the nodes.

A node belongs to the server whose place is the remainder of its key. A table's name says which share it holds, so that
an engine with another number or order of servers holds nothing until the vectors are copied again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import psycopg
from django.conf import settings
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from search.domain.errors import DeadlineExceeded, StageError
from search.domain.trace import Limit
from search.models.timeouts import milliseconds, present_limit

FORM = "VECTORS_URL takes postgresql://user:password@host:port/name, and several of them separated by commas"
CONNECT_SECONDS = 2
"""Time limit for opening a connection; the driver knows no shorter one."""
ALIVE = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 2}
"""Seconds and probes after which a machine that has vanished counts as away."""
KEPT_OPEN = 4
"""Most idle connections of a process to one server."""
STOPPED = "the vector engine stopped the query: its time limit ran out"

Row = tuple[Any, ...]
Raw = psycopg.Connection[Row]


class EngineAway(StageError):
    """A server of the vector engine does not answer at present."""


class EngineLacks(StageError):
    """The vector engine does not hold the vectors that were asked for."""


@dataclass(frozen=True, slots=True)
class VectorServer:
    """One server of the engine: its address, its place among the servers from 0 on, and their number."""

    address: str
    place: int = 0
    places: int = 1

    def table(self, vector_set: int) -> str:
        """Return the name of the table that holds the share of a vector set; it exists once the share is complete."""
        return f"grasp_vectors_{vector_set:d}_{self.place}_of_{self.places}"

    def unfinished(self, vector_set: int) -> str:
        """Return the name of this table while it is being filled."""
        return f"grasp_filling_{vector_set:d}_{self.place}_of_{self.places}"

    def connect(self) -> Raw:
        """Return a new connection that commits each statement. Raises psycopg.OperationalError."""
        address = make_conninfo(self.address, connect_timeout=CONNECT_SECONDS, **ALIVE)
        return psycopg.connect(address, autocommit=True)


@lru_cache(maxsize=8)
def parse(text: str) -> tuple[VectorServer, ...]:
    """Return the servers of a value of `VECTORS_URL`. Raises ValueError, whose text does not repeat the address."""
    addresses = [part.strip() for part in text.split(",") if part.strip()]
    for address in addresses:
        if not address.startswith(("postgresql://", "postgres://")):
            raise ValueError(f"{FORM}.")
        try:
            conninfo_to_dict(address)
        except psycopg.ProgrammingError:
            raise ValueError(f"{FORM}; one of them cannot be read.") from None
    return tuple(VectorServer(address, place, len(addresses)) for place, address in enumerate(addresses))


def servers() -> tuple[VectorServer, ...]:
    """Return the servers of this site's vector engine; none if it has no engine."""
    return parse(settings.VECTORS_URL)


def ask(
    stage: str,
    asked: Sequence[VectorServer],
    statement: Callable[[VectorServer], sql.Composed],
    options: Mapping[str, str | int],
    limit: Limit | None = None,
) -> list[list[Row]]:
    """Return the rows of a statement from each server; all servers work on theirs at the same time.

    `options` are settings of Postgres for these statements alone. A connection that a restart of the server has broken
    is replaced once. Raises DeadlineExceeded, EngineAway, EngineLacks if a table is missing, and a permanent StageError
    if a server refuses the statement.
    """
    limit = limit or present_limit()
    limit.check(stage)
    wanted = {**options, **({} if (most := milliseconds(limit)) is None else {"statement_timeout": most})}
    with errors(stage, limit):
        reused: list[bool] = []
        try:
            return _asked(asked, statement, wanted, reused)
        except psycopg.OperationalError as error:
            if isinstance(error, psycopg.errors.QueryCanceled) or not any(reused):
                raise
        _CONNECTIONS.close_idle()
        return _asked(asked, statement, wanted, [])


@contextmanager
def errors(stage: str, limit: Limit | None = None) -> Iterator[None]:
    """Translate the driver's exceptions into errors of a search; see `ask`."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        (limit or present_limit()).check(stage)
        raise DeadlineExceeded(stage, STOPPED) from error
    except psycopg.errors.UndefinedTable as error:
        raise EngineLacks(stage, "the vector engine does not hold these vectors", permanent=True) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise EngineAway(stage, f"the vector engine does not answer: {_sentence(error)}") from error
    except psycopg.Error as error:
        reason = f"the vector engine refused the query: {_sentence(error)}"
        raise StageError(stage, reason, permanent=True) from error


def _asked(
    asked: Sequence[VectorServer],
    statement: Callable[[VectorServer], sql.Composed],
    options: Mapping[str, str | int],
    reused: list[bool],
) -> list[list[Row]]:
    """Return the rows of a statement from each server; note in `reused` for each whether its connection was an old one.

    Statements are sent without waiting, so that the next server begins while this one works. The options and the
    statement are one transaction.
    """
    calls = ", ".join(["set_config(%s, %s, true)"] * len(options))
    values = [str(part) for pair in options.items() for part in pair]
    cursors = []
    with ExitStack() as stack:
        for server in asked:
            raw, old = stack.enter_context(_CONNECTIONS.lent(server))
            reused.append(old)
            stack.enter_context(raw.pipeline())
            if options:
                psycopg.Cursor(raw).execute(f"SELECT {calls}", values, prepare=False, binary=True)
            cursor: psycopg.Cursor[Row] = psycopg.Cursor(raw)
            cursor.execute(statement(server), prepare=False, binary=True)
            cursors.append(cursor)
    return [cursor.fetchall() for cursor in cursors]


class _Connections:
    """The idle connections of this process, by server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._idle: dict[VectorServer, list[Raw]] = {}

    @contextmanager
    def lent(self, server: VectorServer) -> Iterator[tuple[Raw, bool]]:
        """Lend a connection to a server, and say whether it was used before; it is kept afterwards unless it broke."""
        with self._lock:
            if self._process != os.getpid():
                # A process that was forked must not write to its parent's connections.
                self._idle, self._process = {}, os.getpid()
            idle = self._idle.get(server)
            kept = idle.pop() if idle else None
        raw = kept or server.connect()
        try:
            yield raw, kept is not None
        finally:
            self._back(server, raw)

    def close_idle(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, {}
        for several in idle.values():
            for raw in several:
                raw.close()

    def _back(self, server: VectorServer, raw: Raw) -> None:
        with self._lock:
            idle = self._idle.setdefault(server, [])
            if not raw.closed and len(idle) < KEPT_OPEN:
                idle.append(raw)
                return
        raw.close()


_CONNECTIONS = _Connections()


def _sentence(error: Exception) -> str:
    """Return the first line of the error message, which names no password."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
