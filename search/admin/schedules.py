"""Schedules of jobs in the admin."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display

from search.admin import empty
from search.admin.job_form import initial_of
from search.admin.jobs import KindFilter
from search.admin.parts import OfVisibleBases
from search.admin.schedule_form import ScheduleForm
from search.domain.errors import InvalidRequest, NotAllowed
from search.models import JobSchedule
from search.services.jobs.kinds import about, kind_class, kind_names, offered_kinds, title_of
from search.services.jobs.schedules import save_schedule

_JOB_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@admin.register(JobSchedule)
class JobScheduleAdmin(OfVisibleBases):
    """Schedules: jobs that are launched at the times of a cron expression."""

    when_empty = empty.SCHEDULES
    list_display = ("name", "kind_shown", "knowledge_base", "cron", "enabled", "next_run", "outcome")
    list_filter = (KindFilter, "enabled", "knowledge_base")
    list_select_related = ("knowledge_base",)
    search_fields = ("name", "kind")
    change_form_template = "admin/search/jobschedule/page.html"

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the kinds of jobs that can be repeated, or the form of a schedule of one kind; save what was sent."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        # Kinds that nobody launches by hand, such as the unpacking of an upload, cannot be repeated either.
        kinds = offered_kinds(request.user)
        kind = request.GET.get("kind", "")
        if kind not in {known["kind"] for known in kinds}:
            return self._page(request, {"kinds": kinds, "title": "New schedule: of which job?"})
        return self._edited(request, kind, _asked(request, kind), None)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the form of a schedule, with what came of it so far; save what was sent."""
        schedule = self.get_object(request, object_id)
        if not self.has_view_or_change_permission(request, schedule):
            raise PermissionDenied
        if schedule is None:
            raise Http404("There is no such schedule.")
        base = schedule.knowledge_base.name if schedule.knowledge_base else ""
        initial = initial_of(schedule.kind, base, schedule.question_set, schedule.arguments)
        row = {"name": schedule.name, "cron": schedule.cron, "enabled": schedule.enabled}
        return self._edited(request, schedule.kind, initial | row, schedule)

    def _edited(
        self, request: HttpRequest, kind: str, initial: dict[str, Any], schedule: JobSchedule | None
    ) -> HttpResponse:  # fmt: skip
        """Show the form of a new schedule or of `schedule`, or save it and go to the list."""
        may_save = schedule is None or self.has_change_permission(request, schedule)
        context = {
            "original": schedule, "may_save": may_save, "outcome": self.outcome(schedule) if schedule else "",
            "may_delete": schedule is not None and self.has_delete_permission(request, schedule),
            "title": f"Schedule: {schedule.name}" if schedule else f"New schedule: {title_of(kind)}",
        }  # fmt: skip
        if kind not in kind_names():
            return self._page(request, context | {"gone": kind})
        sent = request.POST if request.method == "POST" else None
        if sent is not None and not may_save:
            raise PermissionDenied
        form = ScheduleForm(kind, sent, initial, user=request.user, may_save=may_save)
        if sent is not None and form.is_valid() and self._saved(request, form, schedule):
            return redirect("admin:search_jobschedule_changelist")
        return self._page(request, context | {"form": form, "about": {"about": about(kind_class(kind))}})

    def _saved(self, request: HttpRequest, form: ScheduleForm, schedule: JobSchedule | None) -> bool:
        """Save it by the service, which checks the job as if it were launched now, in the name of this person."""
        try:
            saved = save_schedule(**form.values(), user=request.user, schedule=schedule)
        except InvalidRequest as error:
            form.take(error.faults)
            return False
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        if schedule is None:
            self.log_addition(request, saved, [{"added": {}}])
        else:
            self.log_change(request, saved, [{"changed": {"fields": form.changed_data}}])
        messages.success(request, f"The schedule {saved.name} was saved.")
        return True

    def _page(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        whole = self.admin_site.each_context(request) | {"opts": self.opts} | context
        return render(request, self.change_form_template, whole)

    @display(description="Job", ordering="kind")
    def kind_shown(self, schedule: JobSchedule) -> str:
        """The name of the kind of job for people."""
        return title_of(schedule.kind)

    @display(description="What came of it", empty_value="–")
    def outcome(self, schedule: JobSchedule) -> str:
        """What came of its last time, with a link in the place of a job's id."""
        told = schedule.last_outcome
        if (found := _JOB_ID.search(told)) is None:
            return told
        page = reverse("admin:search_job_change", args=[found[0]])
        before = told[: found.start()].rpartition("job ")[0]
        return format_html('{}<a class="text-primary-600 underline" href="{}">its job</a>', before, page)


def _asked(request: HttpRequest, kind: str) -> dict[str, Any]:
    """Return what the address gives a new form to begin with; its arguments are JSON there."""
    given = request.GET
    arguments: Any = {}
    with suppress(ValueError):
        arguments = json.loads(given.get("arguments", "{}"))
    known = initial_of(kind, given.get("knowledge_base", ""), given.get("question_set", ""),
                       arguments if isinstance(arguments, dict) else {})  # fmt: skip
    return known | {name: given[name] for name in ("name", "cron") if name in given}
