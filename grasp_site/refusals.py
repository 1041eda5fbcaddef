"""Counts the searches that were refused for the moment, and writes their sums now and then."""

from __future__ import annotations

import threading
from collections import Counter

from django.db import connection

from search.services.access.count_refused import FULL, count_refused

WRITE_SECONDS = 2.0
"""Seconds for which refusals are gathered, so that a crowd costs one row a time and not one a refusal."""


class Refusals:
    """Counts of refused searches by door and kind, written by a thread of their own."""

    def __init__(self, seconds: float = WRITE_SECONDS) -> None:
        self._seconds = seconds
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def count(self, door: str, kind: str = FULL) -> None:
        """Count one refusal; costs no query."""
        with self._lock:
            first = not self._numbers
            self._numbers[door, kind] += 1
        if first:
            timer = threading.Timer(self._seconds, self.write)
            timer.daemon = True
            timer.start()

    def write(self) -> None:
        """Write what was gathered."""
        with self._lock:
            numbers, self._numbers = self._numbers, Counter()
        try:
            for (door, kind), number in numbers.items():
                count_refused(door, kind, number)
        finally:
            connection.close()
