"""Jobs, for accounts with the right to view or launch them: launch, list, read, cancel, resume and clone them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.knowledge_bases import PAGING
from search.api.pagination import Pages
from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.models import Job
from search.services.access.rights import LAUNCH_JOBS, VIEW_JOBS
from search.services.access.visible import rows_for
from search.services.jobs.change import cancel_job, clone_job, resume_job
from search.services.jobs.describe_job import describe_job, reasons_of_queues, summary
from search.services.jobs.kinds import describe_kinds
from search.services.jobs.launch import launch_job
from search.services.searches.storable import storable_text

LAUNCH_KEYS = ("kind", "knowledge_base", "question_set", "arguments", "queue")
CLONE_KEYS = ("arguments", "queue")
FRESH = {"Cache-Control": "no-store"}
LAUNCHED = {
    200: OpenApiResponse(shape.JobSerializer, description="An identical job waits or runs already; this is it."),
    202: OpenApiResponse(shape.JobSerializer, description="It is recorded and waits for a worker; look at `Location`."),
}


class Jobs(APIView):
    """The jobs."""

    rights = {"GET": VIEW_JOBS, "POST": LAUNCH_JOBS}

    @extend_schema(
        operation_id="jobs_list",
        summary="List the jobs",
        tags=[groups.JOBS],
        parameters=[
            OpenApiParameter("state", OpenApiTypes.STR, enum=[str(state) for state in Job.State]),
            OpenApiParameter("kind", OpenApiTypes.STR),
            OpenApiParameter("knowledge_base", OpenApiTypes.STR),
            *PAGING,
        ],
        responses={200: shape.page_of(shape.JobSummarySerializer), **shape.problems(401, 403, 404, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return a page of jobs, the newest first. A waiting job says in `waiting` why no worker takes it."""
        rows = Job.objects.select_related("user").defer("specification", "result", "notes")
        jobs = rows_for(rows, request.user).order_by("-created")
        for parameter, column in (("state", "state"), ("kind", "kind"), ("knowledge_base", "knowledge_base_name")):
            if given := request.query_params.get(parameter):
                jobs = jobs.filter(**{column: storable_text(given)})
        pages = Pages()
        shown: list[Job] = pages.paginate_queryset(jobs, request, view=self) or []
        reasons = reasons_of_queues() if any(job.state == Job.State.QUEUED for job in shown) else {}
        return pages.get_paginated_response(
            [summary(job, reasons.get(job.queue, "") if job.state == Job.State.QUEUED else "") for job in shown]
        )

    @extend_schema(
        operation_id="jobs_create",
        summary="Launch a job",
        tags=[groups.JOBS],
        request=shape.JobRequestSerializer,
        responses={**LAUNCHED, **shape.problems(400, 401, 403, 413, 415, 503)},
    )
    def post(self, request: Request) -> Response:
        """Launch a job: 202 with its address in `Location`.

        If an identical job waits or runs already, the answer is 200 with that job. A specification that is not valid,
        or that needs more disk or memory than there is, is refused with every fault at once.
        """
        given = _body(request, LAUNCH_KEYS)
        return _launched(*launch_job(**{"kind": None, **given}, user=request.user, origin=Job.Origin.API))


class JobDetail(APIView):
    """One job."""

    rights = {"GET": VIEW_JOBS}

    @extend_schema(
        operation_id="jobs_retrieve",
        summary="Look at a job",
        tags=[groups.JOBS],
        responses={200: shape.JobSerializer, **shape.problems(401, 403, 404, 503)},
    )
    def get(self, request: Request, job_id: UUID) -> Response:
        """Return the job: specification, state and reason, progress with the time left, metrics, log, result."""
        return Response(describe_job(find_job(request, job_id)), headers=FRESH)


class JobCancel(APIView):
    """Cancellation of a job."""

    rights = {"POST": LAUNCH_JOBS}

    @extend_schema(
        operation_id="jobs_cancel",
        summary="Cancel a job",
        tags=[groups.JOBS],
        request=None,
        responses={200: shape.JobSerializer, **shape.problems(401, 403, 404, 503)},
    )
    def post(self, request: Request, job_id: UUID) -> Response:
        """Ask the job to end; an ended job stays unchanged.

        A running job ends within five seconds, whatever it does.
        """
        return Response(describe_job(cancel_job(find_job(request, job_id), user=request.user)))


class JobResume(APIView):
    """Resumption of a job."""

    rights = {"POST": LAUNCH_JOBS}

    @extend_schema(
        operation_id="jobs_resume",
        summary="Resume a job",
        tags=[groups.JOBS],
        request=None,
        responses={202: shape.JobSerializer, **shape.problems(400, 401, 403, 404, 503)},
    )
    def post(self, request: Request, job_id: UUID) -> Response:
        """Let a failed or cancelled job go on from its last checkpoint."""
        job = resume_job(find_job(request, job_id), user=request.user)
        return Response(describe_job(job), status=202, headers={"Location": _address(job)})


class JobClone(APIView):
    """A job like another one."""

    rights = {"POST": LAUNCH_JOBS}

    @extend_schema(
        operation_id="jobs_clone",
        summary="Clone a job",
        tags=[groups.JOBS],
        request=shape.CloneRequestSerializer,
        responses={**LAUNCHED, **shape.problems(400, 401, 403, 404, 413, 415, 503)},
    )
    def post(self, request: Request, job_id: UUID) -> Response:
        """Launch a copy of this job, with the given arguments changed. Its names are resolved again."""
        return _launched(*clone_job(find_job(request, job_id), user=request.user, **_body(request, CLONE_KEYS)))


class JobKinds(APIView):
    """The kinds of jobs."""

    rights = {"GET": VIEW_JOBS}

    @extend_schema(
        operation_id="job_kinds_list",
        summary="List the kinds of jobs",
        tags=[groups.JOBS],
        responses={200: shape.JobKindSerializer(many=True), **shape.problems(401, 403, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return every kind of job with the schema of its arguments."""
        return Response(describe_kinds())


def find_job(request: Request, job_id: UUID) -> Job:
    """Return the job. Raises Http404 if it does not exist, or is of a knowledge base that the caller may not see."""
    job = rows_for(Job.objects.select_related("user"), request.user).filter(pk=job_id).first()
    if job is None:
        raise Http404("There is no job with this id.")
    return job


def read_body(request: Request, keys: Sequence[str], what: str) -> dict[str, Any]:
    """Return the keys of the body, without those that are null. Raises InvalidRequest for unknown keys."""
    body = request.data
    if not isinstance(body, Mapping):
        raise InvalidRequest([Fault("", f"The body is an object; it may have: {', '.join(keys)}.")])
    unknown = [
        Fault(storable_text(pointer(key)), f"{what} has no {storable_text(key)[:80]!r}; it has: {', '.join(keys)}.",
              nearest(key, keys))
        for key in body if key not in keys
    ]  # fmt: skip
    if unknown:
        raise InvalidRequest(unknown)
    return {key: value for key, value in body.items() if value is not None}


def _body(request: Request, keys: Sequence[str]) -> dict[str, Any]:
    return read_body(request, keys, "A job")


def _launched(job: Job, new: bool) -> Response:
    return Response(describe_job(job), status=202 if new else 200, headers={"Location": _address(job)})


def _address(job: Job) -> str:
    return reverse("api:job", args=[job.pk])
