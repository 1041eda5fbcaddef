"""Feedback on searches: which results are right or wrong, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.pagination import Pages
from search.api.permissions import ANYBODY
from search.api.searches import find_run
from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.models import Feedback
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.feedback.give_feedback import feedback_for, give_feedback, withdraw_feedback

KEYS = ("node", "kind", "note")


class SearchFeedback(APIView):
    """The feedback on the results of one search."""

    rights = {"GET": ANYBODY, "POST": ANYBODY, "DELETE": ANYBODY}

    @extend_schema(
        operation_id="searches_feedback_list",
        summary="List the feedback on a search",
        tags=[groups.SEARCHES],
        parameters=[
            OpenApiParameter("page", OpenApiTypes.INT, description="From 1."),
            OpenApiParameter("page_size", OpenApiTypes.INT, description="At most 100; 20 unless given."),
        ],
        responses={200: shape.page_of(shape.FeedbackSerializer), **shape.problems(401, 404, 503)},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return a page of the feedback, oldest first. Staff get all of it, others their own."""
        pages = Pages()
        found = feedback_for(find_run(request, run_id, stored=True), request.user, visitor_of(request))
        shown: list[Feedback] = pages.paginate_queryset(found, request, view=self) or []
        return pages.get_paginated_response([describe(one) for one in shown])

    @extend_schema(
        operation_id="searches_feedback_create",
        summary="Say that a result is right, wrong or missing",
        tags=[groups.SEARCHES],
        request=shape.FeedbackRequestSerializer,
        responses={
            201: OpenApiResponse(shape.FeedbackSerializer, description="It is recorded."),
            **shape.problems(400, 401, 403, 404, 413, 415, 429, 503),
        },
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Record the caller's judgment of one node; it replaces their earlier judgment of this node.

        `right` and `wrong` are for results. `missing` is for a node that should have been a result, given by its id,
        or by its name if only one node has this name. A caller without an account gets a cookie that identifies them.
        """
        run = find_run(request, run_id)
        body = request.data
        if not isinstance(body, Mapping):
            raise InvalidRequest([Fault("", "The body is an object with node and kind.")])
        if unknown := [key for key in body if key not in KEYS]:
            raise InvalidRequest([
                Fault(pointer(key), f"Feedback has no {key[:80]!r}; it has: {', '.join(KEYS)}.", nearest(key, KEYS))
                for key in unknown
            ])  # fmt: skip
        visitor = asking_visitor(request)
        note = body.get("note")
        given = give_feedback(
            run, node=body.get("node"), kind=body.get("kind"), note="" if note is None else note,
            user=request.user, visitor=visitor,
        )  # fmt: skip
        answer = Response(describe(given), status=201)
        keep_visitor(request, answer, visitor)
        return answer

    @extend_schema(
        operation_id="searches_feedback_destroy",
        summary="Withdraw your own feedback on a search",
        tags=[groups.SEARCHES],
        parameters=[OpenApiParameter("node", OpenApiTypes.STR, description="Only on this node; else on all of them.")],
        responses={204: OpenApiResponse(description="It is withdrawn."), **shape.problems(401, 403, 404, 503)},
    )
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Delete the caller's judgments of this search, or of one node; those of others stay."""
        run = find_run(request, run_id, stored=True)
        node = request.query_params.get("node", "")
        withdraw_feedback(run, node=node, user=request.user, visitor=visitor_of(request))
        return Response(status=204)


def describe(given: Feedback) -> dict[str, Any]:
    """Return one judgment as JSON; `by` is empty for a visitor without an account."""
    return {
        "node": {"id": given.node_id, "name": given.node_name},
        "kind": given.kind,
        "rank": given.rank,
        "note": given.note,
        "by": given.user.get_username() if given.user else "",
        "created": given.created.isoformat(),
    }
