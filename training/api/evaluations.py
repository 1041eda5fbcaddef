"""Evaluations: the list, a report, the outcomes of its questions, and files to download."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api.pagination import Pages
from search.api.serializers.basics import page_of, problems
from search.domain.errors import Fault, InvalidRequest
from search.downloads import export_answer
from training.api import serializers as shape
from training.models import Evaluation
from training.services.evaluations.describe import (
    describe_evaluation,
    find_evaluation,
    list_evaluations,
    summarise_evaluation,
)
from training.services.evaluations.outcomes import FOUND, KEYS, SORTS, OutcomeFilters, describe_outcome, outcomes
from training.services.export_report import FORMATS, export_report

GROUP = "Evaluations"
VIEW_EVALUATIONS = "training.view_evaluation"
PAGE_KEYS = ("page", "page_size")
PAGING = [
    OpenApiParameter("page", OpenApiTypes.INT, description="From 1."),
    OpenApiParameter("page_size", OpenApiTypes.INT, description="At most 100; 20 unless given."),
]
_CHOICES = {"found": list(FOUND), "sort": list(SORTS), "state": ["answered", "empty", "error"]}


class AnyFormat(DefaultContentNegotiation):
    """Content negotiation of files: the parameter `format` names a file, not a renderer of DRF."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """Return the first renderer, whatever the caller accepts; it is used for problems only."""
        return renderers[0], renderers[0].media_type


class Evaluations(APIView):
    """The evaluations."""

    rights = {"GET": VIEW_EVALUATIONS}

    @extend_schema(
        operation_id="evaluations_list",
        summary="List the evaluations",
        tags=[GROUP],
        parameters=[
            OpenApiParameter("knowledge_base", OpenApiTypes.STR),
            OpenApiParameter("status", OpenApiTypes.STR, enum=Evaluation.Status.values),
            *PAGING,
        ],
        responses={200: page_of(shape.EvaluationSummarySerializer), **problems(400, 401, 403, 404, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return a page of evaluations with the measures of their pipelines, newest first."""
        asked = request.query_params
        status = asked.get("status", "")
        if status and status not in Evaluation.Status.values:
            known = ", ".join(Evaluation.Status.values)
            raise InvalidRequest([Fault("/status", f"status is one of: {known}; not {status[:80]!r}.")])
        found = list_evaluations(user=request.user, knowledge_base=asked.get("knowledge_base", ""), status=status)
        pages = Pages()
        shown: list[Evaluation] = pages.paginate_queryset(found, request, view=self) or []
        return pages.get_paginated_response([summarise_evaluation(one) for one in shown])


class EvaluationDetail(APIView):
    """One evaluation."""

    rights = {"GET": VIEW_EVALUATIONS}

    @extend_schema(
        operation_id="evaluations_retrieve",
        summary="Show one with its report",
        tags=[GROUP],
        responses={200: shape.EvaluationReportSerializer, **problems(401, 403, 404, 503)},
    )
    def get(self, request: Request, evaluation_id: UUID) -> Response:
        """Return an evaluation with its report: measures, intervals, tests, slices, latency and calibration."""
        return Response(describe_evaluation(_find(request, evaluation_id)))


class EvaluationOutcomes(APIView):
    """The outcomes of an evaluation."""

    rights = {"GET": VIEW_EVALUATIONS}

    @extend_schema(
        operation_id="evaluations_outcomes",
        summary="List the outcomes by question",
        tags=[GROUP],
        parameters=[
            *(OpenApiParameter(key, OpenApiTypes.STR, enum=_CHOICES.get(key)) for key in KEYS),
            *PAGING,
        ],
        responses={200: page_of(shape.OutcomeSerializer), **problems(400, 401, 403, 404, 503)},
    )
    def get(self, request: Request, evaluation_id: UUID) -> Response:
        """Return a page of outcomes: each question with its answers, beside what was found.

        Parameters filter them; a parameter such as `slice.hops=2` filters by a key of the questions. The order is that
        of the questions unless `sort` says otherwise; `-rank` shows the worst first.
        """
        evaluation = _find(request, evaluation_id)
        filters = OutcomeFilters.parse(request.query_params.dict(), evaluation, PAGE_KEYS)
        pages = Pages()
        shown: list[Any] = pages.paginate_queryset(outcomes(evaluation, filters), request, view=self) or []
        return pages.get_paginated_response([describe_outcome(one) for one in shown])


class EvaluationDownload(APIView):
    """Files of an evaluation."""

    rights = {"GET": VIEW_EVALUATIONS}

    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="evaluations_download",
        summary="Download an evaluation as a file",
        tags=[GROUP],
        parameters=[
            OpenApiParameter("format", OpenApiTypes.STR, enum=list(FORMATS), required=True),
            OpenApiParameter("pipeline", OpenApiTypes.STR, description="Of a run; the first one unless given."),
        ],
        responses={
            (200, "text/plain"): OpenApiResponse(OpenApiTypes.STR, description="A TREC run, or qrels."),
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, description="A line for each outcome."),
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, description="report.json."),
            (200, "application/x-tex"): OpenApiResponse(OpenApiTypes.STR, description="A table for LaTeX."),
            **problems(400, 401, 403, 404, 503),
        },
    )
    def get(self, request: Request, evaluation_id: UUID) -> HttpResponseBase:
        """Return a TREC run, the qrels, the outcomes as CSV, the report as JSON, or a LaTeX table of the measures."""
        asked = request.query_params
        file = export_report(_find(request, evaluation_id), asked.get("format", ""), asked.get("pipeline", ""))
        return export_answer(request._request, file.content, name=file.name, content_type=file.media_type)


def _find(request: Request, evaluation_id: UUID) -> Evaluation:
    """Return the evaluation; raises Http404 if it does not exist or the caller may not see it."""
    evaluation = find_evaluation(evaluation_id, request.user)
    if evaluation is None:
        raise Http404("There is no evaluation with this id.")
    return evaluation
