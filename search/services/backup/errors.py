"""BackupError: why there is no backup, or why one was not restored."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BackupError(Exception):
    """The backup or the restore has ended without a result; the text is a sentence for people."""


class DamagedBackup(BackupError):
    """The file is not what `backup` wrote, so that what was prepared from it is of no use."""


@contextmanager
def told_when_full(folder: Path, left: str) -> Iterator[None]:
    """Raise BackupError instead of the operating system's error for a full disk, or for a folder that refuses writing.

    `left` says what to do next.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise BackupError(f"The disk of {folder} is full. {left}") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO):
            raise BackupError(f"{error.filename or folder} cannot be used: {error.strerror}. {left}") from error
        raise


def size(number: float) -> str:
    """Return a number of bytes for people."""
    for unit, of in (("GB", 1024**3), ("MB", 1024**2)):
        if number >= of:
            return f"{number / of:,.1f} {unit}"
    return f"{number / 1024:,.0f} KB"
