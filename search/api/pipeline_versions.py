"""Versions of pipelines, for accounts with the right to view or activate them: list, make, promote, roll back."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search import wiring
from search.api import groups
from search.api import serializers as shape
from search.api.jobs import read_body
from search.api.knowledge_bases import PAGING
from search.api.pagination import Pages
from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase, PipelineVersion
from search.services.access.rights import check_may
from search.services.pipelines.describe_version import describe_in_use, describe_version
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.pipelines.switch_version import (
    ACTIVATE_VERSIONS,
    ADD_VERSIONS,
    VIEW_VERSIONS,
    promote,
    roll_back,
)
from search.services.searches.storable import storable_json

KEYS = ("knowledge_base", "options", "note", "activate", "whole")
MOST_NOTE = 2_000
SWITCHED = {200: shape.InUseSerializer, **shape.problems(400, 401, 403, 404, 413, 415, 503)}


class PipelineVersions(APIView):
    """The versions of a pipeline."""

    rights = {"GET": VIEW_VERSIONS, "POST": ADD_VERSIONS}

    @extend_schema(
        operation_id="pipeline_versions_list",
        summary="List the versions of a pipeline",
        tags=[groups.PLANS],
        parameters=[
            OpenApiParameter("knowledge_base", OpenApiTypes.STR, description="Only those of this knowledge base."),
            *PAGING,
        ],
        responses={200: shape.page_of(shape.PipelineVersionSerializer), **shape.problems(401, 403, 404, 503)},
    )
    def get(self, request: Request, name: str) -> Response:
        """Return a page of the versions of a pipeline, the newest of each knowledge base first."""
        versions = PipelineVersion.objects.select_related("knowledge_base", "author").filter(
            pipeline=_pipeline(name), knowledge_base__in=KnowledgeBase.objects.visible_to(request.user)
        ).order_by("knowledge_base__name", "-version")  # fmt: skip
        if wanted := request.query_params.get("knowledge_base", ""):
            versions = versions.filter(knowledge_base=_base(request, wanted))
        pages = Pages()
        shown: list[PipelineVersion] = pages.paginate_queryset(versions, request, view=self) or []
        return pages.get_paginated_response([describe_version(version) for version in shown])

    @extend_schema(
        operation_id="pipeline_versions_create",
        summary="Make a version of a pipeline",
        tags=[groups.PLANS],
        request=shape.PipelineVersionRequestSerializer,
        responses={
            201: OpenApiResponse(
                shape.PipelineVersionSerializer, description="The version; it is in use if it was asked for."
            ),
            **shape.problems(400, 401, 403, 404, 413, 415, 503),
        },
    )
    def post(self, request: Request, name: str) -> Response:
        """Save options as the next version of the pipeline for a knowledge base.

        They are laid over the options of the active version, or with `whole` are all that the version has. With
        `activate` the next searches use it. Every option that does not fit, and every artifact that searches cannot
        use, is refused.
        """
        pipeline, given = _pipeline(name), read_body(request, KEYS, "A version of a pipeline")
        base = _base(request, given.get("knowledge_base"))
        _check(given)
        if given.get("activate"):
            check_may(request.user, ACTIVATE_VERSIONS, "activate versions of pipelines")
        version = save_pipeline_version(
            knowledge_base=base, pipeline=pipeline, options=given.get("options", {}), note=given.get("note", ""),
            author=request.user if isinstance(request.user, User) else None,
            activate=bool(given.get("activate")), whole=bool(given.get("whole")),
        )  # fmt: skip
        return Response(describe_version(version), status=201)


class PipelineVersionActivate(APIView):
    """The promotion of a version."""

    rights = {"POST": ACTIVATE_VERSIONS}

    @extend_schema(
        operation_id="pipeline_versions_activate",
        summary="Promote a version",
        tags=[groups.PLANS],
        request=shape.SwitchRequestSerializer,
        responses=SWITCHED,
    )
    def post(self, request: Request, name: str, version: int) -> Response:
        """Let the next searches of a knowledge base use this version; 0 is the site's specification."""
        base = _base(request, read_body(request, KEYS[:1], "This request").get("knowledge_base"))
        made = promote(knowledge_base=base, pipeline=_pipeline(name), version=version, user=request.user)
        return Response(describe_in_use(made))


class PipelineRollBack(APIView):
    """The return to the version before."""

    rights = {"POST": ACTIVATE_VERSIONS}

    @extend_schema(
        operation_id="pipeline_roll_back",
        summary="Roll back to the version before",
        tags=[groups.PLANS],
        request=shape.SwitchRequestSerializer,
        responses=SWITCHED,
    )
    def post(self, request: Request, name: str) -> Response:
        """Let the next searches of a knowledge base use the version that was in use before the active one."""
        base = _base(request, read_body(request, KEYS[:1], "This request").get("knowledge_base"))
        return Response(describe_in_use(roll_back(knowledge_base=base, pipeline=_pipeline(name), user=request.user)))


def _pipeline(name: str) -> str:
    if name not in wiring.pipelines():
        raise Http404("There is no such pipeline.")
    return name


def _base(request: Request, name: Any) -> KnowledgeBase:
    """Return a knowledge base that the caller may see. Raises InvalidRequest if there is none of this name."""
    text = name if isinstance(name, str) else ""
    found = KnowledgeBase.objects.visible_to(request.user).filter(name=text.replace("\x00", "")).first()
    if found is None:
        message = f"There is no knowledge base {text[:80]!r}." if text else "Name the knowledge base."
        raise InvalidRequest([Fault("/knowledge_base", message)])
    return found


def _check(given: dict[str, Any]) -> None:
    """Raise InvalidRequest with every key of a new version that is not of its type."""
    faults = []
    if not isinstance(given.get("options", {}), dict):
        faults.append(Fault("/options", "options is an object of settings: {stage.option: value}."))
    else:
        faults += storable_json(given.get("options", {}), "/options")[1]
    note = given.get("note", "")
    if not isinstance(note, str) or len(note) > MOST_NOTE or "\x00" in note:
        faults.append(Fault("/note", f"note is a text of at most {MOST_NOTE:,} characters, without NUL."))
    faults += [
        Fault(f"/{key}", f"{key} is true or false.")
        for key in ("activate", "whole") if not isinstance(given.get(key, False), bool)
    ]  # fmt: skip
    if faults:
        raise InvalidRequest(faults)
