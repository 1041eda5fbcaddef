"""Whether the process lives, and whether a search can be asked."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.services.health import all_ready, system_status


class Unguarded(APIView):
    """A view that asks nobody who they are: it answers also while Postgres, which knows, is away."""

    authentication_classes = ()
    permission_classes = (AllowAny,)


class Alive(Unguarded):
    """The web process lives."""

    @extend_schema(
        operation_id="healthz",
        summary="Whether the web process lives",
        tags=[groups.STATE],
        auth=[],
        responses={200: {"type": "object", "properties": {"alive": {"type": "boolean"}}}},
    )
    def get(self, request: Request) -> Response:
        """Say that the process lives. It asks no other service, so that it answers whatever is down."""
        return Response({"alive": True}, headers={"Cache-Control": "no-store"})


class Ready(Unguarded):
    """Every service that a search needs."""

    @extend_schema(
        operation_id="readyz",
        summary="Whether a search can be asked",
        tags=[groups.STATE],
        auth=[],
        responses={200: shape.Readiness, 503: OpenApiResponse(shape.Readiness, description="Something is down.")},
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Return each service's state and reason; 503 while one is down."""
        services = system_status()
        ready = all_ready(services)
        answer = {"ready": ready, "services": services}
        return Response(answer, status=200 if ready else 503, headers={"Cache-Control": "no-store"})
