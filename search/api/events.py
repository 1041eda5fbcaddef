"""A search as server-sent events: each step as it finishes, then the end."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.permissions import ANYBODY
from search.api.searches import find_run
from search.api.streams import AnyAccept, event_stream
from search.models import SearchRun
from search.services.searches.follow_search import SearchEvent, follow_search
from search.services.searches.watch_search import glance

NOTHING_SEEN = -1


class SearchEvents(APIView):
    """The events of one search."""

    rights = {"GET": ANYBODY}

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
        run = find_run(request, run_id, stored=True)
        after = _last_seen(request)
        if after >= 0 and follow_search(run.pk, after) == ([], True):
            return Response(status=204)
        return event_stream(
            run.pk, SearchSource(run.pk, after, SearchRun.objects.visible_to(request.user)), {"status": "failed"}
        )


class SearchSource:
    """The events of a search after the position `after` (streams.Source).

    It ends as soon as the search is not `among` those that the caller may read.
    """

    def __init__(self, run_id: UUID, after: int, among: QuerySet[SearchRun] | None = None) -> None:
        self._run_id = run_id
        self._among = among
        self._seen = NOTHING_SEEN
        self.position = after

    def look(self) -> tuple[list[SearchEvent], bool]:
        """Return the new events; the steps are read only if the run has changed since the last look or has ended."""
        now = glance(self._run_id, self._among)
        if now.changes == self._seen and not now.ended:
            return [], False
        self._seen = now.changes
        events, ended = follow_search(self._run_id, self.position)
        if events:
            self.position = events[-1].id
        return events, ended


def _last_seen(request: HttpRequest | Request) -> int:
    given = request.headers.get("Last-Event-ID", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else -1
