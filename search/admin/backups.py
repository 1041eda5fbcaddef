"""Backups in the admin: the list, one of them with the commands that restore it, its check, download and removal."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST, require_safe

from search.admin.backup_shown import commands, list_page, shown
from search.admin.parts import ReadOnlyAdmin
from search.domain.errors import InvalidRequest, NotAllowed
from search.downloads import FileAnswer, file_answer, file_tag
from search.models import BackupRun, Job
from search.services.access.rights import DOWNLOAD_BACKUPS, LAUNCH_JOBS, MAKE_BACKUPS, REMOVE_BACKUPS
from search.services.backup.kept import file_of, note_found, refusal, remove_backup
from search.services.backup.note_download import note_download
from search.services.jobs.launch import launch_job
from search.services.knowledge.removal import Removal

LIST = "admin:search_backuprun_changelist"


@admin.register(BackupRun)
class BackupAdmin(ReadOnlyAdmin):
    """Backups: made and checked by jobs, sent to whoever may have them; restoring one is a command."""

    def get_urls(self) -> list[URLPattern]:
        """Add the addresses of the file and of the button that checks it."""
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/check/", view(require_POST(self.check_one)), name="search_backuprun_check"),
            path("<int:pk>/download/", view(require_safe(self.download)), name="search_backuprun_download"),
            *super().get_urls(),
        ]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Users with the right may remove backups, one at a time."""
        return request.user.has_perm(REMOVE_BACKUPS)

    def may(self, request: HttpRequest) -> dict[str, bool]:
        """Return what the user may do with backups, for the templates."""
        user = request.user
        return {
            "may_make": user.has_perm(LAUNCH_JOBS) and user.has_perm(MAKE_BACKUPS),
            "may_download": user.has_perm(DOWNLOAD_BACKUPS), "may_remove": user.has_perm(REMOVE_BACKUPS),
            "may_schedule": user.has_perm("search.add_jobschedule") and user.has_perm(MAKE_BACKUPS),
        }  # fmt: skip

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show the backups, where they go, and what makes them."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        note_found()
        context = self.admin_site.each_context(request) | list_page() | self.may(request)
        return render(request, "admin/search/backup/list.html", context | {"opts": self.opts, "title": "Backups"})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show one backup, and the commands that restore it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        backup = shown(self._found(object_id))
        context = self.admin_site.each_context(request) | self.may(request) | {
            "opts": self.opts, "title": "Backup", "subtitle": backup.name, "backup": backup,
            "commands": commands(backup),
        }  # fmt: skip
        return render(request, "admin/search/backup/page.html", context)

    def check_one(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Launch the job that compares a backup with its hashes, and lead to its page."""
        backup = self._found(pk)
        try:
            job, _ = launch_job(
                kind="check_backup", arguments={"file": backup.place}, user=request.user, origin=Job.Origin.PAGE
            )
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        except InvalidRequest as error:
            messages.error(request, " ".join(fault.message for fault in error.faults))
            return redirect(LIST)
        return redirect("admin:search_job_change", job.pk)

    def download(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Send the file of a backup, or the part that is asked for, while it is read."""
        if not request.user.has_perm(DOWNLOAD_BACKUPS):
            raise PermissionDenied
        backup = self._found(pk)
        file = file_of(backup)
        if file is None:
            raise Http404("The file of this backup is not there.")
        try:
            opened = file.open("rb")
        except OSError as error:
            raise Http404(f"The file of this backup cannot be read: {error.strerror}.") from error
        answer = file_answer(request, opened, tag=file_tag(opened), name=file.name)
        if isinstance(answer, FileAnswer):
            note_download(backup, start=answer.start, user=request.user)
        return answer

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Show what the removal means; remove it when the page's button is pressed."""
        if not self.has_delete_permission(request):
            raise PermissionDenied
        row = self._found(object_id)
        backup = shown(row)
        if request.method == "POST":
            try:
                remove_backup(row, user=request.user)
            except InvalidRequest as error:
                messages.error(request, " ".join(fault.message for fault in error.faults))
            else:
                messages.success(request, f"{backup.name} was removed.")
                return redirect(LIST)
        context = self.admin_site.each_context(request) | {
            "opts": self.opts, "title": f"Remove {backup.name}?", "row": row, "removal": _removal(row),
            "back": reverse("admin:search_backuprun_change", args=[row.pk]),
        }  # fmt: skip
        return render(request, "admin/search/removal.html", context)

    def _found(self, pk: Any) -> BackupRun:
        backup = BackupRun.objects.filter(pk=pk).first() if str(pk).isdecimal() else None
        if backup is None:
            raise Http404("There is no such backup; somebody may have removed it.")
        return backup


def _removal(row: BackupRun) -> Removal:
    """Return what the removal of a backup means."""
    backup = shown(row)
    others = [one for one in BackupRun.objects.good().exclude(pk=row.pk) if file_of(one)]
    if backup.there:
        goes = f"the file {backup.place}, {backup.size}: {backup.inside or 'nobody knows what is inside'}"
    elif backup.size != "–":
        goes = f"what is left of it, {backup.size}, so that it cannot be resumed"
    else:
        goes = "its line in this list; there is no file"
    newest = max((one.started for one in others), default=None)
    stays = (
        f"{len(others)} other backups, the newest of {newest:%Y-%m-%d %H:%M} UTC" if newest else
        "no other backup: until the next one is made, nothing can be restored"
    )  # fmt: skip
    return Removal((goes,), (stays,), tuple(filter(None, [refusal(row)])))
