"""Recorded searches with all their steps, and the address of the page of services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.decorators import display

from search.admin import empty
from search.admin.parts import ReadOnlyAdmin, pretty
from search.admin.services_page import ServicesPage
from search.models import SearchRun, SearchStep

STATUS_LABELS = {"done": "success", "running": "info", "queued": "info", "failed": "danger", "cancelled": "warning"}
LARGE_COLUMNS = ("answer", "specification", "plan", "options", "error")


class StepInline(TabularInline):
    """The steps of a search, in order."""

    model = SearchStep
    fields = readonly_fields = ("name", "role", "status", "milliseconds", "backend", "detail", "output_shown")
    extra = 0
    max_num = 0
    can_delete = False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Steps are never changed."""
        return False

    @display(description="ms")
    def milliseconds(self, step: SearchStep) -> str:
        """Duration in milliseconds."""
        return f"{1000 * step.seconds:,.1f}"

    @display(description="Output")
    def output_shown(self, step: SearchStep) -> SafeString | str:
        """The step's output as readable JSON."""
        return pretty(step.output)


class AskedBy(admin.SimpleListFilter):
    """People and their programs, unless somebody wants to see what evaluations asked."""

    title = "asked by"
    parameter_name = "asked_by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return what there is to choose from beside people, who are shown where nothing is chosen."""
        return [("evaluations", "Evaluations"), ("all", "Everybody")]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Give the choices, the first of them by its name."""
        first, *others = super().choices(changelist)
        yield {**first, "display": "People and programs"}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[SearchRun]) -> QuerySet[SearchRun]:
        """Narrow a list; a search that is opened by its address is found whoever asked it."""
        if self.value() == "all":
            return queryset
        evaluated = Q(origin=SearchRun.Origin.EVALUATION)
        return queryset.filter(evaluated if self.value() == "evaluations" else ~evaluated)


@admin.register(SearchRun)
class SearchRunAdmin(ReadOnlyAdmin):
    """Searches: the question, the pipeline that answered it, and the result."""

    when_empty = empty.SEARCHES
    list_display = (
        "question_shown",
        "state",
        "pipeline",
        "knowledge_base_name",
        "origin",
        "user",
        "milliseconds",
        "created",
    )
    list_filter = (AskedBy, "status", "pipeline", "knowledge_base_name", "origin", "created")
    search_fields = ("question", "id")
    list_select_related = ("user",)
    date_hierarchy = "created"
    inlines = (StepInline,)
    fieldsets = (
        (None, {"fields": ("question", "status", "page", "error_shown", "user", "origin", "purpose")}),
        ("Asked of", {"fields": ("knowledge_base_name", "release_name", "settings_version", "k", "plan_shown")}),
        ("Answered by", {"classes": ("collapse",), "fields": (
            "pipeline", "pipeline_number", "options_shown", "specification_shown", "specification_hash", "code_version",
        )}),
        ("Times", {"fields": ("created", "started", "finished", "milliseconds", "time_limit", "cancel_requested")}),
        ("Answer", {"classes": ("collapse",), "fields": ("answer_shown",)}),
    )  # fmt: skip
    readonly_fields = (
        "status", "page", "error_shown", "plan_shown", "options_shown", "specification_shown", "milliseconds",
        "answer_shown",
    )  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        """Add the page of services."""
        services = self.admin_site.admin_view(ServicesPage.as_view(model_admin=self))
        return [path("services/", services, name="search_services"), *super().get_urls()]

    def get_fieldsets(self, request: HttpRequest, obj: SearchRun | None = None) -> Any:
        """Leave out what a search rarely has, where it has it not."""
        rare = {
            "error_shown": "error",
            "plan_shown": "plan",
            "purpose": "purpose",
            "cancel_requested": "cancel_requested",
        }
        empty = {shown for shown, column in rare.items() if obj and not getattr(obj, column)}
        return [
            (title, {**options, "fields": [one for one in options["fields"] if one not in empty]})
            for title, options in super().get_fieldsets(request, obj)
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[SearchRun]:
        """Leave large columns out of lists."""
        found = super().get_queryset(request)
        match = request.resolver_match
        return found.defer(*LARGE_COLUMNS) if match and (match.url_name or "").endswith("_changelist") else found

    @display(description="Question", ordering="question")
    def question_shown(self, run: SearchRun) -> str:
        """The question, shortened."""
        return run.question[:120] or "(empty)"

    @display(description="Status", label=STATUS_LABELS, ordering="status")
    def state(self, run: SearchRun) -> tuple[str, str]:
        """Status of the search."""
        return run.status, run.get_status_display()

    @display(description="ms", ordering="seconds")
    def milliseconds(self, run: SearchRun) -> str:
        """Duration in milliseconds."""
        return "–" if run.seconds is None else f"{1000 * run.seconds:,.0f}"

    @display(description="Page")
    def page(self, run: SearchRun) -> SafeString:
        """Link to the page of results."""
        return format_html('<a class="button primary" href="{}">Results</a>', reverse("search-results", args=[run.pk]))

    @display(description="Error")
    def error_shown(self, run: SearchRun) -> SafeString | str:
        """The error as readable JSON."""
        return pretty(run.error)

    @display(description="Plan that the asker brought")
    def plan_shown(self, run: SearchRun) -> SafeString | str:
        """The plan that the user gave, as readable JSON."""
        return pretty(run.plan)

    @display(description="Options that the asker set")
    def options_shown(self, run: SearchRun) -> SafeString | str:
        """The options that the user set, as readable JSON."""
        return pretty(run.options)

    @display(description="Specification")
    def specification_shown(self, run: SearchRun) -> SafeString | str:
        """The specification that was frozen for the run, as readable JSON."""
        return pretty(run.specification)

    @display(description="Answer")
    def answer_shown(self, run: SearchRun) -> SafeString | str:
        """The ranking by ids, as readable JSON."""
        answer: dict[str, Any] | None = run.answer
        return pretty(answer)
