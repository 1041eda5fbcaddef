"""run_here: do a job in this process, as commands do; it is listed and can be cancelled like any other."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import connection

from search.domain.errors import SearchError
from search.domain.run_context import LeaseLost, Progress, RunCancelled, RunContext, silent
from search.models import Job
from search.services.jobs.body import context, do, outcome_of
from search.services.jobs.keeper import BEAT_SECONDS, GRACE_SECONDS, JobKeeper, KeeperVerdict
from search.services.jobs.kinds import kind_names, parts_of
from search.services.jobs.launch import launch_job
from search.services.jobs.ownership import claim_this, settle
from search.services.jobs.reports import Reports, seconds_spent
from search.services.jobs.resources import Resources, gpu_memory_held
from search.services.jobs.run_context import in_callers_transaction
from search.services.searches.storable import stored_json

INTERRUPTED = "It was interrupted at the terminal."


class AlreadyLive(SearchError):
    """An identical job waits or runs."""

    def __init__(self, job: Job) -> None:
        super().__init__(
            f"The same job is {job.get_state_display()} already: `jobs show {job.pk}` shows its progress, and `jobs "
            f"cancel` ends it."
        )


@dataclass
class RunHere:
    """A job that this process does: the context of its work, and its result, which the work sets."""

    run: RunContext
    result: Any = None


@contextmanager
def recorded(
    shown: RunContext,
    *,
    kind: str,
    knowledge_base: str = "",
    question_set: str = "",
    arguments: Mapping[str, Any],
    release: str = "",
) -> Iterator[RunHere]:
    """Record the work inside the block as a job; `shown` is the context that shows its progress at a terminal.

    Work of a kind that the site does not list is done without a record. Raises AlreadyLive if the same job waits or
    runs; InvalidRequest for a specification that is not valid.
    """
    if kind not in kind_names():
        yield RunHere(shown)
        return
    asked: dict[str, Any] = {
        "kind": kind, "knowledge_base": knowledge_base, "question_set": question_set, "arguments": arguments,
        "origin": Job.Origin.COMMAND, "here": True, "release": release,
    }  # fmt: skip
    job, new = launch_job(**asked)
    if not new and settle(job.pk):
        # Its process has stopped without an error message.
        job, new = launch_job(**asked)
    if not new:
        raise AlreadyLive(job)
    with doing(job, shown.progress) as here:
        yield here


def run_here(job: Job, progress: Progress = silent) -> Any:
    """Claim the job, do it, write its end, and return its result; what the work raises is written and raised again.

    `progress` also receives the progress, for a terminal. Raises LeaseLost if another process works on the job.
    """
    with doing(job, progress) as here:
        here.result = do(job, here.run)
    return here.result


@contextmanager
def doing(job: Job, progress: Progress) -> Iterator[RunHere]:
    """Claim a job, keep it while the block does it, and write its end. Raises LeaseLost."""
    claim = claim_this(job.pk)
    if claim is None:
        raise LeaseLost("Another process has begun it.")
    reports = Reports(claim, parts_of(job), seconds_spent(job))
    reports.log(f"Attempt {claim.attempt} begins in a command, process {os.getpid()}.")
    keeper = JobKeeper(claim, reports, Resources(os.getpid(), job.resources, gpu_memory_held))

    def both(part: str, done: int, total: int | None) -> None:
        reports.progress(part, done, total)
        progress(part, done, total)

    try:
        with _kept(keeper) as stop:
            here = RunHere(context(claim, stop, both, reports.metric, reports.log))
            yield here
    except BaseException as error:
        _write_end(keeper, reports, error)
        raise
    finally:
        job.refresh_from_db()
    if not keeper.finish(Job.State.DONE, result=orjson.loads(stored_json(here.result))):
        raise keeper.lost
    job.refresh_from_db()


def _write_end(keeper: JobKeeper, reports: Reports, error: BaseException) -> None:
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
def _kept(keeper: JobKeeper) -> Iterator[Callable[[], bool]]:
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

    def __init__(self, keeper: JobKeeper) -> None:
        super().__init__(name="keeper of a job", daemon=True)
        self._keeper = keeper
        self.ended = threading.Event()
        self.stopped = False

    def run(self) -> None:
        """Beat until the work has ended."""
        try:
            while not self.ended.wait(BEAT_SECONDS):
                verdict = self._keeper.beat()
                if verdict != KeeperVerdict.GO_ON:
                    self.stopped = True
                    if not self.ended.wait(GRACE_SECONDS):
                        self._end_process(verdict)
                    return
        finally:
            connection.close()

    def _end_process(self, verdict: KeeperVerdict) -> None:
        if verdict == KeeperVerdict.CANCEL:
            self._keeper.finish(Job.State.CANCELLED, "It was cancelled.")
        reason = RunCancelled() if verdict == KeeperVerdict.CANCEL else self._keeper.lost
        sys.stderr.write(f"{reason}\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
