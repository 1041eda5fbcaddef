"""note_download: write into the audit log that an account gets the file of a backup, once for each download."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone

from search.models import AuditEntry, BackupRun
from search.services.audit.note import note

DOWNLOADED = "backup downloaded"
CONTINUED = "backup download continued"
ONE_DOWNLOAD = timedelta(days=1)
"""Later parts within this time after the last note belong to the download that was noted."""


def note_download(backup: BackupRun, *, start: int, user: AbstractBaseUser | AnonymousUser) -> None:
    """Note a download that begins at byte `start` of the file.

    A later part is noted as a continuation, and only the first of them: over a bad line, one download asks for many.
    It is noted without a beginning, too, because a part may hold nearly all of the file.
    """
    if not start:
        note(DOWNLOADED, backup, name=Path(backup.place).name, user=user, bytes=backup.bytes)
        return
    last = AuditEntry.objects.filter(
        user_id=int(user.pk or 0), object_type=BackupRun._meta.verbose_name, object_id=str(backup.pk),
        action__in=(DOWNLOADED, CONTINUED), at__gte=timezone.now() - ONE_DOWNLOAD,
    ).order_by("-at", "-pk").first()  # fmt: skip
    if last is None or last.action != CONTINUED:
        note(CONTINUED, backup, name=Path(backup.place).name, user=user, bytes=backup.bytes, from_byte=start)
