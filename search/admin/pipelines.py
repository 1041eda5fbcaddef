"""Versions of pipelines in the admin: made by a form, then never changed; another version can be activated."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST
from unfold.decorators import action, display

from search import wiring
from search.admin import empty
from search.admin.job_values import text_of
from search.admin.parts import ReadOnlyAdmin, table
from search.admin.readable import readable
from search.admin.version_form import ChooseForm, VersionForm
from search.domain.differences import MISSING
from search.domain.errors import InvalidRequest
from search.models import KnowledgeBase, PipelineVersion
from search.services.access.rights import may
from search.services.access.visible import rows_for
from search.services.pipelines.compare_versions import compare_with_before
from search.services.pipelines.differing_settings import setting_about, setting_label
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.pipelines.switch_version import ACTIVATE_VERSIONS, ADD_VERSIONS, promote, roll_back

BUTTON = "bg-primary-600 text-white rounded-default px-3 py-2 font-medium cursor-pointer"
MOST_DIGITS = 10
"""Length from which a number cannot be the id of a version."""


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
        "knowledge_base", "pipeline", "version", "state", "differences_shown", "options_shown", "note", "author",
        "created",
    )  # fmt: skip
    actions = ("make_active",)
    add_form_template = "admin/search/pipelineversion/new.html"

    def get_urls(self) -> list[URLPattern]:
        """Add the address to which the button on a version's page posts."""
        activate = self.admin_site.admin_view(self.activate)
        back = self.admin_site.admin_view(self.roll_back)
        return [
            path("<int:pk>/activate/", activate, name="search_pipelineversion_activate"),
            path("<int:pk>/roll-back/", back, name="search_pipelineversion_roll_back"),
            *super().get_urls(),
        ]

    @action(description="Make active", permissions=["activate"])
    def make_active(self, request: HttpRequest, chosen: QuerySet[PipelineVersion]) -> None:
        """Activate the selected versions, at most one for each pipeline of a knowledge base."""
        versions = list(chosen.select_related("knowledge_base"))
        if len({(version.knowledge_base_id, version.pipeline) for version in versions}) < len(versions):
            messages.error(request, "Choose one version of a pipeline: only one of them can be active.")
            return
        for version in versions:
            _activate(request, version)

    @method_decorator(require_POST)
    def activate(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Activate one version and redirect to its page."""
        _activate(request, _version(request, pk))
        return redirect("admin:search_pipelineversion_change", pk)

    @method_decorator(require_POST)
    def roll_back(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Activate the version that was in use before this active one, and redirect to its page."""
        version = _version(request, pk)
        if not version.active:
            messages.error(request, f"{version} is not in use, so there is nothing to roll back.")
            return redirect("admin:search_pipelineversion_change", pk)
        try:
            before = roll_back(knowledge_base=version.knowledge_base, pipeline=version.pipeline, user=request.user)
        except InvalidRequest as error:
            messages.error(request, str(error))
            return redirect("admin:search_pipelineversion_change", pk)
        named = f"{version.pipeline} {before.version}" if before else f"the site's {version.pipeline}"
        messages.success(request, f"The next searches of {version.knowledge_base} use {named} again.")
        return redirect("admin:search_pipelineversion_change", before.pk if before else pk)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Users with the right to add versions make them by the form of `add_view`."""
        return may(request.user, ADD_VERSIONS)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the form of a new version, or first the choice of knowledge base and pipeline; save what was sent."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        context = self.admin_site.each_context(request) | {"opts": self.opts, "title": "New version of a pipeline"}
        choice = ChooseForm(request.user, request.GET if request.GET.get("pipeline") else None)
        if not choice.is_valid():
            return render(request, self.add_form_template, context | {"choice": choice})
        base = KnowledgeBase.objects.get(name=choice.cleaned_data["knowledge_base"])
        pipeline = choice.cleaned_data["pipeline"]
        start = _start(base, pipeline, request.GET.get("like", ""))
        form = VersionForm(
            pipeline, start.options if start else {}, request.POST if request.method == "POST" else None,
            may_activate=self.has_activate_permission(request),
        )  # fmt: skip
        version = _saved(request, base, pipeline, form) if request.method == "POST" and form.is_valid() else None
        if version is not None:
            used = f"; the next searches of {base} use it" if version.active else ""
            messages.success(request, f"{pipeline} {version.version} of {base} was saved{used}.")
            return redirect("admin:search_pipelineversion_change", version.pk)
        title = f"New version: {wiring.row(pipeline)['TITLE']} · {base.name}"
        return render(
            request, self.add_form_template, context | {"form": form, "start": start, "title": title, "base": base}
        )

    def has_activate_permission(self, request: HttpRequest) -> bool:
        """Users who may change knowledge bases may activate versions."""
        return may(request.user, ACTIVATE_VERSIONS)

    @display(description="Active")
    def state(self, version: PipelineVersion) -> SafeString | str:
        """Whether the version is active, with a button to activate it if not; the button belongs to the page's form."""
        if version.active:
            back = reverse("admin:search_pipelineversion_roll_back", args=[version.pk])
            return format_html(
                "Yes: the next searches use it. "
                '<button type="submit" formmethod="post" formaction="{}" class="{}">Roll back</button>', back, BUTTON,
            )  # fmt: skip
        address = reverse("admin:search_pipelineversion_activate", args=[version.pk])
        return format_html(
            '<button type="submit" formmethod="post" formaction="{}" class="{}">Make active</button>', address, BUTTON
        )

    @display(description="What differs")
    def differences_shown(self, version: PipelineVersion) -> SafeString:
        """The settings that differ from the site's defaults or the version before, and a link to a version like it."""
        compared = compare_with_before(version)
        named = f"version {compared.before.version}" if compared.before else "before: the site's"
        rows = [
            (_named(version.pipeline, row.name), _value(row.default), _value(row.before),
             format_html("<strong>{}</strong>", _value(row.now)) if row.changed else _value(row.now))
            for row in compared.settings
        ]  # fmt: skip
        shown = table(("setting", "default", named, "this version"), rows) if rows else "Nothing: it is as the site's."
        query = urlencode({"knowledge_base": version.knowledge_base.name, "pipeline": version.pipeline,
                           "like": str(version.pk)})  # fmt: skip
        address = f"{reverse('admin:search_pipelineversion_add')}?{query}"
        return format_html(
            '{}<p class="mt-3"><a class="text-primary-600 underline" href="{}">New version from this one</a></p>',
            shown, address,
        )  # fmt: skip

    @display(description="Options")
    def options_shown(self, version: PipelineVersion) -> SafeString | str:
        """The options as a table."""
        return readable(version.options)


def _version(request: HttpRequest, pk: int) -> PipelineVersion:
    """Return the version that a button speaks of. Raises PermissionDenied, Http404."""
    if not may(request.user, ACTIVATE_VERSIONS):
        raise PermissionDenied
    found = rows_for(PipelineVersion.objects.select_related("knowledge_base"), request.user).filter(pk=pk).first()
    if found is None:
        raise Http404("There is no such version.")
    return found


def _activate(request: HttpRequest, version: PipelineVersion) -> None:
    base, pipeline = version.knowledge_base, version.pipeline
    try:
        promote(knowledge_base=base, pipeline=pipeline, version=version.version, user=request.user)
    except InvalidRequest as error:
        messages.error(request, str(error))
        return
    messages.success(
        request, f"The next searches of {version.knowledge_base} use {version.pipeline} {version.version}."
    )


def _saved(request: HttpRequest, base: KnowledgeBase, pipeline: str, form: VersionForm) -> PipelineVersion | None:
    """Save what a valid form holds; None if searches cannot use an artifact that it names, which the form then says."""
    try:
        return save_pipeline_version(
            knowledge_base=base, pipeline=pipeline, options=form.options(), note=form.cleaned_data["note"],
            author=request.user if isinstance(request.user, User) else None,
            activate=bool(form.cleaned_data.get("activate")), whole=True,
        )  # fmt: skip
    except InvalidRequest as error:
        form.add_error(None, str(error))
        return None


def _start(base: KnowledgeBase, pipeline: str, like: str) -> PipelineVersion | None:
    """Return the version whose options the form begins with: the one that was named, else the active one."""
    versions = PipelineVersion.objects.filter(knowledge_base=base, pipeline=pipeline)
    named = versions.filter(pk=int(like)).first() if like.isdecimal() and len(like) < MOST_DIGITS else None
    return named or versions.filter(active=True).first()


def _named(pipeline: str, key: str) -> SafeString:
    """Return a setting in words, with its name in files below them."""
    label, about = setting_label(pipeline, key), setting_about(pipeline, key)
    return format_html('{}<br><span class="text-xs" title="{}">{}</span>', label, about, key)


def _value(value: Any) -> str:
    return "–" if value is MISSING else text_of(value)
