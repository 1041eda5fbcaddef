"""The page that asks before something large is removed: what goes, what stays, and what refuses it."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from unfold.admin import ModelAdmin

from search.models import KnowledgeBase, Release
from search.services.knowledge.delete_knowledge_base import DeletionReport, delete_knowledge_base
from search.services.knowledge.releases import ReleaseError, drop_release
from search.services.knowledge.removal import Removal, removal_of_base, removal_of_release

DELETE_BASES, DROP_RELEASES = "search.delete_knowledgebase", "search.delete_release"


class RemovalPage(ModelAdmin):
    """An admin whose rows are removed one at a time, by a service, after a page that says what this means.

    Django's own deletion would leave partitions, index files and folders behind; its action for many rows is off.
    """

    removal_right: ClassVar[str]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Users with the right see the button that leads to the page."""
        return request.user.has_perm(self.removal_right)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Leave out the action that deletes many rows at once."""
        return {name: made for name, made in super().get_actions(request).items() if name != "delete_selected"}

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Show what the removal means; remove it when the page's button is pressed."""
        row = self.get_object(request, object_id)
        if not self.has_delete_permission(request, row):
            raise PermissionDenied
        if row is None:
            raise Http404("It is not there; somebody may have removed it.")
        if request.method == "POST":
            try:
                messages.success(request, self.remove(row))
                return redirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))
            except ReleaseError as error:
                messages.error(request, str(error))
        back = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[row.pk])
        removal = self.removal_of(row)
        shown = {"opts": self.opts, "title": f"Delete {row}?", "row": row, "removal": removal, "back": back}
        return render(request, "admin/search/removal.html", self.admin_site.each_context(request) | shown)

    def removal_of(self, row: Any) -> Removal:
        """Return what the removal of a row means."""
        raise NotImplementedError

    def remove(self, row: Any) -> str:
        """Remove a row, and return a sentence that says so. Raises ReleaseError."""
        raise NotImplementedError


class RemovalOfBases(RemovalPage):
    """Knowledge bases are deleted with all that only they have."""

    removal_right = DELETE_BASES

    def removal_of(self, row: KnowledgeBase) -> Removal:
        """Return what the deletion of a knowledge base means."""
        return removal_of_base(row)

    def remove(self, row: KnowledgeBase) -> str:
        """Delete a knowledge base."""
        name = row.name
        return _deleted(name, delete_knowledge_base(knowledge_base=row))


class RemovalOfReleases(RemovalPage):
    """Releases are dropped; their rows stay, so that their numbers are not used again."""

    removal_right = DROP_RELEASES

    def removal_of(self, row: Release) -> Removal:
        """Return what the removal of a release means."""
        return removal_of_release(row)

    def remove(self, row: Release) -> str:
        """Drop a release."""
        drop_release(knowledge_base=row.knowledge_base, release=row)
        return f"{row} was dropped: its data is gone, its number stays."


def _deleted(name: str, report: DeletionReport) -> str:
    kept = f" Other knowledge bases still use {', '.join(report.kept)}." if report.kept else ""
    return f"{name} was deleted. Releases: {report.releases}; trained parts: {report.artifacts}.{kept}"
