"""The kinds of jobs that `GRASP_JOBS` names, by dotted path, so that no door imports them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from search.domain.errors import Fault, InvalidRequest, nearest
from search.domain.job_kinds import JobKind, JobTarget, arguments_schema, with_arguments
from search.models import Job
from search.services.access.rights import check_may, may
from search.services.access.visitors import User
from search.services.health import worker_alive

USUAL, GPU = "jobs", "gpu"
"""Queues of jobs."""


def kind_names() -> list[str]:
    """Return the names of the kinds, in the order of the settings. Imports nothing."""
    return list(settings.GRASP_JOBS)


def title_of(kind: str) -> str:
    """Return the name of a kind for people; a kind that was taken out of the settings keeps its own name."""
    return str(settings.GRASP_JOBS.get(kind, {}).get("TITLE", kind))


def queue_of(kind: str, made: JobKind | None = None) -> str:
    """Return the queue on which a kind runs unless the launch names another one.

    The queue `gpu` is for the machines with GPUs: without a living worker of it, on a site without GPUs (GRASP_DEVICE),
    or if the job `made` computes on the CPU anyway, it is `jobs`.
    """
    queue = str(settings.GRASP_JOBS[kind].get("QUEUE", USUAL))
    if queue != GPU:
        return queue
    wanted = settings.GRASP_DEVICE == "auto" or settings.GRASP_DEVICE.startswith("cuda")
    return GPU if wanted and (made is None or made.takes_gpu()) and worker_alive(GPU) else USUAL


def kind_class(kind: object) -> type[JobKind]:
    """Return the class of a kind. Raises InvalidRequest if there is no such kind."""
    if not isinstance(kind, str) or kind not in settings.GRASP_JOBS:
        known = ", ".join(kind_names())
        near = nearest(kind, kind_names()) if isinstance(kind, str) else None
        raise InvalidRequest([Fault("/kind", f"There is no kind of job {str(kind)[:80]!r}. There are: {known}.", near)])
    loaded: type[JobKind] = import_string(settings.GRASP_JOBS[kind]["KIND"])
    return loaded


def built(kind: str, arguments: Mapping[str, Any]) -> JobKind:
    """Return the kind with its arguments. Raises InvalidRequest with every fault."""
    made: JobKind = with_arguments(kind_class(kind), arguments, kind)
    return made


def parts_of(job: Job) -> dict[str, float]:
    """Return the parts of a job's work with their sizes; none if its kind or arguments no longer exist."""
    try:
        return dict(built(job.kind, job.arguments).expected(target_of(job)))
    except InvalidRequest:
        return {}


def unit_of(kind: str, part: str) -> str | None:
    """Return what a kind of job counts in a part of its work; None if nothing says it."""
    try:
        units = kind_class(kind).units
    except InvalidRequest:
        return None
    return next((units[name] for name in (part, part.rpartition(": ")[2], "") if name in units), None)


def target_of(job: Job) -> JobTarget:
    """Return the job's target, as it was resolved when the job was launched."""
    return JobTarget(**job.specification.get("target", {}))


def about(cls: type[JobKind]) -> str:
    """Return what jobs of a kind do: the first paragraph of the class's docstring, without the protocol's name."""
    first = inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0]
    return " ".join(first.split()).replace(" (Kind)", "")


def describe_kinds() -> list[dict[str, Any]]:
    """Return every kind as JSON: name, title, queue, what it needs to be told, and the schema of its arguments."""
    return [
        {
            "kind": name, "title": title_of(name), "about": about(kind_class(name)),
            "queue": queue_of(name), "targets": list(kind_class(name).targets),
            "optional_targets": list(kind_class(name).optional),
            "arguments_schema": arguments_schema(kind_class(name)),
        }
        for name in kind_names()
    ]  # fmt: skip


def offered_kinds(user: User = None) -> list[dict[str, Any]]:
    """Return the kinds that the page of launches offers somebody, as `describe_kinds` does."""
    return [known for known in describe_kinds() if kind_class(known["kind"]).offered and may_do(user, known["kind"])]


def may_do(user: User, kind: str) -> bool:
    """Whether somebody who may launch jobs may launch those of a kind."""
    right = kind_class(kind).right
    return not right or may(user, right)


def check_may_do(user: User, kind: object) -> None:
    """Raise NotAllowed unless somebody who may launch jobs may launch those of a kind; InvalidRequest for no kind."""
    if right := kind_class(kind).right:
        check_may(user, right, f"launch jobs of the kind {kind}")
