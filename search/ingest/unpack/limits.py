"""Limits of unpacking, and what breaks them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

LONGEST_PATH = 500
LONGEST_NAME_BYTES = 200
"""Most bytes of one part of a path: file systems allow 255, and a suffix may be added."""
DIRECTORY_BYTES_A_FILE = 400
"""Bytes of a zip's directory for each allowed file; more means that it lists more files, or longer names."""
GRACE = 10 << 20
"""Unpacked bytes up to which no ratio is suspicious: a small file of zeros harms nobody."""


class UnpackRefused(Exception):
    """The upload is refused; the text is a sentence for people that names the file."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Most files, most unpacked bytes of all of them, and the largest ratio of unpacked to packed bytes."""

    files: int = 10_000
    size: int = 100 << 30
    ratio: int = 200


class Meter:
    """Counts unpacked files and bytes; raises UnpackRefused as soon as a limit is passed.

    `packed` is the size of the packed file. `before` is the meter of the file before it: the limits of number and size
    hold for all files together, the ratio for each of them.
    """

    def __init__(self, limits: Limits, packed: int, name: str, before: Meter | None = None) -> None:
        self.limits = limits
        self._packed = max(1, packed)
        self._name = name
        self._begun: int = before.bytes if before else 0
        self.files: int = before.files if before else 0
        self.bytes: int = self._begun

    def file(self) -> None:
        """Count an entry."""
        self.files += 1
        if self.files > self.limits.files:
            raise UnpackRefused(f"{self._name} holds more than {self.limits.files:,} files.")

    def take(self, count: int) -> None:
        """Count unpacked bytes."""
        self.bytes += count
        if self.bytes > self.limits.size:
            raise UnpackRefused(f"{self._name} unpacks to more than {size(self.limits.size)}.")
        own = self.bytes - self._begun
        if own > GRACE and own > self.limits.ratio * self._packed:
            raise UnpackRefused(
                f"{self._name} unpacks to more than {self.limits.ratio} times its size, as zip bombs do. "
                "If that is right, upload the file unpacked."
            )


class GuardedFile(io.RawIOBase):
    """A readable, seekable file that refuses to read more than `largest` bytes at once.

    Libraries read a directory or a header in one piece, with the length that the file itself states.
    """

    def __init__(self, raw: Any, largest: int, refusal: str) -> None:
        self._raw = raw
        self._largest = largest
        self._refusal = refusal

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = 0) -> int:
        return int(self._raw.seek(position, whence))

    def tell(self) -> int:
        return int(self._raw.tell())

    def read(self, count: int | None = -1) -> bytes:
        if count is None or count < 0:
            at = self._raw.tell()
            count = self._raw.seek(0, io.SEEK_END) - at
            self._raw.seek(at)
        if count > self._largest:
            raise UnpackRefused(self._refusal)
        return bytes(self._raw.read(count))


def safe_path(name: str, archive: str) -> PurePosixPath:
    """Return the path of an archive's entry; UnpackRefused if it leads out of the folder or cannot be a path."""
    shown = f"{archive} holds {name[:100]!r}"
    if not name or "\0" in name or "\\" in name or any(ord(sign) < 32 for sign in name):
        raise UnpackRefused(f"{shown}, which is no path: it is empty, or has a backslash or a control character.")
    try:
        size_of_parts = [len(part.encode()) for part in name.split("/")]
    except UnicodeEncodeError:
        raise UnpackRefused(f"{shown}, which is not UTF-8.") from None
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or (len(name) > 1 and name[1] == ":"):
        raise UnpackRefused(f"{shown}, which leads out of the folder.")
    if len(name) > LONGEST_PATH or max(size_of_parts) > LONGEST_NAME_BYTES:
        raise UnpackRefused(f"{shown}…, a path of more than {LONGEST_PATH} characters or {LONGEST_NAME_BYTES} a part.")
    return path


def size(count: int) -> str:
    """Return a number of bytes for people."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} bytes"
