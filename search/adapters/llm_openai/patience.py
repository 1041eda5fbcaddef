"""Which servers are left alone for a while, because they kept one search after another waiting for nothing."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from search.adapters.llm_openai.calls import Call
from search.adapters.llm_openai.server import Server

LONG = 1.0
"""Seconds from which a call that failed has kept somebody waiting: a quick refusal costs a search next to nothing."""
MOST_IN_A_ROW = 3
PAUSE = 30.0
"""Seconds that a server is left alone; after them one call tries it again."""
_KEPT = 32


@dataclass(slots=True)
class _Record:
    """How often in a row a server failed slowly, why it did last, and from when on it is asked again."""

    failures: int = 0
    reason: str = ""
    again: float = 0.0


class Patience:
    """Counts slow failures by server. Safe to share by threads; new settings of a server are a new server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._records: OrderedDict[Server, _Record] = OrderedDict()
        self._lock = threading.Lock()

    def lost(self, server: Server) -> str:
        """Say why a server is not to be asked now; an empty string where it is."""
        with self._lock:
            record = self._records.get(server)
            if record is None or record.failures < MOST_IN_A_ROW:
                return ""
            left = record.again - self._clock()
            if left > 0:
                return (
                    f"{server.shown} kept searches waiting for nothing {record.failures} times in a row, and is asked "
                    f"again in {max(1, round(left))} seconds. The last time: {record.reason}"
                )
            # Whoever comes while this call tries is told to wait.
            record.again = self._clock() + PAUSE
            return ""

    def note(self, server: Server, calls: Sequence[Call]) -> None:
        """Take in how the calls went that one search made at once."""
        with self._lock:
            if not all(call.error for call in calls):
                self._records.pop(server, None)
                return
            longest = max(calls, key=lambda call: call.seconds)
            if longest.seconds < LONG:
                return
            record = self._records.setdefault(server, _Record())
            record.failures += 1
            record.reason, record.again = longest.error, self._clock() + PAUSE
            while len(self._records) > _KEPT:
                self._records.popitem(last=False)
