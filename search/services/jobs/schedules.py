"""Schedules: rows that launch a job at the times of a cron expression, in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import structlog
from celery.schedules import ParseException, crontab
from django.db import IntegrityError, transaction
from django.utils import timezone

from search.domain.errors import Fault, InvalidRequest
from search.models import Job, JobSchedule
from search.services.access.rights import ADD_SCHEDULES, CHANGE_SCHEDULES, check_may
from search.services.access.visitors import User
from search.services.jobs.kinds import check_may_do
from search.services.jobs.launch import check_launch, launch_job
from search.services.searches.storable import storable_text

LONGEST_NAME = 80
CRON_HELP = "five fields: minute, hour, day of month, month, day of week; for example 30 2 * * * (02:30 UTC every day)"

log = structlog.get_logger(__name__)


def save_schedule(
    *,
    name: str,
    cron: str,
    kind: str,
    knowledge_base: str = "",
    question_set: str = "",
    arguments: Mapping[str, Any] | None = None,
    enabled: object = True,
    user: User = None,
    schedule: JobSchedule | None = None,
) -> JobSchedule:
    """Make a schedule, or change one, and return it. The next time is the first one from now on.

    The job is checked as if it were launched now. Raises InvalidRequest with every fault, NotAllowed.
    """
    check_may(user, CHANGE_SCHEDULES if schedule else ADD_SCHEDULES, "make or change schedules")
    faults = _faults_of_name(name, schedule)
    next_run = None
    try:
        next_run = next_time(cron, timezone.now())
    except InvalidRequest as error:
        faults += error.faults
    if not isinstance(enabled, bool):
        faults.append(Fault("/enabled", "enabled is true or false."))
    base = None
    try:
        # The site itself launches it later, so the right is looked at now.
        check_may_do(user, kind)
        base = check_launch(kind, knowledge_base, question_set, arguments or {}, user)
    except InvalidRequest as error:
        faults += error.faults
    if faults:
        raise InvalidRequest(faults)
    saved = schedule or JobSchedule()
    saved.name, saved.cron, saved.kind, saved.enabled = name.strip(), " ".join(cron.split()), kind, bool(enabled)
    saved.knowledge_base, saved.question_set, saved.arguments = base, question_set, dict(arguments or {})
    saved.next_run = next_run
    saved.user_id = user.pk if user is not None and user.is_authenticated else None
    try:
        with transaction.atomic():
            saved.save()
    except IntegrityError as error:
        raise InvalidRequest([Fault("/name", f"There is a schedule {name!r} already.")]) from error
    return saved


def next_time(cron: object, after: datetime) -> datetime:
    """Return the first time of a cron expression after `after`, in UTC. Raises InvalidRequest if there is none.

    Where both days are restricted, both have to fit, other than in crontab(5).
    """
    shown = str(cron)[:80]
    fields = cron.split() if isinstance(cron, str) else []
    if len(fields) != 5:
        raise InvalidRequest([Fault("/cron", f"cron has {CRON_HELP}; not {shown!r}.")])
    minute, hour, day, month, weekday = fields
    moment = after.astimezone(UTC)
    try:
        times = crontab(minute, hour, weekday, day, month, nowfun=lambda: moment)
        last, delta, _ = times.remaining_delta(moment, tz=UTC)
    except (ParseException, ValueError) as error:
        raise InvalidRequest(
            [Fault("/cron", f"{shown!r} is not a valid time: {error}. cron has {CRON_HELP}.")]
        ) from error
    except RuntimeError as error:
        raise InvalidRequest([Fault("/cron", f"The time {shown!r} never comes.")]) from error
    found: datetime = last + delta
    return found.replace(second=0, microsecond=0)


def launch_due() -> int:
    """Launch the job of every schedule whose time has come, and return their number; any process may call this.

    Times that passed while nothing ran are made up for once. What keeps a job from being launched is noted in the row.
    """
    launched = 0
    while True:
        with transaction.atomic():
            due = JobSchedule.objects.select_for_update(skip_locked=True, of=("self",))
            schedule = due.filter(enabled=True, next_run__lte=timezone.now()).order_by("next_run").first()
            if schedule is None:
                return launched
            launched += _launch(schedule)


def _launch(schedule: JobSchedule) -> bool:
    """Launch the job of a locked schedule, note the outcome and the next time; return whether a new job was made."""
    new = False
    try:
        with transaction.atomic():
            job, new = launch_job(
                kind=schedule.kind, knowledge_base=schedule.knowledge_base.name if schedule.knowledge_base else "",
                question_set=schedule.question_set, arguments=schedule.arguments, origin=Job.Origin.SCHEDULE,
                schedule=schedule,
            )  # fmt: skip
        outcome = f"job {job.pk}" if new else f"its previous job has not ended: job {job.pk}"
    except InvalidRequest as error:
        outcome = "refused: " + " ".join(fault.sentence for fault in error.faults)
    log.info("schedule", name=schedule.name, outcome=outcome)
    schedule.last_run, schedule.last_outcome = timezone.now(), outcome
    schedule.next_run = next_time(schedule.cron, timezone.now())
    schedule.save(update_fields=["last_run", "last_outcome", "next_run"])
    return new


def describe_schedule(schedule: JobSchedule) -> dict[str, Any]:
    """Return a schedule as JSON."""
    return {
        "id": schedule.pk,
        "name": schedule.name,
        "cron": schedule.cron,
        "kind": schedule.kind,
        "knowledge_base": schedule.knowledge_base.name if schedule.knowledge_base else None,
        "question_set": schedule.question_set or None,
        "arguments": schedule.arguments,
        "enabled": schedule.enabled,
        "next_run": schedule.next_run.isoformat() if schedule.next_run and schedule.enabled else None,
        "last_run": schedule.last_run.isoformat() if schedule.last_run else None,
        "last_outcome": schedule.last_outcome,
    }


def _faults_of_name(name: object, schedule: JobSchedule | None) -> list[Fault]:
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or storable_text(name) != name:
        return [Fault("/name", f"A schedule has a name of 1 to {LONGEST_NAME} characters.")]
    taken = JobSchedule.objects.filter(name=name.strip()).first()
    if taken is not None and taken != schedule:
        return [Fault("/name", f"There is a schedule {name.strip()!r} already.")]
    return []
