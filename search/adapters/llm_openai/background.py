"""One event loop a process, in a thread of its own, on which the clients of all servers live.

Searches run in threads and are not asynchronous; this is where they hand their requests over, so that several are under
way at once, connections are kept, and each can be given up in mid-air.
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
LOOK = 0.1
"""Seconds between two looks at whether the search is still wanted."""
GRACE = 1.0
"""Seconds beyond the limit in which a coroutine that watches the clock itself may end."""


class Background:
    """An event loop in a thread, and the clients on it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._clients: dict[str, Client] = {}
        threading.Thread(target=self._loop.run_forever, name="language models", daemon=True).start()

    def run(self, coroutine: Coroutine[Any, Any, T], limit: Limit, stage: str) -> T:
        """Run a coroutine that ends by itself with the limit, and return what it returns.

        Raises SearchCancelled as soon as the search is not wanted any more, DeadlineExceeded when it overstays.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        overdue = Limit(limit.ends + GRACE, limit.cancelled)
        try:
            while True:
                overdue.check(stage)
                try:
                    return future.result(timeout=LOOK)
                except concurrent.futures.TimeoutError:
                    if future.done():
                        raise
        finally:
            future.cancel()

    async def client(self, server: Server) -> Client:
        """Return the client of a server; one with older settings is closed. To be awaited on this loop."""
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
    """Return the loop of this process; a process that was forked starts its own."""
    with _starting:
        if not _running or _running[0].pid != os.getpid():
            _running[:] = [Background()]
        return _running[0]
