"""discard_upload, delete_old_uploads: remove uploads with their files."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from search.models import Job, Upload, UploadFile
from search.models.uploads import FOLDER
from search.services.audit.note import note
from search.services.leftovers import delete_leftovers, ids
from search.services.uploads.errors import UploadConflict


def discard_upload(upload: Upload) -> None:
    """Delete an upload with its files. Raises UploadConflict while a job that uses it waits or runs."""
    if in_use(upload):
        raise UploadConflict("A job that uses this upload waits or runs; cancel it first.")
    note("upload discarded", upload)
    _delete(upload)


def remove_file(file: UploadFile) -> None:
    """Remove a file from an upload that is not unpacked. Raises UploadConflict if it is, or while a job uses it."""
    if file.upload.state != Upload.State.RECEIVING or in_use(file.upload):
        raise UploadConflict("This upload is complete; discard it as a whole.")
    path = file.path
    file.delete()
    path.unlink(missing_ok=True)


def delete_old_uploads(days: int | None = None) -> int:
    """Delete the uploads that have not changed for `days` days (None: the setting), and return their number.

    Folders without a row, which a crash may leave, are deleted too.
    """
    kept_days = settings.GRASP_UPLOAD_DAYS if days is None else days
    before = timezone.now() - timedelta(days=kept_days)
    old = [upload for upload in Upload.objects.filter(changed__lt=before) if not in_use(upload)]
    for upload in old:
        _delete(upload)
    delete_leftovers(Path(settings.GRASP_HOME) / FOLDER, kept_days, _uploads)
    return len(old)


def in_use(upload: Upload) -> bool:
    """Whether a job that uses the upload waits or runs."""
    return Job.objects.filter(state__in=Job.LIVE, arguments__upload=str(upload.pk)).exists()


def _delete(upload: Upload) -> None:
    # The row goes first: a folder without a row is found by the retention, a row without a folder would mislead.
    directory = upload.directory
    upload.delete()
    shutil.rmtree(directory, ignore_errors=True)


def _uploads(names: Collection[str]) -> set[str]:
    """Return those names that are ids of uploads."""
    return {str(upload.pk) for upload in Upload.objects.filter(pk__in=ids(names))}
