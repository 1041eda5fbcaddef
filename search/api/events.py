"""A search as server-sent events: each step as it finishes, then the end."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.searches import find_run
from search.models import SearchRun
from search.services.searches.follow_search import Event, follow_search
from search.services.searches.watch_search import Following, glance

HEARTBEAT_SECONDS = 10.0
"""Seconds without an event after which a comment is sent to show that the stream is alive."""
LONGEST_STREAM_SECONDS = 120.0
"""Longest duration of a stream, in seconds. A browser then reconnects by itself with the last event id it received."""
RETRY_MILLISECONDS = 1000
NOTHING_SEEN = -1
DATABASE_AWAY = "Postgres does not answer; the stream ends here, and can be asked again from the last id."


class AnyAccept(BaseContentNegotiation):
    """Content negotiation that accepts every `Accept` header, because DRF has no renderer for a stream of events."""

    def select_parser(self, request: Request, parsers: object) -> None:
        """Return None: a request for a stream has no body."""

    def select_renderer(
        self, request: Request, renderers: object, format_suffix: str | None = None
    ) -> tuple[JSONRenderer, str]:
        """Return the JSON renderer, which is used for problems only; the stream is not rendered by DRF."""
        return JSONRenderer(), "application/json"


class SearchEvents(APIView):
    """The events of one search."""

    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="searches_events",
        summary="Follow a search while it runs",
        tags=[groups.SEARCHES],
        parameters=[
            OpenApiParameter(
                "Last-Event-ID", OpenApiTypes.INT, OpenApiParameter.HEADER, description="Continue behind this event."
            )
        ],
        responses={
            (200, "text/event-stream"): OpenApiResponse(
                OpenApiTypes.STR,
                description="Events `plan`, `linked`, `paths`, `candidates`, `fused`, `reranked`, `problem` as steps "
                "finish, each with its position as id, then `done` with the whole search.",
            ),
            204: OpenApiResponse(description="No events are left, so a browser does not connect again."),
            **shape.problems(401, 404, 503),
        },
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """Follow a search. The stream continues after the event in `Last-Event-ID`; 204 when no events are left."""
        run = find_run(request, run_id)
        after = _last_seen(request)
        if after >= 0 and follow_search(run.pk, after) == ([], True):
            return Response(status=204)
        stream = StreamingHttpResponse(_stream(run.pk, after), content_type="text/event-stream")
        stream["Cache-Control"] = "no-store"
        stream["X-Accel-Buffering"] = "no"
        return stream


async def _stream(run_id: UUID, after: int) -> AsyncIterator[str]:
    """Yield the text of the stream: events as they happen, and comments while none happen.

    It stops when the search ends or after `LONGEST_STREAM_SECONDS`.
    """
    with Following().of(run_id) as following:
        async for text in _told(run_id, after, following):
            yield text


async def _told(run_id: UUID, after: int, following: Following) -> AsyncIterator[str]:
    look = sync_to_async(_look, thread_sensitive=False)
    began = spoke = time.monotonic()
    seen = NOTHING_SEEN
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    while time.monotonic() - began < LONGEST_STREAM_SECONDS:
        try:
            seen, events, ended = await look(run_id, after, seen)
        except DatabaseError:
            yield _written(
                Event(
                    after,
                    "problem",
                    {"status": "failed", "title": "Postgres is not available", "detail": DATABASE_AWAY},
                )
            )
            return
        except SearchRun.DoesNotExist:
            return
        for event in events:
            after, spoke = event.id, time.monotonic()
            yield _written(event)
        if ended:
            return
        if time.monotonic() - spoke > HEARTBEAT_SECONDS:
            spoke = time.monotonic()
            yield ": still there\n\n"
        await following.changed(HEARTBEAT_SECONDS - (time.monotonic() - spoke))


def _look(run_id: UUID, after: int, seen: int) -> tuple[int, list[Event], bool]:
    """Return the run's change number, its events behind `after`, and whether no more events follow.

    The steps are read only if the run changed since `seen` or has ended. The function runs on a thread that many
    streams share, so it closes its database connection at once.
    """
    try:
        now = glance(run_id)
        if now.changes == seen and not now.ended:
            return seen, [], False
        return now.changes, *follow_search(run_id, after)
    finally:
        connection.close()


def _written(event: Event) -> str:
    return f"id: {event.id}\nevent: {event.name}\ndata: {json.dumps(event.data, ensure_ascii=False)}\n\n"


def _last_seen(request: HttpRequest | Request) -> int:
    given = request.headers.get("Last-Event-ID", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else -1
