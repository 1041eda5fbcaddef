"""Endpoints of language models in the admin: a key can be entered but is never shown; Test probes a server."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from unfold.admin import ModelAdmin
from unfold.decorators import action
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldBooleanSwitchWidget

from search.adapters.llm_openai import environment_server
from search.admin import empty
from search.admin.prompt_preview import preview_context
from search.models import Endpoint, LanguageModelCall
from search.models.sealed import Secret
from search.services.language_models.probe_endpoint import EndpointReport, probe_endpoint, probe_environment

NOT_TESTED = "Not tested yet."


class EndpointForm(forms.ModelForm):
    """An endpoint with a field that takes a new key but shows none."""

    api_key = forms.CharField(
        label="New API key",
        required=False,
        max_length=4_000,
        strip=True,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}, render_value=False),
        help_text="Stored encrypted and never shown. Leave it empty to keep the key that is stored. It is forgotten "
        "when scheme, host or port of the address change.",
    )
    forget_key = forms.BooleanField(
        label="Forget the stored key",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="For servers without one.",
    )

    class Meta:
        model = Endpoint
        fields = [
            "name", "base_url", "model", "timeout", "concurrency", "max_tokens", "structured_output", "active",
            "position",
        ]  # fmt: skip

    def clean_api_key(self) -> str:
        """Return the key; one that no HTTP header can carry is refused without being repeated."""
        key = str(self.cleaned_data["api_key"])
        if not (key.isascii() and key.isprintable()):
            raise forms.ValidationError("A key consists of letters, digits and signs of ASCII, on one line.")
        return key

    def save(self, commit: bool = True) -> Endpoint:
        """Encrypt a new key, or remove the stored one, and save the endpoint."""
        if self.cleaned_data["api_key"] or self.cleaned_data["forget_key"]:
            self.instance.api_key = Secret(self.cleaned_data["api_key"])
        return super().save(commit)


@admin.register(Endpoint)
@method_decorator(sensitive_post_parameters("api_key"), name="changeform_view")
class EndpointAdmin(ModelAdmin):
    """Endpoints, with a Test button beside Save and an action that tests several."""

    when_empty = empty.SERVERS
    form = EndpointForm
    list_display = ["name", "model", "base_url", "active", "position", "key", "state"]
    list_filter = ["active"]
    search_fields = ["name", "model", "base_url"]
    readonly_fields = ["key", "report"]
    fieldsets = [
        (None, {"fields": ["name", "base_url", "model", "key", "api_key", "forget_key", "active", "position"]}),
        ("Test", {"fields": ["report"]}),
        ("Limits", {"fields": ["timeout", "concurrency", "max_tokens", "structured_output"]}),
    ]
    actions = ["test_selected"]
    actions_submit_line = ["save_and_test"]
    list_before_template = "admin/search/endpoint/environment_note.html"

    def get_urls(self) -> list[URLPattern]:
        """Add the page of the environment's server and the page of the prompt preview."""
        environment = self.admin_site.admin_view(require_http_methods(["GET", "POST"])(self.environment))
        prompt = self.admin_site.admin_view(require_http_methods(["GET"])(self.prompt))
        return [
            path("environment/", environment, name="search_endpoint_environment"),
            path("prompt/", prompt, name="search_endpoint_prompt"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the environment's server above the list."""
        context = {"environment": environment_server(), "rows_win": Endpoint.objects.filter(active=True).exists()}
        return super().changelist_view(request, context | (extra_context or {}))

    def environment(self, request: HttpRequest) -> HttpResponse:
        """Show the environment's server, and test it on POST."""
        server = environment_server()
        if not self.has_view_permission(request) or (
            request.method == "POST" and not self.has_change_permission(request)
        ):
            return HttpResponseRedirect(reverse("admin:index"))
        report = probe_environment() if request.method == "POST" else None
        context = self.admin_site.each_context(request) | {
            "title": "The environment's server", "server": server, "opts": Endpoint._meta,
            "report": _shown(report) if report else NOT_TESTED, "key": "stored" if server and server.key else "none",
        }  # fmt: skip
        return TemplateResponse(request, "admin/search/endpoint/environment.html", context)

    def prompt(self, request: HttpRequest) -> HttpResponse:
        """Show the exact prompt for a question."""
        if not self.has_view_permission(request):
            return HttpResponseRedirect(reverse("admin:index"))
        shown = preview_context(request)
        schema = json.dumps(shown["preview"]["json_schema"], indent=1) if "preview" in shown else ""
        context = self.admin_site.each_context(request) | {"opts": Endpoint._meta, "schema": schema} | shown
        return TemplateResponse(request, "admin/search/endpoint/prompt.html", context)

    def save_model(self, request: HttpRequest, obj: Endpoint, form: EndpointForm, change: bool) -> None:
        """Save, and say that the key was forgotten if the address names another server now."""
        super().save_model(request, obj, form, change)
        if obj.forgotten:
            messages.warning(request, obj.forgotten)

    @action(description="Save and test")
    def save_and_test(self, request: HttpRequest, obj: Endpoint) -> None:
        """Test the endpoint after the transaction is committed, so that no transaction waits for the server."""
        transaction.on_commit(lambda: self._tell(request, obj, probe_endpoint(obj)))

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Offer “Save and test” also before the first save, where Unfold leaves such buttons out."""
        new = {} if object_id else {"actions_submit_line": self.get_actions_submit_line(request, "")}
        return super().changeform_view(request, object_id, form_url, {**(extra_context or {}), **new})

    def response_add(self, request: HttpRequest, obj: Endpoint, post_url_continue: str | None = None) -> HttpResponse:
        """Lead to the page of a new endpoint after its test, because it shows the report."""
        if "search_endpoint_save_and_test" in request.POST:
            return HttpResponseRedirect(reverse("admin:search_endpoint_change", args=[obj.pk]))
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Endpoint) -> HttpResponse:
        """Stay on the page after a test, because it shows the report."""
        if "search_endpoint_save_and_test" in request.POST:
            return HttpResponseRedirect(reverse("admin:search_endpoint_change", args=[obj.pk]))
        return super().response_change(request, obj)

    @admin.action(description="Test the selected endpoints", permissions=["change"])
    def test_selected(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> None:
        """Test the selected endpoints, one after another."""
        for endpoint in queryset:
            self._tell(request, endpoint, probe_endpoint(endpoint, seconds=10.0))

    @admin.display(description="Stored API key")
    def key(self, endpoint: Endpoint) -> str:
        """Whether a key is stored, without showing it."""
        return "there is one" if endpoint.api_key_sealed else "none"

    @admin.display(description="Last test")
    def state(self, endpoint: Endpoint) -> str:
        """The outcome of the last test in a few words."""
        report = _report_of(endpoint)
        if report is None:
            return NOT_TESTED
        return f"answered in {report.seconds:.2f} s" if report.works else "failed"

    @admin.display(description="Last test")
    def report(self, endpoint: Endpoint) -> SafeString | str:
        """Models, latency and structured output according to the last test."""
        report = _report_of(endpoint)
        return _shown(report) if report else f"{NOT_TESTED} “Save and test” asks the server."

    @staticmethod
    def _tell(request: HttpRequest, endpoint: Endpoint, report: EndpointReport) -> None:
        if report.works:
            held = {True: "structured output works", False: "structured output does not work", None: "free text"}
            messages.success(request, f"{endpoint}: answered in {report.seconds:.2f} s; {held[report.structured]}.")
        else:
            messages.error(request, f"{endpoint}: {report.error}")


@admin.register(LanguageModelCall)
class LanguageModelCallAdmin(ModelAdmin):
    """Recorded calls, read-only."""

    when_empty = empty.CALLS
    list_display = [
        "created", "purpose", "model", "endpoint_name", "finish_reason", "prompt_tokens", "completion_tokens",
        "seconds", "error",
    ]  # fmt: skip
    list_filter = ["purpose", "endpoint_name", "finish_reason"]
    search_fields = ["error", "prompt_version", "prompt_fingerprint"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Calls are recorded, never added by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: LanguageModelCall | None = None) -> bool:
        """Recorded calls are never changed."""
        return False


def _report_of(endpoint: Endpoint) -> EndpointReport | None:
    """Return the stored report; one of an older version may lack newer fields."""
    if not isinstance(endpoint.tested, dict):
        return None
    known = {field.name for field in dataclasses.fields(EndpointReport)}
    return EndpointReport(**{name: value for name, value in endpoint.tested.items() if name in known})


def _shown(report: EndpointReport) -> SafeString:
    """Return a report as lines of a page; the server's texts are escaped."""
    held = {True: "works", False: "does not work", None: "not tried"}[report.structured]
    rows = [
        ("When", report.when),
        ("Models", ", ".join(report.models) or "none listed"),
        ("", report.models_note),
        ("Answer", f"{report.answer!r} in {report.seconds:.2f} s" if report.seconds is not None else report.error),
        ("Structured output", f"{held}. {report.structured_note}".strip()),
    ]
    lines = [(f"{name}: " if name else "", said) for name, said in rows if said]
    return format_html("<ul>{}</ul>", format_html_join("", "<li><b>{}</b>{}</li>", lines))
