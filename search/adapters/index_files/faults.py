"""What is wrong with the index files on this machine, as this process found it; its heartbeat tells it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Noted:
    """A sentence about a release, and when it was found to be so (`time.monotonic`)."""

    reason: str
    at: float


_faults: dict[str, Noted] = {}
_lock = threading.Lock()


def note(release: str, reason: str) -> bool:
    """Note the reason why a release cannot be searched, or that there is none (empty); return whether it is new."""
    with _lock:
        former = _faults.pop(release, None)
        if reason:
            _faults[release] = Noted(reason, time.monotonic())
        return (former.reason if former else "") != reason


def noted(release: str) -> Noted | None:
    """Return what is wrong with a release."""
    with _lock:
        return _faults.get(release)


def faults() -> list[str]:
    """Return a sentence for each release that this process cannot search because of its index files."""
    with _lock:
        return [fault.reason for fault in _faults.values()]


def forget() -> None:
    """Forget what was wrong, so that the next opening of a release tries again."""
    with _lock:
        _faults.clear()
