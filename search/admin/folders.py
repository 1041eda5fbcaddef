"""Folders of the server from which pages may import; only superusers add them, because files below become readable."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextInputWidget

from search.admin import empty
from search.models import ServerFolder
from search.services.audit.note import note
from search.services.imports.place import root_fault


class FolderForm(forms.ModelForm):
    """A folder that is there, and that does not hold the site's own data."""

    class Meta:
        model = ServerFolder
        fields = ["path", "note"]
        widgets = {name: UnfoldAdminTextInputWidget(attrs={"spellcheck": "false"}) for name in ("path", "note")}

    def clean_path(self) -> str:
        """Return the path, or refuse it with the reason."""
        path = str(self.cleaned_data["path"]).strip()
        if fault := root_fault(path):
            raise forms.ValidationError(fault)
        return path


@admin.register(ServerFolder)
class ServerFolderAdmin(ModelAdmin):
    """The folders of the server that imports may read."""

    form = FolderForm
    when_empty = empty.FOLDERS
    list_display = ("path", "note", "created")

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Superusers alone: whoever adds a folder makes its files readable on pages."""
        return bool(request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Superusers alone."""
        return bool(request.user.is_superuser)

    has_add_permission = has_change_permission = has_delete_permission = has_view_permission

    def save_model(self, request: HttpRequest, obj: ServerFolder, form: Any, change: bool) -> None:
        """Save it, and note who did."""
        super().save_model(request, obj, form, change)
        note("folder of the server changed" if change else "folder of the server added", obj, user=request.user)

    def delete_model(self, request: HttpRequest, obj: ServerFolder) -> None:
        """Delete it, and note who did; nothing on the disk is touched."""
        note("folder of the server removed", obj, user=request.user)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ServerFolder]) -> None:
        """Delete several, each with its note."""
        for folder in queryset:
            self.delete_model(request, folder)
