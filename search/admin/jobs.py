"""Jobs in the admin: the list, the page that follows one job, and the form that launches one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from unfold.decorators import display

from search.admin import empty
from search.admin.job_form import LaunchForm, initial_of
from search.admin.job_shown import LABELS, page_of, percent_of
from search.admin.parts import ReadOnlyAdmin, VisibleValues
from search.domain.errors import InvalidRequest, NotAllowed
from search.models import Job
from search.services.access.rights import LAUNCH_JOBS, may
from search.services.access.visible import rows_for
from search.services.access.visitors import User
from search.services.jobs.bad_rows import bad_rows_of
from search.services.jobs.change import cancel_job, resume_job
from search.services.jobs.kinds import describe_kinds, kind_names, may_do, offered_kinds, title_of
from search.services.jobs.launch import launch_job
from search.services.jobs.wake import wake
from search.services.promote_result import promote_job
from search.templatetags.search_text import duration, time_range

LARGE_COLUMNS = ("specification", "notes", "result")


class KindFilter(admin.SimpleListFilter):
    """The filter by kind, with the kinds' names for people; it offers those of which the person may see a job."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the kinds of the listed jobs, by their titles."""
        kinds = model_admin.get_queryset(request).order_by().values_list("kind", flat=True).distinct()
        return sorted(((kind, title_of(kind)) for kind in kinds), key=lambda one: one[1])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:
        """Return the jobs of the chosen kind."""
        return queryset.filter(kind=self.value()) if self.value() else queryset


class BaseFilter(VisibleValues):
    """The filter by the name of the knowledge base."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.title = "knowledge base"


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    """Jobs: what waits, runs, and has ended; each has a page that follows it."""

    when_empty = empty.JOBS
    list_display = ("__str__", "base", "state_shown", "progress_shown", "queue", "origin", "user", "created", "took")
    list_filter = ("state", KindFilter, ("knowledge_base_name", BaseFilter), "queue", "origin", "created")
    search_fields = ("id", "kind", "knowledge_base_name", "question_set", "reason")
    list_select_related = ("user",)
    date_hierarchy = "created"
    change_form_template = "admin/search/job/page.html"

    def get_urls(self) -> list[URLPattern]:
        """Add the addresses of the form, the changing part of a job's page, and its buttons."""
        view = self.admin_site.admin_view
        return [
            path("launch/", view(self.launch), name="search_job_launch"),
            path("<uuid:pk>/live/", view(never_cache(self.live)), name="search_job_live"),
            path("<uuid:pk>/bad-rows/", view(self.bad_rows), name="search_job_bad_rows"),
            path("<uuid:pk>/cancel/", view(require_POST(self.cancel)), name="search_job_cancel"),
            path("<uuid:pk>/resume/", view(require_POST(self.resume)), name="search_job_resume"),
            path("<uuid:pk>/promote/", view(require_POST(self.promote)), name="search_job_promote"),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        """Leave large columns out of lists."""
        found: QuerySet[Job] = super().get_queryset(request)
        match = request.resolver_match
        return found.defer(*LARGE_COLUMNS) if match and (match.url_name or "").endswith("_changelist") else found

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Launching has a form of its own; staff with the right to launch see the button that leads there."""
        return self.may_launch(request)

    def may_launch(self, request: HttpRequest) -> bool:
        """Whether the user may launch, cancel and resume jobs."""
        return may(request.user, LAUNCH_JOBS)

    def may_promote(self, request: HttpRequest) -> bool:
        """Whether the user may activate releases and versions of pipelines, by the same right as on their pages."""
        return request.user.has_perm("search.change_knowledgebase")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Redirect to the form that launches a job."""
        if not self.may_launch(request):
            raise PermissionDenied
        return redirect("admin:search_job_launch")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the page that follows one job."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        job = self._found(request, object_id)
        context = self.admin_site.each_context(request) | page_of(job) | {
            "opts": self.opts, "title": str(job), "subtitle": None,
            "may_launch": self.may_launch(request), "may_promote": self.may_promote(request), "original": job,
        }  # fmt: skip
        return render(request, self.change_form_template, context)

    def live(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Return the part of a job's page that changes, or 204 while nothing has changed since `seen`."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        changes = rows_for(Job.objects.all(), request.user).filter(pk=pk).values_list("changes", flat=True).first()
        if changes is None:
            raise Http404("There is no such job.")
        if request.GET.get("seen") == str(changes):
            return HttpResponse(status=204)
        context = page_of(self._found(request, pk)) | {
            "may_launch": self.may_launch(request), "may_promote": self.may_promote(request),
        }  # fmt: skip
        return render(request, "admin/search/job/_live.html", context)

    def bad_rows(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Return the file of bad rows that an import has kept."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        content = bad_rows_of(self._found(request, pk))
        if content is None:
            raise Http404("This job has kept no bad rows.")
        headers = {"Content-Disposition": 'attachment; filename="bad-rows.jsonl"'}
        return HttpResponse(content, content_type="application/x-ndjson; charset=utf-8", headers=headers)

    def launch(self, request: HttpRequest) -> HttpResponse:
        """Show the kinds of jobs, or the form of one kind; launch the job that the form describes."""
        if not self.may_launch(request):
            raise PermissionDenied
        context = self.admin_site.each_context(request) | {"opts": self.opts, "title": "Launch a job"}
        kind = request.GET.get("kind", "")
        if kind not in kind_names():
            return render(request, "admin/search/job/launch.html", context | {"kinds": offered_kinds(request.user)})
        if not may_do(request.user, kind):
            raise PermissionDenied
        copied = _job(request.user, request.GET.get("like"))
        asked = {name: request.GET.get(name, "") for name in ("knowledge_base", "question_set")}
        initial = asked
        if copied:
            initial = initial_of(copied.kind, copied.knowledge_base_name, copied.question_set, copied.arguments)
        form = LaunchForm(kind, request.POST if request.method == "POST" else None, initial, user=request.user)
        if request.method == "POST" and form.is_valid():
            launched = self._launched(request, form, copied)
            if launched is not None:
                return redirect("admin:search_job_change", launched.pk)
        about = next(known for known in describe_kinds() if known["kind"] == kind)
        shown = {"form": form, "about": about, "title": f"Launch: {about['title']}"}
        return render(request, "admin/search/job/launch.html", context | shown)

    def _launched(self, request: HttpRequest, form: LaunchForm, copied: Job | None) -> Job | None:
        try:
            job, new = launch_job(**form.values(), user=request.user, origin=Job.Origin.PAGE, cloned_from=copied)
        except InvalidRequest as error:
            form.take(error.faults)
            return None
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        if new:
            wake(job.queue)
        else:
            messages.info(request, "The same job is waiting or running already; this is its page.")
        return job

    def cancel(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask a job to stop, and return to its page."""
        return self._acted(request, pk, cancel_job)

    def resume(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Let a job that failed or was cancelled go on from its last checkpoint, and return to its page."""
        return self._acted(request, pk, resume_job)

    def promote(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Let searches use what a job has made, and return to its page."""
        if not self.may_promote(request):
            raise PermissionDenied
        job = self._found(request, pk)
        try:
            made = promote_job(job, user=request.user)
        except InvalidRequest as error:
            messages.error(request, " ".join(fault.message for fault in error.faults))
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        else:
            messages.success(request, f"The next searches of {made.row.knowledge_base.name} use {made.name}.")
        return redirect("admin:search_job_change", pk)

    def _acted(self, request: HttpRequest, pk: UUID, act: Callable[..., Job]) -> HttpResponse:
        if not self.may_launch(request):
            raise PermissionDenied
        try:
            act(self._found(request, pk), user=request.user)
        except InvalidRequest as error:
            messages.error(request, " ".join(fault.message for fault in error.faults))
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        return redirect("admin:search_job_change", pk)

    def _found(self, request: HttpRequest, pk: Any) -> Job:
        job = _job(request.user, pk)
        if job is None:
            raise Http404("There is no such job.")
        return job

    @display(description="Knowledge base", ordering="knowledge_base_name", empty_value="–")
    def base(self, job: Job) -> str:
        """Name of the knowledge base that it works on or writes."""
        return job.knowledge_base_name or "–"

    @display(description="State", label=LABELS, ordering="state")
    def state_shown(self, job: Job) -> tuple[str, str]:
        """State of the job."""
        return job.state, job.get_state_display()

    @display(description="Done")
    def progress_shown(self, job: Job) -> SafeString | str:
        """A bar with the percent that is done, and the time left."""
        percent = percent_of(job)
        if job.state not in Job.LIVE:
            return "–" if job.state != Job.State.DONE else "100 %"
        left = job.progress.get("seconds_left_range")
        told = f"{percent} %" + (f", {time_range(left)} left" if left is not None and job.state == "running" else "")
        bar = '<progress class="job-bar" max="100" value="{}" aria-label="Progress">{}</progress> {}'
        return format_html(bar, percent, told, told)

    @display(description="Took")
    def took(self, job: Job) -> str:
        """Time from the start to the end."""
        if job.started is None or job.finished is None:
            return "–"
        return duration((job.finished - job.started).total_seconds())


def _job(user: User, given: Any) -> Job | None:
    """Return the job with an id that somebody gave, or None; only a job that the user may see."""
    try:
        pk = UUID(str(given))
    except ValueError:
        return None
    return rows_for(Job.objects.select_related("user", "cloned_from"), user).filter(pk=pk).first()
