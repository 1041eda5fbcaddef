"""Suspends servers that repeatedly kept searches waiting without an answer."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from search.adapters.llm_openai.calls import Call
from search.adapters.llm_openai.server import Server

SLOW_SECONDS = 1.0
"""Seconds from which a failed call counts as slow: a quick refusal costs a search next to nothing."""
MOST_IN_A_ROW = 3
"""Slow failures in a row after which a server is suspended."""
PAUSE_SECONDS = 30.0
"""Seconds for which a server is suspended; after them one call tries it again."""
_KEPT = 32
"""Most servers that are remembered."""


@dataclass(slots=True)
class _Record:
    """A server's slow failures in a row, the reason of the last one, and the time from which it may be called again."""

    failures: int = 0
    reason: str = ""
    again: float = 0.0


class Patience:
    """Counts slow failures by server. Threads may share it; a server with new settings counts as a new server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._records: OrderedDict[Server, _Record] = OrderedDict()
        self._lock = threading.Lock()

    def lost(self, server: Server) -> str:
        """Return why a server must not be called now, or an empty string if it may be."""
        with self._lock:
            record = self._records.get(server)
            if record is None or record.failures < MOST_IN_A_ROW:
                return ""
            left = record.again - self._clock()
            if left > 0:
                return (
                    f"{server.shown} failed slowly {record.failures} times in a row, and is asked "
                    f"again in {max(1, round(left))} seconds. The last time: {record.reason}"
                )
            # Other callers have to wait while this call tries.
            record.again = self._clock() + PAUSE_SECONDS
            return ""

    def note(self, server: Server, calls: Sequence[Call]) -> None:
        """Record the outcome of the calls that one search made at once."""
        with self._lock:
            if not all(call.error for call in calls):
                self._records.pop(server, None)
                return
            longest = max(calls, key=lambda call: call.seconds)
            if longest.seconds < SLOW_SECONDS:
                return
            record = self._records.setdefault(server, _Record())
            record.failures += 1
            record.reason, record.again = longest.error, self._clock() + PAUSE_SECONDS
            while len(self._records) > _KEPT:
                self._records.popitem(last=False)
