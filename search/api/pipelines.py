"""Pipelines: the methods that can answer a question, and the settings of each."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.pagination import Pages
from search.api.permissions import ANYBODY
from search.models import KnowledgeBase
from search.services.pipelines.list_pipelines import list_pipelines


class Pipelines(APIView):
    """The pipelines that can answer a question."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="pipelines_list",
        summary="List the pipelines with their settings",
        tags=[groups.PLANS],
        parameters=[
            OpenApiParameter(
                "knowledge_base",
                OpenApiTypes.STR,
                description="Show the versions that are active for this knowledge base.",
            ),
            OpenApiParameter("page", OpenApiTypes.INT),
            OpenApiParameter("page_size", OpenApiTypes.INT),
        ],
        responses={200: shape.page_of(shape.PipelineSerializer), **shape.problems(401, 404, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return the pipelines: name, description, version, settings, availability and, if unavailable, why."""
        name = request.query_params.get("knowledge_base", "").replace("\x00", "")
        base = KnowledgeBase.objects.visible_to(request.user).filter(name=name).first() if name else None
        if name and base is None:
            raise Http404("There is no such knowledge base.")
        pages = Pages()
        shown = pages.paginate_queryset(list_pipelines(base, request.user), request, view=self)
        return pages.get_paginated_response(shown)
