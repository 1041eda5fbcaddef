"""What former jobs of a kind have taken on this machine, for each part of their work."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from search.domain.time_left import Former, History
from search.models import Job

FORMER_JOBS = 30
"""Newest finished jobs that are looked at."""


def history(kind: str) -> History:
    """Return part → what it took in the newest jobs of a kind that this machine has done without an interruption."""
    here = socket.gethostname()[:255]
    done = Job.objects.filter(kind=kind, state=Job.State.DONE, worker_host=here, attempt__lte=1)
    found: dict[str, list[Former]] = {}
    for progress in done.order_by("-finished").values_list("progress", flat=True)[:FORMER_JOBS]:
        for part in progress.get("parts", []):
            # Jobs of earlier versions named the size otherwise.
            if size := part.get("size") or part.get("foreseen"):
                found.setdefault(part["name"], []).append(_former(part, size))
    return found


def _former(part: Mapping[str, Any], size: float) -> Former:
    """Return the size, the seconds of a part before its units, and those of all its units at their steady rate."""
    seconds = part.get("seconds") or 0.0
    steady, share = part.get("steady") or (0.0, 0.0)
    units = min(seconds, steady / share) if share else seconds
    return Former(size, seconds - units, units)
