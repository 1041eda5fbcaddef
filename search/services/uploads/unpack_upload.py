"""unpack_upload: check and unpack what was received, in a worker."""

from __future__ import annotations

import errno
import shutil
import uuid
from functools import partial

from django.conf import settings
from django.db import transaction

from search.domain.run_context import RunContext
from search.ingest.unpack.limits import Limits, UnpackRefused
from search.ingest.unpack.unpack import Received, Unpacked, unpack
from search.models import Upload
from search.services.uploads.begin_upload import MEGABYTE
from search.services.uploads.errors import NoSpace, UploadConflict

PART = "Unpacking"
_WORKING = "unpacking-"


def unpack_upload(*, upload: Upload, run: RunContext | None = None) -> Upload:
    """Unpack an upload whose files are all there, and return it: its content is then a folder that can be imported.

    Nothing happens if it is unpacked already. Raises UnpackRefused after the reason was recorded, UploadConflict if a
    file is not complete, NoSpace if the disk is full; nothing is half-unpacked in any case.
    """
    run = run or RunContext()
    if upload.state == Upload.State.READY:
        return upload
    if faults := unfinished(upload):
        raise UploadConflict(faults)
    files = list(upload.files.all())
    for old in upload.directory.glob(f"{_WORKING}*"):
        shutil.rmtree(old, ignore_errors=True)
    folder = upload.directory / f"{_WORKING}{uuid.uuid4().hex}"
    total = sum(file.size for file in files)
    received = [Received(file.name, file.path, file.stated_sha256) for file in files]
    try:
        found = unpack(received, folder, limits(), lambda done: run.progress(PART, done, total), run.check)
    except UnpackRefused as error:
        with run.fenced():
            upload.state, upload.reason = Upload.State.REFUSED, str(error)
            upload.save(update_fields=["state", "reason", "changed"])
        raise
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NoSpace("The disk has no room for the unpacked files.") from error
    try:
        with run.fenced(), transaction.atomic():
            _keep(upload, found)
            shutil.rmtree(upload.content, ignore_errors=True)
            folder.rename(upload.content)
            # The received files are kept until the rows are committed, so that a failure can begin again.
            transaction.on_commit(partial(shutil.rmtree, upload.directory / "incoming", ignore_errors=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return upload


def unfinished(upload: Upload) -> str:
    """Return a sentence that says why the upload cannot be unpacked yet, or an empty text."""
    if upload.state == Upload.State.REFUSED:
        return f"This upload was refused: {upload.reason}"
    files = list(upload.files.all())
    if not files:
        return "This upload has no files."
    missing = [file for file in files if file.offset < file.size]
    if missing:
        first = missing[0]
        more = f", and {len(missing) - 1} more files are not complete" if len(missing) > 1 else ""
        return f"{first.name!r} has {first.offset:,} of {first.size:,} bytes{more}."
    return ""


def limits() -> Limits:
    """Return the limits of the settings."""
    return Limits(files=settings.GRASP_UPLOAD_FILES, size=settings.GRASP_UPLOAD_UNPACKED_MEGABYTES * MEGABYTE)


def _keep(upload: Upload, found: Unpacked) -> None:
    for file in upload.files.all():
        file.sha256 = found.sha256.get(file.name, "")
        file.save(update_fields=["sha256"])
    upload.state, upload.reason = Upload.State.READY, ""
    upload.report = {"files": len(found.files), "bytes": found.bytes, "left_out": found.left_out}
    upload.save(update_fields=["state", "reason", "report", "changed"])
