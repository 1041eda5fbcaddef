"""Versions of pipelines: what runs have used is frozen."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin.parts import Evidence, pretty
from search.models import PipelineVersion


@admin.register(PipelineVersion)
class PipelineVersionAdmin(Evidence):
    """The options that a knowledge base lays over a pipeline of the site."""

    list_display = ("pipeline", "version", "knowledge_base", "active", "note", "author", "created")
    list_display_links = ("pipeline", "version")
    list_filter = ("pipeline", "active", "knowledge_base")
    search_fields = ("pipeline", "note")
    list_select_related = ("knowledge_base", "author")
    fields = readonly_fields = (
        "knowledge_base", "pipeline", "version", "active", "options_shown", "note", "author", "created",
    )  # fmt: skip

    @display(description="Options")
    def options_shown(self, version: PipelineVersion) -> SafeString | str:
        """The options, to read."""
        return pretty(version.options)
