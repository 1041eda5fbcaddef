"""follow_job: what has happened in a job since somebody last looked, as events."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from search.models import Job, JobLog, JobMetric
from search.services.jobs.describe_job import describe_job, line_json, series, summary

ENDED = (Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED)
MOST_AT_ONCE = 1_000
"""Most lines and points of one look; the next look returns the next ones."""


@dataclass(frozen=True, slots=True)
class SeenJob:
    """How much a follower has seen: the row's number of changes, the last line, the last point. It is an event's id."""

    changes: int = -1
    line: int = 0
    point: int = 0

    def __str__(self) -> str:
        return f"{self.changes}-{self.line}-{self.point}"

    @classmethod
    def parsed(cls, text: str) -> SeenJob:
        """Return what an event's id says; anything else says that nothing has been seen."""
        found = re.fullmatch(r"(\d{1,18})-(\d{1,18})-(\d{1,18})", text, re.ASCII)
        return cls(*(int(part) for part in found.groups())) if found else cls()


@dataclass(frozen=True, slots=True)
class JobEvent:
    """Something that happened: its id, its name, and its data."""

    id: SeenJob
    name: str
    data: dict[str, Any]


def follow_job(job_id: UUID, seen: SeenJob) -> tuple[list[JobEvent], SeenJob, bool]:
    """Return the events behind `seen`, what has been seen with them, and whether nothing more will come.

    `progress` has the job as lists show it, `log` new lines, `metrics` new points; `done` has the whole job, whatever
    its state. Raises Job.DoesNotExist.
    """
    job = Job.objects.select_related("user").get(pk=job_id)
    ended = job.state in ENDED
    if job.changes == seen.changes:
        return [], seen, ended
    lines = list(JobLog.objects.filter(job=job, pk__gt=seen.line).order_by("pk")[:MOST_AT_ONCE])
    points = list(JobMetric.objects.filter(job=job, pk__gt=seen.point).order_by("pk")[:MOST_AT_ONCE])
    more = len(lines) == MOST_AT_ONCE or len(points) == MOST_AT_ONCE
    now = SeenJob(
        seen.changes if more else job.changes, lines[-1].pk if lines else seen.line,
        points[-1].pk if points else seen.point,
    )  # fmt: skip
    events = [JobEvent(now, "progress", summary(job))]
    if lines:
        events.append(JobEvent(now, "log", {"lines": [line_json(line) for line in lines]}))
    if points:
        events.append(JobEvent(now, "metrics", {"points": series(sorted(points, key=lambda p: (p.name, p.step)))}))
    if ended and not more:
        events.append(JobEvent(now, "done", describe_job(job)))
    return events, now, ended and not more
