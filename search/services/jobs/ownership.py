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


class ClockNow(models.Func):
    """The time at which the statement runs; Postgres' now() is the time at which the transaction began."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


@dataclass(frozen=True, slots=True)
class Claim:
    """The ownership of a job by this process; it ends when the row has another fence."""

    job: UUID
    fence: int
    attempt: int

    def rows(self) -> models.QuerySet[Job]:
        """Return the job's row while this claim owns it, else nothing."""
        return Job.objects.filter(pk=self.job, fence=self.fence, state=Job.State.RUNNING)

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """Run the block in a transaction that holds the job's row. Raises LeaseLost if this claim no longer owns it.

        If the process is stopped inside, Postgres ends the session after the length of a lease, so that another process
        can take the job over.
        """
        with transaction.atomic():
            with connection.cursor() as cursor:
                milliseconds = settings.GRASP_JOB_LEASE_SECONDS * 1000
                cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = {int(milliseconds)}")
            # Rows of the log refer to the job; NO KEY lets them be written meanwhile.
            if not self.rows().select_for_update(no_key=True).values("pk"):
                raise LeaseLost()
            yield

    def finish(self, state: Job.State, *, reason: str = "", result: Any = None) -> None:
        """Write the end of the job. Raises LeaseLost if this claim no longer owns it."""
        ended = self.rows().update(
            state=state, reason=reason, result=result, finished=ClockNow(), fence=F("fence") + 1, lease_until=None,
            changes=F("changes") + 1,
        )  # fmt: skip
        if not ended:
            raise LeaseLost()


def lease() -> timedelta:
    """Return the length of a lease."""
    return timedelta(seconds=settings.GRASP_JOB_LEASE_SECONDS)


def runnable() -> Q:
    """Return the condition of jobs that may be claimed: those that wait, and those whose owner's lease has ended."""
    return Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=ClockNow())


def claim(job: Job) -> Claim:
    """Take a job that the caller has locked and that is runnable."""
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.RUNNING, fence=F("fence") + 1, attempt=F("attempt") + 1, reason="",
        started=Coalesce(F("started"), ClockNow()), heartbeat=ClockNow(), lease_until=ClockNow() + lease(),
        worker_host=socket.gethostname()[:255], worker_process=os.getpid(), changes=F("changes") + 1,
    )  # fmt: skip
    job.refresh_from_db()
    return Claim(job.pk, job.fence, job.attempt)


def claim_this(job_id: UUID) -> Claim | None:
    """Claim one job for this process, or return None if it is not runnable."""
    with transaction.atomic():
        job = Job.objects.select_for_update(skip_locked=True, no_key=True).filter(runnable(), pk=job_id).first()
        return None if job is None else claim(job)
