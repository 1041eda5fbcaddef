"""Corrects the expected seconds of a job's parts by what former jobs of the same kind have taken on this machine."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from statistics import median

from search.models import Job

FORMER_JOBS = 7
"""Newest finished jobs that are looked at."""
LEAST_SECONDS = 0.5
"""A part that took less says nothing about the speed of the machine."""
LEAST_FACTOR, MOST_FACTOR = 0.05, 20.0
USUAL = "usual"
"""Key of a part in a job's progress: the expected seconds before they were corrected."""


def corrected(kind: str, expected: Mapping[str, float]) -> dict[str, float]:
    """Return part → expected seconds, times the median of what former jobs took of their expectation."""
    factors = _factors(kind)
    return {part: seconds * factors.get(part, 1.0) for part, seconds in expected.items()}


def _factors(kind: str) -> dict[str, float]:
    """Return part → observed divided by expected seconds."""
    here = socket.gethostname()[:255]
    former = Job.objects.filter(kind=kind, state=Job.State.DONE, worker_host=here).order_by("-finished")
    observed: dict[str, list[float]] = {}
    for progress in former.values_list("progress", flat=True)[:FORMER_JOBS]:
        for part in progress.get("parts", []):
            usual, seconds = part.get(USUAL) or 0.0, part.get("seconds") or 0.0
            if usual > 0 and seconds >= LEAST_SECONDS:
                observed.setdefault(part["name"], []).append(seconds / usual)
    return {part: min(MOST_FACTOR, max(LEAST_FACTOR, median(ratios))) for part, ratios in observed.items()}
