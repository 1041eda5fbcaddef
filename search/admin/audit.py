"""The audit log: read, filtered and saved as CSV, never changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin import empty
from search.admin.parts import ReadOnlyAdmin
from search.admin.readable import readable
from search.domain.errors import NotNow
from search.downloads import csv_answer
from search.models import AuditEntry

HEADER = (
    "at", "who", "action", "object type", "object id", "object", "details", "door", "address", "request id",
)  # fmt: skip


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Who did what, when, from where, and to which object."""

    when_empty = empty.AUDIT
    counted = ("entry", "entries")
    change_list_template = "admin/search/auditentry/change_list.html"
    list_display = ("at", "who", "action", "object_type", "object_name", "door", "address")
    list_filter = ("action", "door", "object_type", "at")
    search_fields = ("who", "object_name", "object_id", "address", "request_id")
    date_hierarchy = "at"
    fields = (
        "at", "who", "user", "action", "object_type", "object_id", "object_name", "details_shown", "door", "address",
        "request_id",
    )  # fmt: skip
    readonly_fields = fields

    def get_urls(self) -> list[URLPattern]:
        """Add the address of the file."""
        export = self.admin_site.admin_view(self.export)
        return [path("export.csv", export, name="search_auditentry_export"), *super().get_urls()]

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """Return the entries that the list shows with the same filters, as CSV; wrong filters lead to the list."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            found: QuerySet[AuditEntry] = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:
            # The list itself answers so, and says that its filters were not understood.
            return redirect(f"{reverse('admin:search_auditentry_changelist')}?e=1")
        try:
            return csv_answer(request, _rows(found), "audit-log.csv")
        except NotNow as error:
            messages.error(request, error.reason)
            return redirect("admin:search_auditentry_changelist")

    @display(description="Details")
    def details_shown(self, entry: AuditEntry) -> SafeString | str:
        """The details as a table."""
        return readable(entry.details)


def _rows(entries: QuerySet[AuditEntry]) -> Iterator[Sequence[Any]]:
    yield HEADER
    for entry in entries.iterator(chunk_size=1000):
        details = "; ".join(f"{key}: {value}" for key, value in entry.details.items())
        yield (
            entry.at.isoformat(), entry.who, entry.action, entry.object_type, entry.object_id, entry.object_name,
            details, entry.door, entry.address, entry.request_id,
        )  # fmt: skip
