"""Health of the site: whether the web process is alive, and whether searches can be requested."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.services.access.visible import told_to
from search.services.health import all_ready, system_status


class Unguarded(APIView):
    """A view without authentication. It also answers while Postgres, which holds the accounts, is unavailable."""

    authentication_classes = ()
    permission_classes = (AllowAny,)


class Alive(Unguarded):
    """Whether the web process is alive."""

    @extend_schema(
        operation_id="healthz",
        summary="Check that the web process is alive",
        tags=[groups.STATE],
        auth=[],
        responses={200: {"type": "object", "properties": {"alive": {"type": "boolean"}}}},
    )
    def get(self, request: Request) -> Response:
        """Report that the web process is alive. It asks no other service, so it answers whichever service is down."""
        return Response({"alive": True}, headers={"Cache-Control": "no-store"})


class Ready(Unguarded):
    """Whether every service that a search needs is available."""

    @extend_schema(
        operation_id="readyz",
        summary="Check that searches can be requested",
        tags=[groups.STATE],
        auth=[],
        responses={
            200: shape.ReadinessSerializer,
            503: OpenApiResponse(shape.ReadinessSerializer, description="Something is down."),
        },
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Return the state of each service and the reason for it; 503 while a service is down."""
        services = told_to(system_status(), AnonymousUser())
        ready = all_ready(services)
        answer = {"ready": ready, "services": services}
        return Response(answer, status=200 if ready else 503, headers={"Cache-Control": "no-store"})
