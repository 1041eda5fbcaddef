"""Who works on a job: the claim, its fence, and the writes that only the owner may make.

The clock is that of Postgres, so that machines with different clocks agree about a lease.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from search.domain.run_context import LeaseLost
from search.models import Job

HERE = "here"
"""The queue of jobs that a command does in its own process; no worker serves it."""
OWNER_GONE = "its process or its machine stopped without an error message."


LOOKED_AT = 50
"""Jobs that are tried at most when a worker looks for one."""


class ClockNow(models.Func):
    """The time at which the statement runs; Postgres' now() is the time at which the transaction began."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


@dataclass(frozen=True, slots=True)
class JobClaim:
    """The ownership of a job by this process; it ends when the row has another fence."""

    job: UUID
    fence: int
    attempt: int
    here: bool = False
    """Whether a command does the job in its own process, so that no other process ever goes on with it."""

    def rows(self) -> models.QuerySet[Job]:
        """Return the job's row while this claim owns it, else nothing."""
        return Job.objects.filter(pk=self.job, fence=self.fence, state=Job.State.RUNNING)

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """Run the block in a transaction during which the owner cannot change.

        Raises LeaseLost if this claim no longer owns the job. Heartbeats and requests to cancel are still written
        meanwhile. If the process is stopped inside, Postgres ends the session after the length of a lease, so that
        another process can take the job over.
        """
        nested = connection.in_atomic_block
        with transaction.atomic():
            if not nested:
                milliseconds = int(settings.GRASP_JOB_LEASE_SECONDS * 1000)
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = {milliseconds}")
            _lock("pg_advisory_xact_lock_shared", self.job)
            if not self.rows().exists() and not self.take_back():
                raise self.lost()
            yield

    def take_back(self) -> bool:
        """Own the job again, if it was given up only because this process was late; return whether that was so.

        On a busy machine a command may be too late to renew its lease. Others then take it for dead and end its job.
        As long as nobody has begun the job anew, its work is still good, and no other process has written anything.
        """
        given_up = Job.objects.filter(
            pk=self.job, fence=self.fence + 1, state=Job.State.FAILED, reason=given_up_because(HERE, 1, OWNER_GONE)
        )
        return self.here and bool(given_up.update(
            state=Job.State.RUNNING, reason="", finished=None, fence=self.fence, deaths=F("deaths") - 1,
            heartbeat=ClockNow(), lease_until=ClockNow() + lease(), changes=F("changes") + 1,
        ))  # fmt: skip

    def lost(self) -> LeaseLost:
        """Return the error of a process that no longer owns the job, with what became of the job."""
        job = Job.objects.filter(pk=self.job).first()
        if job is None:
            return LeaseLost("The job was deleted.")
        if job.state in (Job.State.QUEUED, Job.State.RUNNING):
            where = f"on {job.worker_host}" if job.state == Job.State.RUNNING else "as soon as one is free"
            return LeaseLost(f"Another process goes on with it {where}: `jobs show {job.pk}` shows its progress.")
        return LeaseLost(f"It has ended meanwhile ({job.get_state_display()}): {job.reason or 'see its log.'}")

    def finish(self, state: str, *, reason: str = "", result: Any = None) -> None:
        """Write the end of the job, and the knowledge base of its result: an import may learn it from its source.

        Raises LeaseLost if this claim no longer owns it.
        """
        base = result.get("knowledge_base") if isinstance(result, dict) else None
        named = {"knowledge_base_name": base} if isinstance(base, str) and base else {}
        self._give_up(state=state, reason=reason, result=result, finished=ClockNow(), **named)

    def hand_back(self, reason: str, *, died: bool) -> None:
        """Let another process go on with the job, or end it if too many processes have `died` of it.

        Raises LeaseLost if this claim no longer owns it.
        """
        job = self.rows().first()
        if job is None:
            raise self.lost()
        deaths = job.deaths + int(died)
        if (given_up := given_up_because(job.queue, deaths, reason)) and died:
            self._give_up(state=Job.State.FAILED, reason=given_up, deaths=deaths, finished=ClockNow())
        else:
            self._give_up(state=Job.State.QUEUED, reason=reason, deaths=deaths)

    def _give_up(self, **values: Any) -> None:
        _lock("pg_advisory_xact_lock", self.job)
        if not self.rows().update(**values, fence=F("fence") + 1, lease_until=None, changes=F("changes") + 1):
            raise self.lost()


def lease() -> timedelta:
    """Return the length of a lease."""
    return timedelta(seconds=settings.GRASP_JOB_LEASE_SECONDS)


def runnable() -> Q:
    """Return the condition of jobs that may be claimed: those that wait, and those whose owner's lease has ended."""
    return Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=ClockNow())


def given_up_because(queue: str, deaths: int, reason: str) -> str:
    """Return why a job whose process died is not tried again, or an empty string if it is."""
    if queue == HERE:
        return "The command that did it stopped without an error message; resume the job, or call the command again."
    if deaths < settings.GRASP_JOB_ATTEMPTS:
        return ""
    return f"It failed because {deaths} processes in turn stopped during the work. The last time: {reason}"


def claim_next(queue: str) -> JobClaim | None:
    """Claim the job of a queue that has waited longest, or return None if none is runnable.

    Jobs whose owner's lease has ended are settled on the way: cancelled ones end, and so do those with too many deaths.
    """
    waiting = Job.objects.filter(runnable(), queue=queue).order_by("created").values_list("pk", flat=True)
    for pk in waiting[:LOOKED_AT]:
        if (claimed := claim_this(pk)) is not None:
            return claimed
    return None


def claim_this(job_id: UUID) -> JobClaim | None:
    """Claim one job for this process, or return None if it is not runnable, or was settled instead."""
    with transaction.atomic():
        job = locked(job_id, runnable())
        return None if job is None or settled(job) else _claim(job)


def locked(job_id: UUID, condition: Q) -> Job | None:
    """Return a job that meets a condition, locked in this transaction so that its owner may be changed, else None.

    It waits for nobody: while the owner does a final write, or another process changes the job, the answer is None.
    """
    if not _lock("pg_try_advisory_xact_lock", job_id):
        return None
    rows = Job.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
    return rows.filter(condition, pk=job_id).first()


def _lock(function: str, job_id: UUID) -> bool:
    """Take the lock of a job's ownership until the transaction ends; return what Postgres' function returned.

    Final writes share it, and whoever changes the owner needs it alone. It is no lock of the row, so that heartbeats
    and requests to cancel never wait for a final write.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [f"grasp job {job_id}"])
        row = cursor.fetchone()
    return bool(row and row[0])


def settle(job_id: UUID) -> bool:
    """End a job whose owner is gone, unless it is to be run again; return whether it was ended."""
    with transaction.atomic():
        job = locked(job_id, runnable())
        return job is not None and settled(job)


def settled(job: Job) -> bool:
    """End a locked, runnable job that must not be run again, and return whether it was ended."""
    died = job.state == Job.State.RUNNING
    deaths = job.deaths + int(died)
    if job.cancel_requested is not None:
        state, reason = Job.State.CANCELLED, "It was cancelled."
    elif died and (given_up := given_up_because(job.queue, deaths, OWNER_GONE)):
        state, reason = Job.State.FAILED, given_up
    else:
        job.deaths = deaths
        return False
    Job.objects.filter(pk=job.pk).update(
        state=state, reason=reason, deaths=deaths, finished=ClockNow(), lease_until=None, fence=F("fence") + 1,
        changes=F("changes") + 1,
    )  # fmt: skip
    return True


def _claim(job: Job) -> JobClaim:
    """Take a job that the caller has locked and that is runnable."""
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.RUNNING, fence=F("fence") + 1, attempt=F("attempt") + 1, deaths=job.deaths, reason="",
        started=Coalesce(F("started"), ClockNow()), heartbeat=ClockNow(), lease_until=ClockNow() + lease(),
        worker_host=socket.gethostname()[:255], worker_process=os.getpid(), changes=F("changes") + 1,
    )  # fmt: skip
    job.refresh_from_db(fields=["fence", "attempt"])
    return JobClaim(job.pk, job.fence, job.attempt, here=job.queue == HERE)
