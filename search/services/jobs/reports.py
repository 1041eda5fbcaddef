"""What a job's work reports: progress, lines of its log, and metrics; collected, then written to the rows together."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db.models import Max

from search.domain.time_left import Estimator
from search.models import Job, JobLog, JobMetric
from search.services.jobs.learned import history
from search.services.jobs.ownership import JobClaim
from search.services.jobs.thinning import Thinning
from search.services.searches.storable import storable_text

LONGEST_LINE = 2_000
"""Most characters that are kept of a line of the log."""
MOST_LINES = 5_000
"""Most lines that are kept of a job; after that, the lines of its work are dropped and counted."""
LONGEST_METRIC = 80


class Reports:
    """Collects reports from any thread, and writes what is new when asked (RunContext's listeners)."""

    def __init__(self, claim: JobClaim, parts: Mapping[str, float], spent: Mapping[str, float]) -> None:
        """`parts` are the sizes of the work's parts, `spent` the seconds of each part in earlier attempts."""
        self._claim = claim
        self._lock = threading.Lock()
        kind = Job.objects.values_list("kind", flat=True).get(pk=claim.job)
        self._estimator = Estimator(parts, time.monotonic(), spent, history(kind))
        self._thinning = Thinning(claim.job)
        self._newest: dict[str, tuple[int, float]] = {}
        self.gpu_bytes = 0
        self._ended = False
        self._lines: list[str] = []
        self._metrics: dict[tuple[str, int], float] = {}
        self._kept = JobLog.objects.filter(job=claim.job).count()
        self.new = True
        """Whether something has been reported since the last write."""

    def progress(self, part: str, done: int, total: int | None) -> None:
        """Receive the progress of a part."""
        with self._lock:
            self._estimator.report(part, done, total, time.monotonic())
            self.new = True

    def metric(self, name: str, step: int, value: float) -> None:
        """Receive a point of a series; a value that is no finite number is dropped, JSON has no word for it."""
        if math.isfinite(value):
            known = storable_text(name)[:LONGEST_METRIC]
            with self._lock:
                self._newest[known] = max(0, int(step)), float(value)
                self._metrics[known, max(0, int(step))] = float(value)
                self.new = True

    def gpu_memory(self, number: int) -> None:
        """Receive the most bytes of GPU memory that the work has held."""
        self.gpu_bytes = max(self.gpu_bytes, number)

    def log(self, text: str) -> None:
        """Receive a line."""
        with self._lock:
            self._kept += 1
            if self._kept <= MOST_LINES:
                self._lines.append(storable_text(text)[:LONGEST_LINE])
            elif self._kept == MOST_LINES + 1:
                self._lines.append(f"More than {MOST_LINES:,} lines; the rest is left out.")
            self.new = True

    def finish(self) -> None:
        """Mark every part as finished; of each series the newest point is kept, whatever its step."""
        with self._lock:
            self._estimator.finish(time.monotonic())
            self._ended = True
            self._metrics |= {(name, step): value for name, (step, value) in self._newest.items()}
            self.new = True

    def estimate(self) -> dict[str, Any]:
        """Return the present progress as JSON."""
        with self._lock:
            return self._estimator.estimate(time.monotonic()).to_json()

    def write(self) -> tuple[int, int]:
        """Write the collected lines and metrics, in the caller's transaction; return how many of each were written.

        They are kept until `written` is called, because the transaction may fail.
        """
        with self._lock:
            lines, metrics, ended = list(self._lines), list(self._metrics.items()), self._ended
        if lines:
            JobLog.objects.bulk_create(
                JobLog(job_id=self._claim.job, attempt=self._claim.attempt, text=line) for line in lines
            )
        kept = [(key, value) for key, value in metrics if ended or self._thinning.keeps(*key)]
        if kept:
            JobMetric.objects.bulk_create(
                [JobMetric(job_id=self._claim.job, name=name, step=step, value=value)
                 for (name, step), value in kept],
                update_conflicts=True, unique_fields=["job", "name", "step"], update_fields=["value"],
            )  # fmt: skip
        for name, points in Counter(name for (name, _), _ in kept).items():
            if not ended:
                self._thinning.added(name, points)
        return len(lines), len(metrics)

    def written(self, lines: int, metrics: int) -> None:
        """Forget what has been written: the first `lines` lines and `metrics` points."""
        with self._lock:
            del self._lines[:lines]
            for key in list(self._metrics)[:metrics]:
                del self._metrics[key]
            self.new = bool(self._lines or self._metrics)


def seconds_spent(job: Job) -> dict[str, float]:
    """Return the seconds of each part in the earlier attempts of a job."""
    return {part["name"]: part.get("seconds", 0.0) for part in job.progress.get("parts", [])}


def last_line(job: Job) -> int:
    """Return the id of the newest line of a job's log, 0 if there is none."""
    newest = job.lines.aggregate(newest=Max("id"))["newest"]
    return newest or 0
