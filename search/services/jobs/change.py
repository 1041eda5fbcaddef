"""cancel_job, resume_job, clone_job: what staff does with a job that exists."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from search.domain.errors import Fault, InvalidRequest
from search.models import Job
from search.services.access.rights import LAUNCH_JOBS, check_may
from search.services.access.visible import check_sees
from search.services.access.visitors import User
from search.services.audit.note import note
from search.services.jobs.kinds import built, check_may_do, queue_of, target_of
from search.services.jobs.launch import launch_job
from search.services.jobs.needs import shortages
from search.services.jobs.ownership import HERE, ClockNow, locked
from search.services.jobs.wake import tell, wake

SILENT = timedelta(seconds=4)
"""A keeper that has not written for this time is gone, so that nobody would obey a request to cancel."""


class NotPossible(InvalidRequest):
    """The job's state does not allow this; the text says why."""

    def __init__(self, message: str) -> None:
        super().__init__([Fault("", message)])


def cancel_job(job: Job, *, user: User) -> Job:
    """Ask a job to end, and return its present row; an ended job stays unchanged.

    A waiting job ends at once. A running one is ended by its keeper within some seconds, in the middle of any step; if
    the keeper is gone, the job ends here, and the new fence keeps its late writes out. Raises NotAllowed.
    """
    _check(user, job)
    asked = Job.objects.filter(pk=job.pk, state__in=Job.LIVE, cancel_requested=None)
    if asked.update(cancel_requested=ClockNow(), changes=F("changes") + 1):
        note("job cancelled", job, name=str(job), user=user)
    with transaction.atomic():
        silent = Q(state=Job.State.RUNNING, heartbeat__lt=ClockNow() - SILENT)
        if row := locked(job.pk, Q(state=Job.State.QUEUED) | silent):
            Job.objects.filter(pk=row.pk).update(
                state=Job.State.CANCELLED, reason="It was cancelled.", finished=ClockNow(), lease_until=None,
                fence=F("fence") + 1, changes=F("changes") + 1,
            )  # fmt: skip
    tell(job.pk)
    job.refresh_from_db()
    return job


def resume_job(job: Job, *, user: User, here: bool = False) -> Job:
    """Let a failed or cancelled job go on from its last checkpoint, and return its present row.

    With `here` the caller does it in its own process. Raises NotAllowed; NotPossible for a job that waits, runs or is
    done, or while an identical one does; InvalidRequest with the reasons why it cannot run any more.
    """
    _check(user, job)
    check_may_do(user, job.kind)
    if job.state in Job.LIVE:
        raise NotPossible(f"The job is {job.get_state_display()} already.")
    if job.state == Job.State.DONE:
        raise NotPossible("The job is done; clone it to do it again.")
    made, target = built(job.kind, job.arguments), target_of(job)
    if faults := [*made.refuse(target)] or shortages(made.needs(target)):
        raise InvalidRequest(faults)
    queue = HERE if here else job.queue if job.queue != HERE else queue_of(job.kind)
    try:
        with transaction.atomic():
            resumed = Job.objects.filter(pk=job.pk).exclude(state__in=[*Job.LIVE, Job.State.DONE]).update(
                state=Job.State.QUEUED, queue=queue, deaths=0, reason="", finished=None, cancel_requested=None,
                fence=F("fence") + 1, changes=F("changes") + 1,
            )  # fmt: skip
    except IntegrityError as error:
        live = Job.objects.filter(specification_hash=job.specification_hash, state__in=Job.LIVE).first()
        raise NotPossible(f"An identical job waits or runs already: {live.pk if live else 'look again'}.") from error
    if resumed:
        note("job resumed", job, name=str(job), user=user)
    if resumed and not here:
        transaction.on_commit(lambda: wake(queue))
    tell(job.pk)
    job.refresh_from_db()
    return job


def clone_job(
    job: Job, *, user: User, origin: str = Job.Origin.API, arguments: Mapping[str, Any] | None = None, queue: str = ""
) -> tuple[Job, bool]:
    """Launch a job like this one, with some arguments changed, on what its names mean today.

    Returns the job and whether it is new. Raises what `launch_job` raises.
    """
    _check(user, job)
    if not isinstance(arguments, Mapping | None):
        raise InvalidRequest([Fault("/arguments", "arguments is an object of arguments of the kind.")])
    return launch_job(
        kind=job.kind, knowledge_base=target_of(job).knowledge_base, question_set=job.question_set,
        arguments={**job.arguments, **(arguments or {})}, queue=queue or (job.queue if job.queue != HERE else ""),
        user=user, origin=origin, cloned_from=job,
    )  # fmt: skip


def _check(user: User, job: Job) -> None:
    check_may(user, LAUNCH_JOBS, "launch, cancel or resume jobs")
    check_sees(user, job)
