"""tend_jobs: what has to happen every few seconds, whoever does it: settle, launch what is due, wake workers."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F, Q

from search.models import Job
from search.services.health import queue_status
from search.services.jobs.ownership import HERE, ClockNow, runnable, settle
from search.services.jobs.schedules import launch_due
from search.services.jobs.wake import tell, wake

NEVER_BEGUN = timedelta(seconds=60)
"""After this time, a job that a command launched for itself and did not begin has no command any more."""


def tend_jobs() -> dict[str, int]:
    """End what nobody goes on with, launch the schedules that are due, and wake the workers of queues with jobs.

    Returns how many jobs were ended and launched, and how many queues were woken. Any number of processes may call it.
    """
    return {"settled": _settle(), "launched": launch_due(), "woken": _wake_queues()}


def _settle() -> int:
    """End jobs whose owner is gone and that nobody may go on with: cancelled, of a command, or given up."""
    number = 0
    for pk in Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=ClockNow()).values_list("pk", flat=True):
        if settle(pk):
            tell(pk)
            number += 1
    return number + Job.objects.filter(
        Q(state=Job.State.QUEUED, queue=HERE, created__lt=ClockNow() - NEVER_BEGUN)
    ).update(
        state=Job.State.FAILED, reason="The command that launched it ended before it began.", finished=ClockNow(),
        fence=F("fence") + 1, changes=F("changes") + 1,
    )  # fmt: skip


def _wake_queues() -> int:
    """Send a hint for every queue that has runnable jobs and no hint waiting."""
    queues = set(Job.objects.filter(runnable()).exclude(queue=HERE).values_list("queue", flat=True).distinct())
    if not queues:
        return 0
    hinted = {queue["name"] for queue in queue_status() if queue["waiting"]}
    return sum(wake(queue) for queue in sorted(queues - hinted))
