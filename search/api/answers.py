"""All answers of a search's plan, and how they can be narrowed down."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.knowledge_bases import PAGING
from search.api.pagination import Pages
from search.api.permissions import ANYBODY
from search.api.searches import find_run
from search.services.searches.facets import facets_of
from search.services.searches.plan_answers import AnswerSlices, ListedAnswer, plan_answers


class SearchAnswers(APIView):
    """All answers of the plan that a search shows."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="searches_answers",
        summary="List all answers of the plan",
        tags=[groups.SEARCHES],
        parameters=PAGING,
        responses={200: shape.page_of(shape.ListedAnswerSerializer), **shape.problems(401, 404, 503)},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return a page of the answers in the plan's order, however many there are.

        The plan is executed again with the nodes that the search bound it to. If there is no list, because the
        search has no plan or its release has been deleted, 404 says why.
        """
        run = find_run(request, run_id)
        answers = plan_answers(run)
        if answers.reason:
            raise Http404(answers.reason)
        pages = Pages()
        shown: list[ListedAnswer] = pages.paginate_queryset(AnswerSlices(answers, run), request, view=self) or []  # type: ignore[arg-type]
        return pages.get_paginated_response([one.to_json() for one in shown])


class SearchFacets(APIView):
    """How the answers of a search's plan can be narrowed down."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="searches_facets",
        summary="Narrow the answers down",
        tags=[groups.SEARCHES],
        responses={200: shape.FacetsSerializer, **shape.problems(401, 404, 503)},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the facets that split the plan's answers best.

        `adds` of a value has parts of a plan: with them added to the plan of the search, a new search finds the answers
        that have the value.
        """
        run = find_run(request, run_id)
        return Response(facets_of(plan_answers(run), run).to_json())
