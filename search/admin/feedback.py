"""Feedback on the results of searches in the admin: read-only, with a link to each search."""

from __future__ import annotations

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin import empty
from search.admin.parts import ReadOnlyAdmin, VisibleValues
from search.models import Feedback

KIND_LABELS = {"right": "success", "wrong": "danger", "missing": "warning"}


@admin.register(Feedback)
class FeedbackAdmin(ReadOnlyAdmin):
    """What people said about results."""

    when_empty = empty.FEEDBACK
    counted = ("piece of feedback", "pieces of feedback")
    list_display = ("node_shown", "said", "rank", "question", "by", "created")
    list_filter = ("kind", ("run__knowledge_base_name", VisibleValues), "created")
    search_fields = ("node_id", "node_name", "run__question", "user__username")
    list_select_related = ("run", "user")
    date_hierarchy = "created"
    fields = readonly_fields = (
        "page", "question", "node_id", "node_name", "said", "rank", "note", "by", "created", "changed",
    )  # fmt: skip

    @display(description="Entity", ordering="node_name")
    def node_shown(self, given: Feedback) -> str:
        """The name of the node, or its id."""
        return (given.node_name or given.node_id)[:120]

    @display(description="Said", label=KIND_LABELS, ordering="kind")
    def said(self, given: Feedback) -> tuple[str, str]:
        """Right, wrong or missing."""
        return given.kind, given.get_kind_display()

    @display(description="Question", ordering="run__question")
    def question(self, given: Feedback) -> str:
        """The beginning of the question."""
        return given.run.question[:120] or "(empty)"

    @display(description="By")
    def by(self, given: Feedback) -> str:
        """The account, or the beginning of a visitor's hash, which tells visitors apart."""
        return given.user.get_username() if given.user else f"visitor {given.asker[:6]}" if given.asker else "–"

    @display(description="Page")
    def page(self, given: Feedback) -> SafeString:
        """Link to the page of the search."""
        address = reverse("search-results", args=[given.run_id])
        return format_html('<a class="text-primary-600 underline" href="{}">{}</a>', address, address)
