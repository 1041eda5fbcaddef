"""The connection to Neo4j: one driver for each process and address, on an event loop in its own thread.

Searches run in threads. A statement on an event loop can be abandoned when the time has run out or the search is
cancelled, even if the server does not respond at all.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from search.adapters.graph_neo4j.address import Address
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.trace import Limit

CONNECT_SECONDS = 1.0
"""Time limit for opening a connection."""
LOOK_SECONDS = 0.1
"""Interval at which a waiting call checks whether the search was cancelled."""
GRACE_SECONDS = 0.25
"""Time after the limit in which the server may still report that the time ran out."""
CONNECTIONS = 32
"""Most connections to the server."""
IDLE_SECONDS = 30.0
"""A connection that was idle for longer is tested before it is used."""
LEAST_TIMEOUT = 0.001
"""Shortest time-out in seconds: 0 would mean no time-out."""
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
RETRIED = (ServiceUnavailable, SessionExpired)
AWAY_ERRORS = (ServiceUnavailable, SessionExpired, AuthError, ConfigurationError)

T = TypeVar("T")
Row = list[Any]
Statement = tuple[str, Mapping[str, Any]]


class Neo4jAway(StageError):
    """Neo4j cannot answer any statement at present; the caller should wait before it tries again."""


class Neo4jSilent(DeadlineExceeded):
    """The time ran out, and the server did not even report it."""


@dataclass(frozen=True, slots=True)
class _Open:
    """The event loop and driver of one process: an event loop does not survive a fork."""

    pid: int
    loop: asyncio.AbstractEventLoop
    driver: neo4j.AsyncDriver


class Connection:
    """Runs statements in one database; the first statement opens it."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._opening = threading.Lock()
        self._opened: _Open | None = None

    def read(self, stage: str, query: str, parameters: Mapping[str, Any], limit: Limit) -> list[Row]:
        """Return the rows of a reading statement; see `_ask` for the errors."""
        return self._ask(stage, (query, parameters), limit, neo4j.READ_ACCESS)

    def write(self, query: str, parameters: Mapping[str, Any], limit: Limit) -> list[Row]:
        """Run a writing statement in a transaction of its own and return its rows."""
        return self._ask("sync_graph", (query, parameters), limit, neo4j.WRITE_ACCESS)

    def close(self) -> None:
        """Close every connection to the server and end the thread; the next statement opens them again."""
        with self._opening:
            opened, self._opened = self._opened, None
        if opened is not None and opened.pid == os.getpid():
            asyncio.run_coroutine_threadsafe(opened.driver.close(), opened.loop).result(timeout=CONNECT_SECONDS)
            opened.loop.call_soon_threadsafe(opened.loop.stop)

    def _ask(self, stage: str, statement: Statement, limit: Limit, access: str) -> list[Row]:
        """Run a statement and return its rows.

        Raises DeadlineExceeded if the time ran out (Neo4jSilent if the server did not report it), SearchCancelled if
        the search was cancelled, Neo4jAway if the server does not answer, and StageError if it refuses a statement.
        """
        limit.check(stage)
        try:
            return self._run(self._answer(statement, limit, access), limit, stage)
        except AWAY_ERRORS as error:
            raise Neo4jAway(stage, f"Neo4j does not answer: {_sentence(error)}") from None
        except Neo4jError as error:
            if (error.code or "").startswith(TIMED_OUT):
                raise DeadlineExceeded(stage, "Neo4j stopped the query: its time ran out") from None
            if isinstance(error, TransientError) or not isinstance(error, ClientError):
                raise StageError(stage, f"Neo4j could not answer: {_sentence(error)}") from None
            raise StageError(stage, f"Neo4j refused the query: {_sentence(error)}", permanent=True) from None
        except (DriverError, OSError) as error:
            raise Neo4jAway(stage, f"Neo4j does not answer: {_sentence(error)}") from None

    async def _answer(self, statement: Statement, limit: Limit, access: str) -> list[Row]:
        try:
            return await self._once(statement, limit, access)
        except RETRIED:
            # The connection is older than the server's restart; retry on a new one. A write is not repeated, because it
            # may have been completed before the connection broke.
            if access == neo4j.WRITE_ACCESS:
                raise
            return await self._once(statement, limit, access)

    async def _once(self, statement: Statement, limit: Limit, access: str) -> list[Row]:
        text, parameters = statement
        async with self._open().driver.session(database=self.address.database, default_access_mode=access) as session:
            left = limit.remaining()
            timeout = None if left == float("inf") else max(LEAST_TIMEOUT, left)
            # The driver's type asks for a literal text; callers compose these texts from integers only.
            result = await session.run(neo4j.Query(text, timeout=timeout), dict(parameters))
            return await result.values()

    def _open(self) -> _Open:
        with self._opening:
            if self._opened is None or self._opened.pid != os.getpid():
                loop = asyncio.new_event_loop()
                threading.Thread(target=loop.run_forever, name="neo4j", daemon=True).start()
                driver = asyncio.run_coroutine_threadsafe(_driver(self.address), loop).result()
                self._opened = _Open(os.getpid(), loop, driver)
            return self._opened

    def _run(self, coroutine: Coroutine[Any, Any, T], limit: Limit, stage: str) -> T:
        """Wait for a coroutine on the loop until the limit, and `GRACE_SECONDS` longer for the server's own report."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._open().loop)
        patience = Limit(limit.ends + GRACE_SECONDS, limit.cancelled)
        try:
            while True:
                try:
                    return future.result(timeout=min(LOOK_SECONDS, patience.remaining()))
                except concurrent.futures.TimeoutError:
                    if future.done():
                        raise
                if patience.cancelled():
                    raise SearchCancelled()
                if patience.remaining() <= 0:
                    raise Neo4jSilent(stage, "Neo4j has not answered in time")
        finally:
            future.cancel()


async def _driver(address: Address) -> neo4j.AsyncDriver:
    """Return a driver that belongs to the running loop; it does not connect yet."""
    return neo4j.AsyncGraphDatabase.driver(
        address.uri,
        auth=(address.user, address.password),
        connection_timeout=CONNECT_SECONDS,
        connection_acquisition_timeout=2 * CONNECT_SECONDS,
        liveness_check_timeout=IDLE_SECONDS,
        max_connection_pool_size=CONNECTIONS,
        fetch_size=-1,
        notifications_min_severity="OFF",
        telemetry_disabled=True,
    )


@lru_cache(maxsize=8)
def connect(address: Address) -> Connection:
    """Return the connection of this process to an address."""
    return Connection(address)


def _sentence(error: Exception) -> str:
    """Return the first line of the error message of server or driver."""
    text = error.message if isinstance(error, Neo4jError) else str(error)
    return ((text or "").strip().splitlines() or [type(error).__name__])[0].rstrip(".")
