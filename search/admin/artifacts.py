"""Artifacts in the admin: the model card, the files, what uses them; download, and deletion of what nothing uses."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import Http404, HttpRequest, HttpResponseBase
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from unfold.decorators import display

from search.admin import empty
from search.admin.job_result import LINK
from search.admin.parts import ReadOnlyAdmin, table
from search.admin.readable import readable
from search.domain.errors import InvalidRequest
from search.downloads import file_answer
from search.models import Artifact, PipelineVersion
from search.services.pipelines.check_artifacts import unusable
from search.services.pipelines.delete_artifact import DELETE_ARTIFACTS, delete_artifact, uses_of, versions_with
from search.services.pipelines.pack_artifact import card_of, files_of, pack_artifact
from search.services.pipelines.serve_adapter import serving_of

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
"""HTML in a card is shown as text, because a card may quote names of a knowledge base."""


@admin.register(Artifact)
class ArtifactAdmin(ReadOnlyAdmin):
    """Weights with their card and metrics; a pipeline's version names the artifact that searches use."""

    when_empty = empty.ARTIFACTS
    list_display = ("id", "kind", "knowledge_base", "in_use", "code_version", "created")
    list_filter = ("kind", "knowledge_base")
    search_fields = ("id", "data_hash", "content_hash")
    list_select_related = ("knowledge_base",)
    date_hierarchy = "created"
    fieldsets = (
        (None, {"fields": ("id", "kind", "knowledge_base", "state", "used_by", "created")}),
        ("Model card", {"fields": ("card_shown",)}),
        ("Measured", {"fields": ("metrics_shown",)}),
        ("Files", {"fields": ("files_shown", "serving", "content_hash")}),
        ("How it was made", {"fields": ("configuration_shown", "data_hash", "code_version")}),
    )
    readonly_fields = (
        "id", "kind", "knowledge_base", "state", "used_by", "card_shown", "metrics_shown", "files_shown", "serving",
        "content_hash", "configuration_shown", "data_hash", "code_version", "created",
    )  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        """Add the address of the archive of an artifact's files."""
        download = self.admin_site.admin_view(require_safe(self.download))
        return [path("<str:pk>/download/", download, name="search_artifact_download"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Artifact]:
        """Say of each artifact whether an active version names it."""
        active = PipelineVersion.objects.filter(active=True).annotate(text=Cast("options", TextField()))
        found: QuerySet[Artifact] = super().get_queryset(request)
        return found.annotate(active=Exists(active.filter(text__contains=OuterRef("pk"))))

    def download(self, request: HttpRequest, pk: str) -> HttpResponseBase:
        """Send the files of an artifact as a ZIP archive."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        artifact = self.get_queryset(request).filter(pk=pk).first()
        if artifact is None:
            raise Http404("There is no such trained part.")
        try:
            packed = pack_artifact(artifact)
        except OSError as error:
            raise Http404("The files of this trained part are not on this machine.") from error
        # The archive is made anew for each part; its hash says whether it is still the same.
        tag = hashlib.file_digest(packed, "blake2b").hexdigest()[:32]
        return file_answer(request, packed, tag=f'"{tag}"', name=f"{artifact.pk}.zip", content_type="application/zip")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Users with the right may delete artifacts that nothing uses."""
        return request.user.has_perm(DELETE_ARTIFACTS)

    def get_deleted_objects(
        self, objs: Sequence[Artifact] | QuerySet[Artifact], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return what would be deleted; what uses one of the artifacts protects it, and is named."""
        protected = [f"{artifact.pk} is in use by {use}" for artifact in objs for use in uses_of(artifact)]
        listed = [f"{artifact.pk} and its {len(files_of(artifact))} files" for artifact in objs]
        return listed, {"trained parts": len(listed)}, set(), protected

    def delete_model(self, request: HttpRequest, obj: Artifact) -> None:
        """Delete an artifact, unless something has begun to use it since the page was shown."""
        self.delete_queryset(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """Delete artifacts, except those that something has begun to use since the page was shown."""
        for artifact in queryset:
            try:
                delete_artifact(artifact, user=request.user)
            except InvalidRequest as error:
                messages.error(request, str(error))

    @display(description="In use", boolean=True, ordering="active")
    def in_use(self, artifact: Artifact) -> bool:
        """Whether searches use it: an active version of a pipeline names it."""
        return bool(getattr(artifact, "active", False))

    @display(description="State")
    def state(self, artifact: Artifact) -> str:
        """Whether its files are those that were registered, and searches of its knowledge base can use it."""
        fault = unusable(artifact, artifact.knowledge_base)
        if fault:
            return fault
        if not artifact.content_hash:
            return "It can be used. It was made by a version of the code that recorded no hash of its files."
        return "It can be used: its files are those that were registered."

    @display(description="Used by")
    def used_by(self, artifact: Artifact) -> SafeString | str:
        """The versions of pipelines that name it, with links to their pages, where they are promoted."""
        rows = [
            (
                format_html(LINK, reverse("admin:search_pipelineversion_change", args=[version.pk]), str(version)),
                "active: the next searches use it" if version.active else "not active",
            )
            for version in versions_with(artifact)
        ]
        others = [use for use in uses_of(artifact) if not use.startswith("the active version")]
        shown = table(("Version", "State"), rows) if rows else "No version of a pipeline names it."
        return format_html("{} {}", shown, f"Also: {', '.join(others)}." if others else "")

    @display(description="Card")
    def card_shown(self, artifact: Artifact) -> SafeString | str:
        """The model card that its training has written."""
        card = card_of(artifact)
        if not card:
            return "It has no card."
        rendered = mark_safe(MARKDOWN.render(card))
        return format_html('<div class="model-card">{}</div>', _below(rendered))

    @display(description="Metrics")
    def metrics_shown(self, artifact: Artifact) -> SafeString | str:
        """The metrics as a table."""
        return readable(artifact.metrics)

    @display(description="Files")
    def files_shown(self, artifact: Artifact) -> SafeString | str:
        """The files with their lengths and hashes, and a link to all of them as an archive."""
        files = files_of(artifact)
        if not files:
            return "Its files are not on this machine."
        rows = [(one.name, filesizeformat(one.bytes), one.blake2b or "–") for one in files]
        address = reverse("admin:search_artifact_download", args=[artifact.pk])
        return format_html(
            "{}<p>{}</p>", table(("File", "Length", "BLAKE2b"), rows),
            format_html(LINK, address, "Download all as a ZIP archive"),
        )  # fmt: skip

    @display(description="Served by vLLM")
    def serving(self, artifact: Artifact) -> SafeString | str:
        """The command that serves its adapter, or why vLLM cannot."""
        served = serving_of(artifact)
        if served is None:
            return "It has no adapter of a language model, so there is nothing to serve."
        faults = format_html_join("", "<li>{}</li>", ((fault,) for fault in served.faults))
        command = format_html('<pre class="serve-command">{}</pre>', served.command) if served.command else ""
        return format_html("{}{}", command, format_html("<ul>{}</ul>", faults) if served.faults else "")

    @display(description="Configuration")
    def configuration_shown(self, artifact: Artifact) -> SafeString | str:
        """The configuration as a table."""
        return readable(artifact.configuration)


def _below(rendered: SafeString) -> SafeString:
    """Return a card with its headings below those of the page: the page has the only heading of the first level."""
    text = str(rendered)
    for level in (4, 3, 2, 1):
        text = text.replace(f"<h{level}>", f"<h{level + 2}>").replace(f"</h{level}>", f"</h{level + 2}>")
    return mark_safe(text)
