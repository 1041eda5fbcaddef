"""Corrects the expected seconds of a job's parts by what former jobs of the same kind have taken on this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from search.models import Job

FORMER_JOBS = 7
"""Newest finished jobs that are looked at."""
LEAST_SECONDS = 0.5
"""A part that took less is taken to have taken so long."""
LEAST_FACTOR, MOST_FACTOR = 0.05, 20.0
USUAL = "foreseen"
"""Key of a part in a job's progress: the expected seconds before they were corrected.

Jobs that kept expectations of another scale, under another name, teach nothing.
"""


@dataclass(frozen=True, slots=True)
class Learned:
    """Part → expected seconds, and those of them that come before the part's first unit."""

    expected: Mapping[str, float]
    leads: Mapping[str, float]


def learned(kind: str, expected: Mapping[str, float]) -> Learned:
    """Return the expected seconds, corrected by the medians of former jobs.

    A part takes its lead, whatever its size, and then its units, which are expected times a factor.
    """
    leads: dict[str, list[float]] = {}
    factors: dict[str, list[float]] = {}
    for part in _former(kind):
        lead, units = _lead_and_units(part)
        leads.setdefault(part["name"], []).append(lead)
        # So short a time is not measured well; that it was no longer is known.
        least, usual = max(units, LEAST_SECONDS), part.get(USUAL) or 0.0
        if usual > 0 and (units >= LEAST_SECONDS or usual > least):
            factors.setdefault(part["name"], []).append(least / usual)
    before = {part: median(leads[part]) for part in expected if part in leads}
    return Learned(
        {part: seconds * _factor(factors.get(part, ())) + before.get(part, 0.0) for part, seconds in expected.items()},
        before,
    )


def _former(kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of the newest jobs of a kind that this machine has done without an interruption."""
    here = socket.gethostname()[:255]
    done = Job.objects.filter(kind=kind, state=Job.State.DONE, worker_host=here, attempt__lte=1)
    jobs = done.order_by("-finished")
    for progress in jobs.values_list("progress", flat=True)[:FORMER_JOBS]:
        yield from progress.get("parts", [])


def _lead_and_units(part: Mapping[str, Any]) -> tuple[float, float]:
    """Return the seconds of a part before its units, and those of all its units at their steady rate."""
    seconds = part.get("seconds") or 0.0
    steady, share = part.get("steady") or (0.0, 0.0)
    units = min(seconds, steady / share) if share else seconds
    return seconds - units, units


def _factor(observed: list[float] | tuple[()]) -> float:
    return min(MOST_FACTOR, max(LEAST_FACTOR, median(observed))) if observed else 1.0
