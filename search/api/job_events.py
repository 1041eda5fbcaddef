"""A job as server-sent events: its progress, new lines of its log and new metrics, then its end."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection
from django.http import HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.events import DATABASE_AWAY, HEARTBEAT_SECONDS, LONGEST_STREAM_SECONDS, RETRY_MILLISECONDS, AnyAccept
from search.api.jobs import find_job
from search.api.permissions import HasRight
from search.models import Job
from search.services.access.rights import VIEW_JOBS
from search.services.jobs.follow_job import Event, Seen, follow_job
from search.services.searches.watch_search import Following


class JobEvents(APIView):
    """The events of one job."""

    permission_classes = (HasRight,)
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
        job = find_job(job_id)
        seen = Seen.parsed(request.headers.get("Last-Event-ID", ""))
        if seen.changes >= 0:
            events, _, ended = follow_job(job.pk, seen)
            if ended and not events:
                return Response(status=204)
        stream = StreamingHttpResponse(_stream(job.pk, seen), content_type="text/event-stream")
        stream["Cache-Control"] = "no-store"
        stream["X-Accel-Buffering"] = "no"
        return stream


async def _stream(job_id: UUID, seen: Seen) -> AsyncIterator[str]:
    """Yield the text of the stream until the job ends, for at most `LONGEST_STREAM_SECONDS`."""
    look = sync_to_async(_look, thread_sensitive=False)
    began = spoke = time.monotonic()
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    with Following().of(job_id) as following:
        while time.monotonic() - began < LONGEST_STREAM_SECONDS:
            try:
                events, seen, ended = await look(job_id, seen)
            except DatabaseError:
                yield _written(Event(seen, "problem", {"title": "Postgres is not available", "detail": DATABASE_AWAY}))
                return
            except Job.DoesNotExist:
                return
            for event in events:
                spoke = time.monotonic()
                yield _written(event)
            if ended:
                return
            if time.monotonic() - spoke > HEARTBEAT_SECONDS:
                spoke = time.monotonic()
                yield ": still there\n\n"
            await following.changed(HEARTBEAT_SECONDS - (time.monotonic() - spoke))


def _look(job_id: UUID, seen: Seen) -> tuple[list[Event], Seen, bool]:
    """Look at the job once, on a thread that many streams share; the connection is closed at once."""
    try:
        return follow_job(job_id, seen)
    finally:
        connection.close()


def _written(event: Event) -> str:
    return f"id: {event.id}\nevent: {event.name}\ndata: {json.dumps(event.data, ensure_ascii=False)}\n\n"
