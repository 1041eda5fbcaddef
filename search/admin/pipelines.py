"""Versions of pipelines in the admin: read-only, except that another version can be activated."""

from __future__ import annotations

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display

from search.admin import empty
from search.admin.parts import ReadOnlyAdmin, pretty
from search.models import PipelineVersion
from search.services.pipelines.save_pipeline_version import activate_pipeline_version

BUTTON = "bg-primary-600 text-white rounded-default px-3 py-2 font-medium cursor-pointer"


@admin.register(PipelineVersion)
class PipelineVersionAdmin(ReadOnlyAdmin):
    """The options by which a knowledge base overrides a pipeline of the site."""

    when_empty = empty.PIPELINE_VERSIONS
    list_display = ("pipeline", "version", "knowledge_base", "active", "note", "author", "created")
    list_display_links = ("pipeline", "version")
    list_filter = ("pipeline", "active", "knowledge_base")
    search_fields = ("pipeline", "note")
    list_select_related = ("knowledge_base", "author")
    fields = readonly_fields = (
        "knowledge_base", "pipeline", "version", "state", "options_shown", "note", "author", "created",
    )  # fmt: skip
    actions = ("make_active",)

    def get_urls(self) -> list[URLPattern]:
        """Add the address to which the button on a version's page posts."""
        activate = self.admin_site.admin_view(self.activate)
        return [path("<int:pk>/activate/", activate, name="search_pipelineversion_activate"), *super().get_urls()]

    @action(description="Make active", permissions=["activate"])
    def make_active(self, request: HttpRequest, chosen: QuerySet[PipelineVersion]) -> None:
        """Activate the selected versions, at most one for each pipeline of a knowledge base."""
        versions = list(chosen.select_related("knowledge_base"))
        if len({(version.knowledge_base_id, version.pipeline) for version in versions}) < len(versions):
            messages.error(request, "Choose one version of a pipeline: only one of them can be active.")
            return
        for version in versions:
            _activate(request, version)

    def activate(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Activate one version and redirect to its page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_activate_permission(request):
            raise PermissionDenied
        version = PipelineVersion.objects.select_related("knowledge_base").filter(pk=pk).first()
        if version is None:
            raise Http404("There is no such version.")
        _activate(request, version)
        return redirect("admin:search_pipelineversion_change", pk)

    def has_activate_permission(self, request: HttpRequest) -> bool:
        """Users who may change knowledge bases may activate versions."""
        return request.user.has_perm("search.change_knowledgebase")

    @display(description="Active")
    def state(self, version: PipelineVersion) -> SafeString | str:
        """Whether the version is active, with a button to activate it if not; the button belongs to the page's form."""
        if version.active:
            return "Yes: the next searches use it."
        address = reverse("admin:search_pipelineversion_activate", args=[version.pk])
        return format_html(
            '<button type="submit" formmethod="post" formaction="{}" class="{}">Make active</button>', address, BUTTON
        )

    @display(description="Options")
    def options_shown(self, version: PipelineVersion) -> SafeString | str:
        """The options as readable JSON."""
        return pretty(version.options)


def _activate(request: HttpRequest, version: PipelineVersion) -> None:
    activate_pipeline_version(version)
    messages.success(
        request, f"The next searches of {version.knowledge_base} use {version.pipeline} {version.version}."
    )
