"""Schedules of jobs, for accounts with the rights on them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.jobs import read_body
from search.models import JobSchedule
from search.services.access.rights import ADD_SCHEDULES, CHANGE_SCHEDULES, DELETE_SCHEDULES, VIEW_SCHEDULES
from search.services.access.visible import rows_for
from search.services.jobs.schedules import describe_schedule, save_schedule

KEYS = ("name", "cron", "kind", "knowledge_base", "question_set", "arguments", "enabled")
REQUIRED: dict[str, Any] = {"name": None, "cron": None, "kind": None}
MOST_ID = 2**63 - 1


class JobSchedules(APIView):
    """The schedules."""

    rights = {"GET": VIEW_SCHEDULES, "POST": ADD_SCHEDULES}

    @extend_schema(
        operation_id="job_schedules_list",
        summary="List the schedules",
        tags=[groups.JOBS],
        responses={200: shape.ScheduleSerializer(many=True), **shape.problems(401, 403, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return every schedule, with its next time and the outcome of its last launch."""
        return Response([describe_schedule(row) for row in _visible(request).select_related("knowledge_base")])

    @extend_schema(
        operation_id="job_schedules_create",
        summary="Make a schedule",
        tags=[groups.JOBS],
        request=shape.ScheduleRequestSerializer,
        responses={201: shape.ScheduleSerializer, **shape.problems(400, 401, 403, 413, 415, 503)},
    )
    def post(self, request: Request) -> Response:
        """Create a schedule; its job is checked as if it were launched now."""
        saved = save_schedule(**{**REQUIRED, **read_body(request, KEYS, "A schedule")}, user=request.user)
        address = reverse("api:job-schedule", args=[saved.pk])
        return Response(describe_schedule(saved), status=201, headers={"Location": address})


class JobScheduleDetail(APIView):
    """One schedule."""

    rights = {"PUT": CHANGE_SCHEDULES, "DELETE": DELETE_SCHEDULES}

    @extend_schema(
        operation_id="job_schedules_update",
        summary="Change a schedule",
        tags=[groups.JOBS],
        request=shape.ScheduleRequestSerializer,
        responses={200: shape.ScheduleSerializer, **shape.problems(400, 401, 403, 404, 413, 415, 503)},
    )
    def put(self, request: Request, schedule_id: int) -> Response:
        """Replace a schedule; its next time is computed from now on."""
        schedule = _find(request, schedule_id)
        given = {**REQUIRED, **read_body(request, KEYS, "A schedule")}
        return Response(describe_schedule(save_schedule(**given, user=request.user, schedule=schedule)))

    @extend_schema(
        operation_id="job_schedules_delete",
        summary="Delete a schedule",
        tags=[groups.JOBS],
        responses={
            204: OpenApiResponse(description="The schedule is deleted; jobs that it launched stay."),
            **shape.problems(401, 403, 404, 503),
        },
    )
    def delete(self, request: Request, schedule_id: int) -> Response:
        """Delete a schedule."""
        _find(request, schedule_id).delete()
        return Response(status=204)


def _visible(request: Request) -> QuerySet[JobSchedule]:
    return rows_for(JobSchedule.objects.all(), request.user)


def _find(request: Request, schedule_id: int) -> JobSchedule:
    found = _visible(request).filter(pk=schedule_id).first() if schedule_id <= MOST_ID else None
    if found is None:
        raise Http404("There is no schedule with this id.")
    return found
