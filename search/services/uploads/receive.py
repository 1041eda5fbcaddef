"""receive: append a piece to a file of an upload."""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass
from typing import IO, Any

from django.db import OperationalError, transaction
from psycopg.errors import LockNotAvailable

from search.models import Upload, UploadFile
from search.services.uploads.errors import NoSpace, UploadConflict, WrongChecksum

BLOCK = 1 << 20
ALGORITHMS = ("sha1", "sha256")


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksum of a piece as its sender states it; `algorithm` is one of ALGORITHMS."""

    algorithm: str
    digest: bytes


def receive(*, file: UploadFile, offset: int, content: IO[bytes] | Any, checksum: Checksum | None = None) -> int:
    """Append what `content` holds at `offset`, and return the new offset; memory holds one block at a time.

    The piece is on the disk before its end is recorded, so that a recorded offset is never wrong: if the process dies
    in between, the sender sends the piece again. Raises UploadConflict if the piece does not begin at the file's
    offset, is longer than the rest of the file, or another piece arrives at the same time; WrongChecksum if the piece
    has another checksum; NoSpace if the disk is full. Then nothing of the piece is kept.
    """
    try:
        with transaction.atomic():
            locked = UploadFile.objects.select_for_update(nowait=True).select_related("upload").get(pk=file.pk)
            if locked.upload.state != Upload.State.RECEIVING:
                raise UploadConflict("This upload is complete.")
            if offset != locked.offset:
                raise UploadConflict(f"{locked.name!r} continues at byte {locked.offset}, not at {offset}.")
            locked.offset += _write(locked, content, checksum)
            locked.save(update_fields=["offset", "changed"])
            Upload.objects.get(pk=locked.upload_id).save(update_fields=["changed"])
            return locked.offset
    except UploadFile.DoesNotExist:
        raise UploadConflict("This upload was discarded.") from None
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise UploadConflict(f"Another piece of {file.name!r} is being received; ask for its offset.") from error
        raise


def _write(file: UploadFile, content: IO[bytes] | Any, checksum: Checksum | None) -> int:
    """Write a piece behind what was received; return its length."""
    left = file.size - file.offset
    digest = hashlib.new(checksum.algorithm) if checksum else None
    written = 0
    try:
        with os.fdopen(os.open(file.path, os.O_WRONLY | os.O_NOFOLLOW), "wb") as target:
            target.truncate(file.offset)
            target.seek(file.offset)
            while block := content.read(BLOCK):
                written += len(block)
                if written > left:
                    raise UploadConflict(f"The piece is longer than the {left:,} bytes that {file.name!r} lacks.")
                target.write(block)
                if digest is not None:
                    digest.update(block)
            target.flush()
            os.fsync(target.fileno())
    except FileNotFoundError:
        raise UploadConflict("The content of this upload was deleted; begin a new one.") from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NoSpace(f"The disk is full; {file.name!r} has {file.offset:,} bytes so far.") from error
    if digest is not None and checksum is not None and digest.digest() != checksum.digest:
        raise WrongChecksum(f"The piece was not received as it was sent: its {checksum.algorithm} is another.")
    return written
