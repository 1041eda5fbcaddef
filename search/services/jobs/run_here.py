"""run_here: do a job in this process, as commands do; it is listed and can be cancelled like any other."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from search.domain.run_context import LeaseLost, Progress, RunCancelled
from search.ingest.progress import silent
from search.models import Job
from search.services.jobs.body import context, do, outcome_of
from search.services.jobs.keeper import BEAT_SECONDS, GRACE_SECONDS, Keeper, Verdict
from search.services.jobs.kinds import parts_of
from search.services.jobs.ownership import claim_this
from search.services.jobs.reports import Reports, seconds_spent
from search.services.jobs.resources import Resources
from search.services.jobs.run_context import in_callers_transaction

INTERRUPTED = "It was interrupted at the terminal."


def run_here(job: Job, progress: Progress = silent) -> Any:
    """Claim the job, do it, write its end, and return its result; what the work raises is written and raised again.

    `progress` also receives the progress, for a terminal. Raises LeaseLost if another process works on the job.
    """
    claim = claim_this(job.pk)
    if claim is None:
        raise LeaseLost()
    reports = Reports(claim, parts_of(job), seconds_spent(job))
    reports.log(f"Attempt {claim.attempt} begins in a command, process {os.getpid()}.")
    keeper = Keeper(claim, reports, Resources(os.getpid(), job.resources))

    def both(part: str, done: int, total: int | None) -> None:
        reports.progress(part, done, total)
        progress(part, done, total)

    try:
        with _kept(keeper) as stop:
            run = context(claim, stop, both, reports.metric, reports.log)
            result = do(job, run)
    except BaseException as error:
        _write_end(keeper, reports, error)
        raise
    finally:
        job.refresh_from_db()
    if not keeper.finish(Job.State.DONE, result=result):
        raise LeaseLost()
    job.refresh_from_db()
    return result


def _write_end(keeper: Keeper, reports: Reports, error: BaseException) -> None:
    """Write how the work ended that raised this error."""
    if isinstance(error, KeyboardInterrupt):
        keeper.finish(Job.State.CANCELLED, INTERRUPTED)
        return
    outcome = outcome_of(error)
    reports.log(outcome.reason)
    # Nobody else goes on with the job of a command: whoever called it sees how it ended.
    state = Job.State.CANCELLED if outcome.state == Job.State.CANCELLED else Job.State.FAILED
    keeper.finish(state, outcome.reason)


@contextmanager
def _kept(keeper: Keeper) -> Iterator[Callable[[], bool]]:
    """Keep the lease while the block runs; yield the function that says whether the work must stop.

    Inside a transaction of the caller no other process sees the row, so that nobody can claim or cancel the job.
    """
    if in_callers_transaction():
        yield lambda: False
        return
    keeping = _Keeping(keeper)
    keeping.start()
    try:
        yield lambda: keeping.stopped
    finally:
        keeping.ended.set()
        keeping.join()


class _Keeping(threading.Thread):
    """Renews the lease in the background; ends the whole process if the work does not stop when it must."""

    def __init__(self, keeper: Keeper) -> None:
        super().__init__(name="keeper of a job", daemon=True)
        self._keeper = keeper
        self.ended = threading.Event()
        self.stopped = False

    def run(self) -> None:
        """Beat until the work has ended."""
        try:
            while not self.ended.wait(BEAT_SECONDS):
                verdict = self._keeper.beat()
                if verdict != Verdict.GO_ON:
                    self.stopped = True
                    if not self.ended.wait(GRACE_SECONDS):
                        self._end_process(verdict)
                    return
        finally:
            connection.close()

    def _end_process(self, verdict: Verdict) -> None:
        if verdict == Verdict.CANCEL:
            self._keeper.finish(Job.State.CANCELLED, "It was cancelled.")
        reason = RunCancelled() if verdict == Verdict.CANCEL else LeaseLost()
        sys.stderr.write(f"{reason}\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
