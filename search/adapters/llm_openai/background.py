"""One event loop for each process, in its own thread; the clients of all servers live on it.

Searches run in synchronous threads and submit their requests to the loop. Several requests can then be in progress at
once, connections are kept open, and each request can be abandoned at any time.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from search.adapters.llm_openai.client import Client
from search.adapters.llm_openai.server import Server
from search.domain.trace import Limit

T = TypeVar("T")
CANCEL_CHECK_SECONDS = 0.1
"""Seconds between two checks whether the search was cancelled."""
GRACE_SECONDS = 1.0
"""Seconds after the limit in which a coroutine that observes the limit itself may still end."""


class Background:
    """An event loop in a thread, and the clients on it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._clients: dict[str, Client] = {}
        threading.Thread(target=self._loop.run_forever, name="language models", daemon=True).start()

    def run(self, coroutine: Coroutine[Any, Any, T], limit: Limit, stage: str) -> T:
        """Run a coroutine that ends by itself at the limit, and return its result.

        Raises SearchCancelled as soon as the search is cancelled, and DeadlineExceeded if the coroutine does not end in
        time.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        overdue = Limit(limit.ends + GRACE_SECONDS, limit.cancelled)
        try:
            while True:
                overdue.check(stage)
                try:
                    return future.result(timeout=CANCEL_CHECK_SECONDS)
                except concurrent.futures.TimeoutError:
                    if future.done():
                        raise
        finally:
            future.cancel()

    async def client(self, server: Server) -> Client:
        """Return the client of a server; a client with older settings is closed. Must be awaited on this loop."""
        known = self._clients.get(server.name)
        if known is not None and known.server == server:
            return known
        self._clients[server.name] = Client(server)
        if known is not None:
            await known.close()
        return self._clients[server.name]


_starting = threading.Lock()
_running: list[Background] = []


def background() -> Background:
    """Return the loop of this process; a forked process starts its own."""
    with _starting:
        if not _running or _running[0].pid != os.getpid():
            _running[:] = [Background()]
        return _running[0]
