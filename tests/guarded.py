"""Processes that end with the test run that started them, in whatever way it ends: `kill -9` leaves none behind."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Any

from grasp_site.embedded.children import Guard


@cache
def _guard() -> Guard:
    """Return the watchdog of this process's children; it detects over a pipe that this process has ended."""
    return Guard()


def guarded(command: Sequence[str], *signals: int, **options: Any) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, which receives the signals when this process ends, then SIGKILL.

    `options` are those of `subprocess.Popen`. Without signals the group receives SIGINT first.
    """
    process = subprocess.Popen(command, start_new_session=True, **options)
    _guard().add(process.pid, signals or (signal.SIGINT,))
    return process
