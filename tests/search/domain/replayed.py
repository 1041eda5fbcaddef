"""Replays the recorded progress of real jobs through the estimator, in their order, so that history grows as in life.

`progress.jsonl` holds a job a line: its kind and size, the sizes of its parts, what they reported, and when it ended.
`python -m benchmarks progress` records them. The seconds are recorded, so that no clock decides what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from search.domain.time_left import Estimator
from search.domain.time_range import rounded
from search.domain.work_parts import Former, former_of

RECORDED = Path(__file__).with_name("progress.jsonl")
READINGS = 40
"""Moments at which each job is looked at, evenly over its time."""
NARROW_AFTER = 1 / 3


@dataclass
class Replayed:
    """A job: for each reading the share of its time, what is shown (None: not known yet) and the true seconds left."""

    kind: str
    size: str
    seconds: float
    readings: list[tuple[float, tuple[int, int] | None, float]] = field(default_factory=list)

    @property
    def shown(self) -> int:
        """Readings that show a range."""
        return sum(shown is not None for _, shown, _ in self.readings)

    @property
    def held(self) -> int:
        """Readings whose shown range holds the truth."""
        return sum(shown is not None and shown[0] <= left <= shown[1] for _, shown, left in self.readings)

    def widths(self, *, late: bool) -> list[float]:
        """Return the high end for each low end of what is shown before or after a third; 5 s are the least end."""
        shown = [ends for share, ends, _ in self.readings if (share >= NARROW_AFTER) is late and ends is not None]
        return [high / max(low, 5) for low, high in shown]


def recorded(file: Path = RECORDED) -> list[dict[str, Any]]:
    """Return the recorded jobs in their order."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def replay(jobs: Sequence[dict[str, Any]]) -> Iterator[Replayed]:
    """Yield each job as people would have seen it; a job learns from those of its kind before it."""
    former: dict[str, dict[str, list[Former]]] = {}
    for job in jobs:
        learned = former.setdefault(job["kind"], {})
        estimator = Estimator(job["parts"], 0.0, history=learned)
        reports = [(at, job["names"][part], done, total) for at, part, done, total in job["reports"]]
        replayed = Replayed(job["kind"], job["size"], job["seconds"])
        passed = 0
        for number in range(READINGS):
            share = (number + 0.5) / READINGS
            now = share * job["seconds"]
            while passed < len(reports) and reports[passed][0] <= now:
                at, part, done, total = reports[passed]
                estimator.report(part, done, total, at)
                passed += 1
            left = estimator.estimate(now).left
            shown = None if left is None else rounded(left.low, left.high)
            replayed.readings.append((share, shown, job["seconds"] - now))
        for at, part, done, total in reports[passed:]:
            estimator.report(part, done, total, at)
        estimator.finish(job["seconds"])
        for name, one in former_of(estimator.estimate(job["seconds"]).to_json()):
            learned.setdefault(name, []).append(one)
        yield replayed
