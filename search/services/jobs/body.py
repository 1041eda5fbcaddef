"""The work of a job: its run context, and how it ended. It is the same in a worker and in a command."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from django.conf import settings
from django.db import connection

from search.domain.errors import Fault, InvalidRequest, SearchCancelled
from search.domain.run_context import LeaseLost, Log, Metric, Progress, RunCancelled, RunContext, WorkInterrupted
from search.domain.trace import Limit
from search.models import Job
from search.services.access.visible import may_write
from search.services.jobs.captured import captured
from search.services.jobs.checkpoints import FileCheckpoints
from search.services.jobs.kinds import built, target_of
from search.services.jobs.ownership import JobClaim
from search.services.jobs.run_context import RowNotes
from search.services.searches.lost_session import causes_of, lost_session
from search.services.searches.storable import stored_json

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class JobOutcome:
    """How the work of a job ended: its `state`, `result` and `reason`.

    `interrupted` says that something outside stopped it, such as a restart of Postgres, so that it may go on.
    """

    state: str
    reason: str = ""
    result: Any = None
    interrupted: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {"state": self.state, "reason": self.reason, "result": self.result, "interrupted": self.interrupted}


def context(claim: JobClaim, stop: Callable[[], bool], progress: Progress, metric: Metric, log: Log) -> RunContext:
    """Return the run context of a job; `stop` says whether it must stop and must be fast."""
    return RunContext(
        limit=Limit(cancelled=stop), progress=progress, metric=metric, log=log, fenced=claim.fenced,
        checkpoints=FileCheckpoints(folder_of(str(claim.job)), claim.fence), notes=RowNotes(claim),
        may_write=lambda name: may_write(name, Job.objects.select_related("user").get(pk=claim.job).user),
    )  # fmt: skip


def folder_of(job: str) -> Any:
    """Return the folder of a job's checkpoints."""
    return settings.GRASP_HOME / "jobs" / job


def do(job: Job, run: RunContext) -> Any:
    """Do the work of a job and return its result, as JSON that Postgres can store. Raises whatever the work raises.

    Raises InvalidRequest if whoever launched it may not see its knowledge base any more.
    """
    if not connection.in_atomic_block:
        with connection.cursor() as cursor:
            # While a statement runs, the server checks once a second whether this process is still there.
            cursor.execute("SET client_connection_check_interval = '1s'")
    target = target_of(job)
    if target.knowledge_base and not run.may_write(target.knowledge_base):
        raise InvalidRequest([Fault("", f"Whoever launched this job may not see {target.knowledge_base} any more.")])
    with captured(run.log):
        result = built(job.kind, job.arguments).run(target, run)
    return orjson.loads(stored_json(result))


def outcome_of(error: BaseException) -> JobOutcome:
    """Return how the work ended that raised this error, with a sentence for people."""
    if isinstance(error, RunCancelled | SearchCancelled):
        return JobOutcome(Job.State.CANCELLED, "It was cancelled.")
    if isinstance(error, LeaseLost):
        return JobOutcome(Job.State.QUEUED, str(error), interrupted=True)
    if isinstance(error, WorkInterrupted):
        return JobOutcome(Job.State.QUEUED, str(error), interrupted=True)
    if lost := lost_session(error):
        return JobOutcome(Job.State.QUEUED, f"Postgres ended the connection: {_line(lost)}", interrupted=True)
    for cause in causes_of(error):
        if isinstance(cause, OSError) and cause.errno == errno.ENOSPC:
            return JobOutcome(Job.State.FAILED, "The disk is full; free some space and resume the job.")
        if isinstance(cause, MemoryError):
            return JobOutcome(Job.State.FAILED, "The memory of this machine does not suffice for the job.")
    return JobOutcome(Job.State.FAILED, sentence_of(error))


def sentence_of(error: BaseException) -> str:
    """Return an error as text for people; one that is no sentence is named by its type."""
    if isinstance(error, InvalidRequest):
        return " ".join(fault.sentence for fault in error.faults)
    text = str(error).strip()
    if " " in text and text[-1] in ".!?":
        return text
    name = type(error).__name__
    return f"It failed with {name}: {text}" if text else f"It failed with {name}."


def signal_sentence(code: int) -> str:
    """Return what an exit code of the process says, as `os.waitstatus_to_exitcode` gives it."""
    if code == -9:
        return "its process was killed (signal 9), by somebody or because memory ran out."
    return f"its process ended with {'signal' if code < 0 else 'exit code'} {abs(code)}."


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
