"""A job as server-sent events: its progress, new lines of its log and new metrics, then its end."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.jobs import find_job
from search.api.streams import AnyAccept, event_stream
from search.models import Job
from search.services.access.rights import VIEW_JOBS
from search.services.access.visible import rows_for
from search.services.jobs.follow_job import JobEvent, SeenJob, follow_job


class JobEvents(APIView):
    """The events of one job."""

    rights = {"GET": VIEW_JOBS}

    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="jobs_events",
        summary="Follow a job while it runs",
        tags=[groups.JOBS],
        parameters=[
            OpenApiParameter(
                "Last-Event-ID", OpenApiTypes.STR, OpenApiParameter.HEADER, description="Continue behind this event."
            )
        ],
        responses={
            (200, "text/event-stream"): OpenApiResponse(
                OpenApiTypes.STR,
                description="Events `progress` (the job as lists show it), `log` (new lines), `metrics` (new points), "
                "then `done` with the whole job.",
            ),
            204: OpenApiResponse(description="No events are left, so a browser does not connect again."),
            **shape.problems(401, 403, 404, 503),
        },
    )
    def get(self, request: Request, job_id: UUID) -> HttpResponseBase:
        """Follow a job. The stream continues after the event in `Last-Event-ID`; 204 when no events are left."""
        job = find_job(request, job_id)
        seen = SeenJob.parsed(request.headers.get("Last-Event-ID", ""))
        if seen.changes >= 0:
            events, _, ended = follow_job(job.pk, seen)
            if ended and not events:
                return Response(status=204)
        return event_stream(job.pk, JobSource(request, job.pk, seen), {})


class JobSource:
    """The events of a job after the position `seen` (streams.Source).

    It ends as soon as the caller may not see the job any more.
    """

    def __init__(self, request: Request, job_id: UUID, seen: SeenJob) -> None:
        self._among = rows_for(Job.objects.all(), request.user)
        self._job_id = job_id
        self.position = seen

    def look(self) -> tuple[list[JobEvent], bool]:
        """Return the new events, and whether the job has ended."""
        if not self._among.filter(pk=self._job_id).exists():
            return [], True
        events, self.position, ended = follow_job(self._job_id, self.position)
        return events, ended
