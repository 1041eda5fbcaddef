"""work: what a worker does when it is woken: claim runnable jobs of its queue and do them, one after the other."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

import structlog
from django.db import DatabaseError, connection

from search.models import Job
from search.services.audit.note import Caller, calling
from search.services.jobs.body import JobOutcome
from search.services.jobs.keeper import BEAT_SECONDS, GRACE_SECONDS, JobKeeper, KeeperVerdict
from search.services.jobs.kinds import parts_of
from search.services.jobs.ownership import JobClaim, claim_next
from search.services.jobs.process import Process
from search.services.jobs.reports import Reports, seconds_spent
from search.services.jobs.resources import Resources
from search.services.jobs.stopping import stopping as worker_stops
from search.services.observing.carried import resumed
from search.services.observing.events import JobEnded, LeaseWasLost, tell

TICK_SECONDS = 0.2
STOPPED = "Its worker was stopped; it continues as soon as another one runs."

log = structlog.get_logger(__name__)


def work(queue: str, stopping: Callable[[], bool] = worker_stops) -> int:
    """Do the runnable jobs of a queue until none is left or this worker stops; return how many were begun."""
    begun = 0
    while not stopping():
        try:
            claim = claim_next(queue)
        except DatabaseError as error:
            # The next hint comes in some seconds; a broken connection must not be kept for it.
            connection.close()
            log.warning("jobs: Postgres does not answer", queue=queue, reason=str(error))
            return begun
        if claim is None:
            return begun
        begun += 1
        _do(claim, stopping)
    return begun


def _do(claim: JobClaim, stopping: Callable[[], bool]) -> None:
    """Do one claimed job in a process of its own, and write its end."""
    job = Job.objects.select_related("knowledge_base", "user").get(pk=claim.job)
    # The forked process inherits the ids and the caller, so that its lines and its notes have them too.
    with resumed(job.carried, job=str(job.pk)), calling(Caller(job.origin, user=lambda: job.user)):
        _do_claimed(job, claim, stopping)


def _do_claimed(job: Job, claim: JobClaim, stopping: Callable[[], bool]) -> None:
    began = time.time()
    spent, former = seconds_spent(job), job.resources
    reports = Reports(claim, parts_of(job), spent)
    reports.log(f"Attempt {claim.attempt} begins on {socket.gethostname()}, process {os.getpid()}.")
    process = Process(job, claim)
    keeper = JobKeeper(claim, reports, Resources(process.pid, former, lambda: reports.gpu_bytes))
    why = _watched(process, keeper, reports, stopping)
    outcome = process.end()
    log.info("job ended", kind=job.kind, state=outcome.state, why=why, reason=outcome.reason)
    _write_end(keeper, reports, outcome, why)
    if why == KeeperVerdict.LOST.value:
        tell(LeaseWasLost(job.kind))
    job.refresh_from_db(fields=["state"])
    tell(JobEnded(job, job.state, began, time.time()))


def _watched(process: Process, keeper: JobKeeper, reports: Reports, stopping: Callable[[], bool]) -> str:
    """Keep the lease until the process has ended; return why it was told to stop, or an empty string.

    Who does not stop within the grace is killed; who has lost the lease is killed at once.
    """
    why, kill_at, beat_at = "", float("inf"), 0.0
    while not process.closed:
        for report in process.reports(TICK_SECONDS):
            for name, arguments in report.items():
                getattr(reports, name)(*arguments)
        now = time.monotonic()
        if now >= beat_at and why != KeeperVerdict.LOST.value:
            verdict = keeper.beat()
            beat_at = now + BEAT_SECONDS
            if verdict != KeeperVerdict.GO_ON and why != verdict.value:
                why, kill_at = (
                    verdict.value,
                    min(kill_at, now + (GRACE_SECONDS if verdict == KeeperVerdict.CANCEL else 0.0)),
                )
                process.stop()
        if not why and stopping():
            why, kill_at = STOPPED, now + GRACE_SECONDS
            process.stop()
        if time.monotonic() >= kill_at:
            process.kill()
            kill_at = float("inf")
    return why


def _write_end(keeper: JobKeeper, reports: Reports, outcome: JobOutcome, why: str) -> None:
    """Write how the job ended. What was finished although it should have stopped counts as finished."""
    if outcome.state == Job.State.DONE:
        keeper.finish(Job.State.DONE, result=outcome.result)
    elif why == KeeperVerdict.CANCEL.value:
        keeper.finish(Job.State.CANCELLED, "It was cancelled.")
    elif why == STOPPED:
        reports.log(STOPPED)
        keeper.hand_back(STOPPED, died=False)
    elif outcome.interrupted or why == KeeperVerdict.LOST.value:
        reports.log(f"Interrupted: {outcome.reason}")
        keeper.hand_back(outcome.reason, died=True)
    else:
        reports.log(outcome.reason)
        keeper.finish(Job.State(outcome.state), outcome.reason)
