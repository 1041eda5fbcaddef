"""begin_upload, add_file: make the rows of an upload and of its files, before their content is sent."""

from __future__ import annotations

import re
import shutil

from django.conf import settings
from django.db import transaction
from django.db.models import F, Sum

from search.domain.errors import Fault, InvalidRequest
from search.domain.unstorable import storable
from search.ingest.unpack.limits import UnpackRefused, safe_path, size
from search.models import Upload, UploadFile
from search.services.access.visitors import User
from search.services.audit.note import note
from search.services.uploads.errors import NoSpace, UploadConflict, UploadTooLarge

MEGABYTE = 1 << 20
SPARE = 1 << 30
"""Bytes of the disk that uploads leave free."""
LONGEST_NAME = 200
LONGEST_TITLE = 200
_SHA256 = re.compile(r"[0-9a-f]{64}")


def begin_upload(*, user: User, title: object = "") -> Upload:
    """Make an upload without files and return it. Raises InvalidRequest if the title is no short text."""
    if not isinstance(title, str) or len(title) > LONGEST_TITLE or not storable(title):
        message = f"'title' is a text of at most {LONGEST_TITLE} characters, without NUL and half characters."
        raise InvalidRequest([Fault("/title", message)])
    upload = Upload(title=title.strip(), user_id=user.pk if user is not None and user.is_authenticated else None)
    upload.save()
    note("upload begun", upload, user=user)
    return upload


def add_file(*, upload: Upload, name: str, file_size: int, sha256: str = "") -> UploadFile:
    """Add a file to an upload that still receives, and return it; if it is there already with this size, return that.

    So a sender who has lost the file's address gets it again and goes on. Raises InvalidRequest, UploadTooLarge (limits
    of the site), NoSpace (the disk), UploadConflict (unpacked already, or the name is taken by a file of another size).
    """
    _check_name(name, sha256)
    with transaction.atomic():
        # The lock makes the sums of two files that are added at the same time right.
        locked = Upload.objects.select_for_update().get(pk=upload.pk)
        if locked.state != Upload.State.RECEIVING:
            raise UploadConflict("This upload is complete; begin a new one for further files.")
        there = locked.files.filter(name=name).first()
        if there is not None:
            if there.size != file_size:
                raise UploadConflict(f"{name!r} is in this upload already, with {there.size:,} bytes.")
            return there
        _check_size(locked, name, file_size)
        file = UploadFile(upload=locked, name=name, size=file_size, stated_sha256=sha256)
        file.path.parent.mkdir(parents=True, exist_ok=True)
        file.path.touch()
        file.save()
        locked.save(update_fields=["changed"])
    return file


def _check_name(name: str, sha256: str) -> None:
    faults = []
    try:
        if len(safe_path(name, "The upload").parts) > 1 or len(name) > LONGEST_NAME:
            faults.append(Fault("/filename", f"A file's name has at most {LONGEST_NAME} characters and no slash."))
    except UnpackRefused as error:
        faults.append(Fault("/filename", str(error)))
    if sha256 and not _SHA256.fullmatch(sha256):
        faults.append(Fault("/sha256", "'sha256' is written as 64 hexadecimal digits in lower case."))
    if faults:
        raise InvalidRequest(faults)


def _check_size(upload: Upload, name: str, file_size: int) -> None:
    """Raise UploadTooLarge or NoSpace if the file does not fit."""
    largest = settings.GRASP_UPLOAD_MEGABYTES * MEGABYTE
    before = upload.files.aggregate(total=Sum("size"))["total"] or 0
    if before + file_size > largest:
        already = f", with {size(before)} before it" if before else ""
        allowed = f"an upload has at most {size(largest)} (GRASP_UPLOAD_MEGABYTES)"
        raise UploadTooLarge(f"{name!r} has {size(file_size)}{already}; {allowed}.")
    if upload.files.count() >= settings.GRASP_UPLOAD_FILES:
        raise UploadTooLarge(f"An upload has at most {settings.GRASP_UPLOAD_FILES:,} files; send them in an archive.")
    free = shutil.disk_usage(settings.GRASP_HOME).free
    waiting = UploadFile.objects.filter(upload__state=Upload.State.RECEIVING)
    promised = waiting.aggregate(missing=Sum(F("size") - F("offset")))["missing"] or 0
    if file_size + promised + SPARE > free:
        raise NoSpace(
            f"{name!r} has {size(file_size)}, but the disk has {size(free)} free, of which {size(promised)} are "
            f"promised to other uploads and {size(SPARE)} are kept free."
        )
