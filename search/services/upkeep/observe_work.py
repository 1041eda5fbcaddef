"""observe_work: the workers of every queue with their device and their work, and how long work has been waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min

from search.models import Job, SearchRun
from search.services.access.visible import rows_for
from search.services.access.visitors import User

SEARCHES = "search"
"""The queue of searches; every other queue has jobs."""
MOST_JOBS = 20
"""Most jobs that are shown: those that run, then those that wait, the oldest first."""
LARGE = ("specification", "notes", "result", "arguments")


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker of a queue: its name, process, host and device, the jobs that its processes do, and its faults."""

    queue: str
    name: str
    process: int
    host: str
    device: str
    jobs: tuple[Job, ...]
    searches: int
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """What waits for a queue: its number, and when the oldest of it was requested (None if nothing waits)."""

    number: int
    oldest: datetime | None


def waiting_by_queue() -> dict[str, WaitingWork]:
    """Return queue → what waits, by the rows: the broker only wakes workers, so that its tasks are no measure."""
    rows = Job.objects.filter(state=Job.State.QUEUED).values_list("queue").annotate(Count("pk"), Min("created"))
    found = {queue: WaitingWork(number, oldest) for queue, number, oldest in rows.order_by()}
    searches = SearchRun.objects.of_people().filter(status=SearchRun.Status.QUEUED)
    number, oldest = searches.aggregate(number=Count("pk"), oldest=Min("created")).values()
    return found | {SEARCHES: WaitingWork(number, oldest)}


def live_jobs(user: User = None) -> list[Job]:
    """Return the jobs that run, then those that wait, the oldest first: at most `MOST_JOBS` that the user may see."""
    rows = Job.objects.filter(state__in=[Job.State.RUNNING, Job.State.QUEUED]).defer(*LARGE).select_related("user")
    # In the alphabet, running comes after queued.
    return list(rows_for(rows, user).order_by("-state", "created")[:MOST_JOBS])


def workers(queues: Sequence[Mapping[str, Any]], jobs: Sequence[Job]) -> list[Worker]:
    """Return every worker of `queue_status()`, each with those of `jobs` that its processes work on."""
    searching = SearchRun.objects.of_people().filter(status=SearchRun.Status.RUNNING).count()
    return [
        Worker(
            queue["name"], state["worker"], state["pid"], state.get("host", ""), state.get("device", ""),
            tuple(job for job in jobs if _works_on(state, job)), searching if queue["name"] == SEARCHES else 0,
            tuple(state.get("faults", ())),
        )
        for queue in queues
        for state in queue["workers"]
    ]  # fmt: skip


def _works_on(state: Mapping[str, Any], job: Job) -> bool:
    processes = {state["pid"], *state.get("processes", ())}
    return (
        job.state == Job.State.RUNNING and job.worker_process in processes and job.worker_host == state.get("host", "")
    )
