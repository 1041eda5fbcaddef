"""Artifacts in the admin: their training data and their metrics."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin import empty
from search.admin.parts import ReadOnlyAdmin, pretty
from search.models import Artifact


@admin.register(Artifact)
class ArtifactAdmin(ReadOnlyAdmin):
    """Weights with their metrics; a pipeline's version names the artifact that searches use."""

    when_empty = empty.ARTIFACTS
    list_display = ("id", "kind", "knowledge_base", "code_version", "created")
    list_filter = ("kind", "knowledge_base")
    search_fields = ("id", "data_hash")
    list_select_related = ("knowledge_base",)
    fields = readonly_fields = (
        "id", "kind", "knowledge_base", "configuration_shown", "metrics_shown", "data_hash", "code_version", "created",
    )  # fmt: skip

    @display(description="Configuration")
    def configuration_shown(self, artifact: Artifact) -> SafeString | str:
        """The configuration as readable JSON."""
        return pretty(artifact.configuration)

    @display(description="Metrics")
    def metrics_shown(self, artifact: Artifact) -> SafeString | str:
        """The metrics as readable JSON."""
        return pretty(artifact.metrics)
