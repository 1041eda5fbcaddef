"""Comparison of searches of one question."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.permissions import ANYBODY
from search.domain.errors import Fault, InvalidRequest
from search.models import SearchRun
from search.services.access.visible import searches_for
from search.services.searches.compare_searches import MOST, compare_searches


class SearchComparison(APIView):
    """Two to four searches side by side."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="searches_compare",
        summary="Compare searches",
        tags=[groups.SEARCHES],
        parameters=[
            OpenApiParameter(
                "id",
                OpenApiTypes.UUID,
                many=True,
                required=True,
                description="A search; given two to four times. All are of one question and one knowledge base.",
            ),
        ],
        responses={200: shape.ComparisonSerializer, **shape.problems(400, 401, 404, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return two to four searches of one question side by side: ranks, agreement, plans, calls and tokens.

        To compare pipelines, ask the question once with each (`POST searches/`), then compare the searches. They may
        still run: `finished` says whether all have ended, and a search that has not says nothing of what only it found.
        """
        runs = _runs(request, request.query_params.getlist("id"))
        return Response(compare_searches(runs), headers={"Cache-Control": "no-store"})


def _runs(request: Request, given: list[str]) -> list[SearchRun]:
    """Return the searches in the order of their ids. Raises InvalidRequest, and Http404 if one may not be read."""
    try:
        ids = [UUID(one) for one in given[: MOST + 1]]
    except ValueError:
        raise InvalidRequest([Fault("/id", "id is the id of a search; give it two to four times.")]) from None
    found = searches_for(ids, request.user)
    if missing := [str(one) for one in ids if one not in found]:
        raise Http404(f"There is no search {missing[0]}.")
    return [found[one] for one in ids]
