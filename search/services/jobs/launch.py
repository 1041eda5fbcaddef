"""launch_job: check a job's specification, resolve what it names, write its row, and wake a worker."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from search.domain.errors import Fault, InvalidRequest, nearest
from search.domain.job_kinds import JobKind, JobTarget
from search.domain.time_left import Estimator
from search.domain.unstorable import storable
from search.models import Job, JobSchedule, KnowledgeBase, Release
from search.models.knowledge import BuildStatus
from search.models.pipelines import specification_hash
from search.services.access.rights import LAUNCH_JOBS, check_may
from search.services.access.visible import may_write, taken
from search.services.access.visitors import User
from search.services.audit.note import note
from search.services.code_version import code_version
from search.services.jobs.kinds import GPU, USUAL, built, check_may_do, kind_class, queue_of
from search.services.jobs.learned import history
from search.services.jobs.needs import shortages
from search.services.jobs.ownership import HERE
from search.services.jobs.wake import wake
from search.services.observing.carried import carried
from search.services.searches.storable import storable_json

QUEUES = (USUAL, GPU)
TRIES = 3
"""Attempts to write the row or find the identical live one: the other may end between the two."""


def launch_job(
    *,
    kind: str,
    knowledge_base: str = "",
    question_set: str = "",
    arguments: Mapping[str, Any] | None = None,
    queue: str = "",
    user: User = None,
    origin: str = Job.Origin.API,
    cloned_from: Job | None = None,
    schedule: JobSchedule | None = None,
    here: bool = False,
    release: str = "",
) -> tuple[Job, bool]:
    """Return the job and whether it is a new one; an identical job that waits or runs is returned instead of a copy.

    `user` None stands for the system itself. A worker is woken when the row is committed; with `here` the caller does
    the job in its own process (`run_here`). `release` is the name of a release; empty means the active one.
    Raises InvalidRequest with every fault of the specification, also those of a machine that is too small for it;
    NotAllowed if the user may not launch jobs.
    """
    check_may(user, LAUNCH_JOBS, "launch jobs")
    check_may_do(user, kind)
    made, target = _checked(kind, knowledge_base, question_set, arguments or {}, queue, release, user)
    refused = [*made.refuse(target)]
    # A command's own work says what it refuses, and in more detail.
    if faults := ([] if here else refused) if refused else shortages(made.needs(target)):
        raise InvalidRequest(faults)
    target = dataclasses.replace(target, frozen=dict(made.freeze(target)))
    job = _row(kind, made, target)
    job.queue = HERE if here else queue or queue_of(kind, made)
    job.user_id = user.pk if user is not None and user.is_authenticated else None
    job.origin, job.cloned_from, job.schedule = origin, cloned_from, schedule
    job.carried = carried()
    written, new = _written(job)
    if new:
        note(
            "job launched", written, name=str(written).partition(" (")[0], user=user, arguments=written.arguments,
            queue=written.queue, **({"schedule": schedule.name} if schedule else {}),
        )  # fmt: skip
    if new and not here:
        transaction.on_commit(lambda: wake(written.queue))
    return written, new


def check_launch(
    kind: object, knowledge_base: object, question_set: object, arguments: object, user: User
) -> KnowledgeBase | None:
    """Check a specification without launching it, and return its knowledge base. Raises InvalidRequest."""
    made, target = _checked(kind, knowledge_base, question_set, arguments, "", "", user)
    if faults := [*made.refuse(target)]:
        raise InvalidRequest(faults)
    return KnowledgeBase.objects.filter(name=target.knowledge_base).first() if target.knowledge_base else None


def _checked(
    kind: object,
    knowledge_base: object,
    question_set: object,
    arguments: object,
    queue: object,
    release: str,
    user: User,
) -> tuple[JobKind, JobTarget]:
    """Return the kind and its target. Raises InvalidRequest with every fault of the parts.

    A knowledge base that the user may not see counts as one that is not there.
    """
    cls = kind_class(kind)
    faults: list[Fault] = []
    made: JobKind | None = None
    if not isinstance(arguments, Mapping):
        faults.append(Fault("/arguments", "arguments is an object of arguments of the kind."))
    else:
        faults += storable_json(arguments, "/arguments")[1]
        try:
            made = built(str(kind), arguments)
        except InvalidRequest as error:
            faults += error.faults
    visible = KnowledgeBase.objects.visible_to(user)
    target, wrong = _target(cls, knowledge_base, question_set, release, visible)
    faults += wrong
    if queue != "" and queue not in QUEUES:
        message = f"There is no queue {str(queue)[:80]!r}; there are: {', '.join(QUEUES)}."
        faults.append(Fault("/queue", message, nearest(str(queue), QUEUES)))
    if faults or made is None:
        raise InvalidRequest(faults)
    _check_written(made, target, user)
    return made, target


def _target(
    cls: type[JobKind], knowledge_base: object, question_set: object, wanted: str, visible: QuerySet[KnowledgeBase]
) -> tuple[JobTarget, list[Fault]]:
    """Return what the job works on, resolved to names that do not change, and the faults of the given names."""
    faults: list[Fault] = []
    base = None
    if not isinstance(knowledge_base, str) or not storable(knowledge_base):
        faults.append(Fault("/knowledge_base", "knowledge_base is the name of a knowledge base."))
    elif knowledge_base or "knowledge_base" in cls.targets:
        base = visible.select_related("active_release").filter(name=knowledge_base).first()
        if base is None:
            faults.append(_no_base(knowledge_base, visible))
    release, wrong = _release(cls, base, wanted)
    faults += wrong
    resolved = ""
    if not isinstance(question_set, str) or not storable(question_set):
        faults.append(Fault("/question_set", "question_set is the name of a question set, or name@version."))
    elif not question_set and "question_set" in cls.targets:
        faults.append(Fault("/question_set", "Name the question set."))
    elif question_set and base is not None:
        try:
            resolved = import_string(settings.GRASP_QUESTION_SETS)(base.name, question_set)
        except InvalidRequest as error:
            faults += error.faults
    return JobTarget(base.name if base else "", release.name if release else "", resolved), faults


def _check_written(made: JobKind, target: JobTarget, user: User) -> None:
    """Raise InvalidRequest if the job would write into a knowledge base that is there and that the user may not see."""
    pointer, name = made.writes(target)
    if name and not may_write(name, user):
        raise InvalidRequest([Fault(pointer, taken(name))])


def _release(cls: type[JobKind], base: KnowledgeBase | None, wanted: str) -> tuple[Release | None, list[Fault]]:
    """Return the named release, or the active one, and what is wrong with it."""
    if base is None:
        return None, []
    if wanted:
        ready = base.releases.select_related("knowledge_base").filter(status=BuildStatus.READY)
        names = {one.name: one for one in ready}
        found = names.get(wanted)
        message = f"{base.name} has no release {wanted[:80]!r}; it has: {', '.join(names) or 'none'}."
        return found, [] if found else [Fault("/release", message)]
    if base.active_release is None and "release" in cls.targets:
        message = f"{base.name} has no active release: index it, or activate one of its releases."
        return None, [Fault("/knowledge_base", message)]
    return base.active_release, []


def _no_base(name: str, visible: QuerySet[KnowledgeBase]) -> Fault:
    names = list(visible.values_list("name", flat=True)[:20])
    known = f"There are: {', '.join(names)}." if names else "None has been imported yet."
    if not name:
        return Fault("/knowledge_base", f"Name the knowledge base. {known}")
    return Fault("/knowledge_base", f"There is no knowledge base {name[:80]!r}. {known}", nearest(name, names))


def _row(kind: str, made: JobKind, target: JobTarget) -> Job:
    """Return the row, not saved. Two launches of the same thing have the same hash."""
    arguments = dataclasses.asdict(made)  # type: ignore[call-overload]
    specification = {"kind": kind, "arguments": _jsonable(arguments), "target": _jsonable(dataclasses.asdict(target))}
    base = KnowledgeBase.objects.filter(name=target.knowledge_base).first() if target.knowledge_base else None
    release = None
    if base is not None and target.release:
        release = Release.objects.filter(knowledge_base=base, number=int(target.release.rpartition("-")[2])).first()
    return Job(
        kind=kind, arguments=specification["arguments"], specification=specification,
        specification_hash=specification_hash(specification), seed=int(arguments.get("seed", 0)),
        code_version=code_version(), knowledge_base=base,
        knowledge_base_name=target.knowledge_base or made.writes(target)[1],
        release=release, release_name=target.release, question_set=target.question_set,
        progress=Estimator(made.expected(target), 0.0, history=history(kind)).estimate(0.0).to_json(),
    )  # fmt: skip


def _written(job: Job) -> tuple[Job, bool]:
    for _ in range(TRIES):
        live = Job.objects.filter(specification_hash=job.specification_hash, state__in=Job.LIVE).first()
        if live is not None:
            return live, False
        try:
            with transaction.atomic():
                job.save(force_insert=True)
        except IntegrityError:
            # Another launch of the same job was faster; it is found in the next round.
            continue
        return job, True
    raise InvalidRequest([Fault("", "An identical job starts and ends again and again; look at the list of jobs.")])


def _jsonable(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
