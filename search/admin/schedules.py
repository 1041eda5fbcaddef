"""Schedules of jobs in the admin."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from search.admin import empty
from search.admin.parts import OfVisibleBases
from search.admin.schedule_form import ScheduleForm
from search.models import JobSchedule
from search.services.jobs.schedules import save_schedule


@admin.register(JobSchedule)
class JobScheduleAdmin(OfVisibleBases):
    """Schedules: jobs that are launched at the times of a cron expression."""

    form = ScheduleForm
    when_empty = empty.SCHEDULES
    list_display = ("name", "kind", "knowledge_base", "cron", "enabled", "next_run", "last_outcome")
    list_filter = ("kind", "enabled", "knowledge_base")
    search_fields = ("name", "kind")
    fields = ("name", "cron", "kind", "knowledge_base", "question_set", "arguments", "enabled",
              "next_run", "last_run", "last_outcome")  # fmt: skip
    readonly_fields = ("next_run", "last_run", "last_outcome")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Return what the address gives the form to begin with; its arguments are JSON there."""
        initial = dict(super().get_changeform_initial_data(request))
        with suppress(KeyError, ValueError):
            initial["arguments"] = json.loads(initial["arguments"])
        return initial

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form with the kinds of jobs that this person may launch."""
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"user": request.user})

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        """Save it by the service, which checks the job as if it were launched now, in the name of this person."""
        saved = save_schedule(**form.values(), user=request.user, schedule=form.schedule)
        obj.pk, obj._state.adding = saved.pk, False
