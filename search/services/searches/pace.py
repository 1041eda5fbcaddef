"""pace: the mean time of the latest searches of this worker, from which the door knows how long new ones would wait."""

from __future__ import annotations

import time
from collections import deque
from statistics import fmean

LATEST, SECONDS = 32, 30.0
"""Searches that count, and for how many seconds they do."""
_latest: deque[tuple[float, float]] = deque(maxlen=LATEST)


def note(seconds: float) -> None:
    """Note that a search has occupied a thread for so long."""
    _latest.append((time.monotonic(), seconds))


def mean() -> float:
    """Return the mean seconds of the latest searches, 0 if there were none lately."""
    since = time.monotonic() - SECONDS
    recent = [seconds for ended, seconds in list(_latest) if ended >= since]
    return round(fmean(recent), 3) if recent else 0.0
