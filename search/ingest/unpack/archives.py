"""Entries of zip and tar archives, read without trusting what the archive says of itself."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from search.ingest.unpack.content import HEAD, compression_of, is_tar, unpacked
from search.ingest.unpack.limits import DIRECTORY_BYTES_A_FILE, GuardedFile, Meter, UnpackRefused, safe_path

HEADER_BYTES = 1 << 20
"""Most bytes that tar headers may take between two files; a long name takes some thousand."""
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True)
class ArchiveEntry:
    """A file in an archive; `stream` must be read before the next entry is asked for."""

    path: PurePosixPath
    stream: IO[bytes]


def is_archive(path: Path, name: str) -> bool:
    """Whether the file's content is a zip or tar archive; UnpackRefused if its name says so and it is none."""
    with path.open("rb") as raw:
        head = raw.read(HEAD)
    says_zip, says_tar = name.lower().endswith(".zip"), _says_tar(name)
    if head.startswith(ZIP_MAGIC):
        return True
    if says_zip:
        raise UnpackRefused(f"{name} is not what its name says: it is no zip archive.")
    packed = _with_packing(path, name) if says_tar else name
    if compression_of(packed):
        try:
            with unpacked(path, packed) as stream:
                head = stream.read(HEAD)
        except UnpackRefused:
            head = b""
    if says_tar and not is_tar(head):
        raise UnpackRefused(f"{name} is not what its name says: it is no tar archive.")
    return is_tar(head)


def _says_tar(name: str) -> bool:
    lowered = name.lower()
    return lowered.endswith((".tar", ".tgz", ".tar.gz", ".tar.zst"))


def entries(path: Path, name: str, meter: Meter) -> Iterator[ArchiveEntry]:
    """Yield the files of an archive; folders are left out. Raises UnpackRefused."""
    with path.open("rb") as raw:
        is_zip = raw.read(4) in ZIP_MAGIC
    try:
        yield from _zip(path, name, meter) if is_zip else _tar(path, name, meter)
    except (zipfile.BadZipFile, tarfile.TarError, NotImplementedError, EOFError, OverflowError) as error:
        raise UnpackRefused(f"{name} is a damaged archive: {error}") from error


def _zip(path: Path, name: str, meter: Meter) -> Iterator[ArchiveEntry]:
    limits = meter.limits
    # `zipfile` reads the whole directory into memory, with the length that the archive states.
    largest = max(1 << 20, limits.files * DIRECTORY_BYTES_A_FILE)
    refusal = f"{name} lists more than {limits.files:,} files, or its directory is damaged."
    with path.open("rb") as raw:
        guarded: Any = GuardedFile(raw, largest, refusal)
        with zipfile.ZipFile(guarded) as archive:
            if len(archive.infolist()) > limits.files:
                raise UnpackRefused(f"{name} holds more than {limits.files:,} files.")
            for info in archive.infolist():
                meter.file()
                target = safe_path(info.filename, name)
                _check_mode(info.external_attr >> 16, info.filename, name)
                if info.flag_bits & 1:
                    raise UnpackRefused(f"{name} holds {info.filename[:100]!r}, which needs a password.")
                if info.is_dir():
                    continue
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise UnpackRefused(f"{name} holds {info.filename[:100]!r}, which is packed by an unusual method.")
                try:
                    with archive.open(info) as stream:
                        yield ArchiveEntry(target, stream)
                except RuntimeError as error:
                    raise UnpackRefused(
                        f"{name} holds {info.filename[:100]!r}, which cannot be unpacked: {error}"
                    ) from error


def _check_mode(mode: int, entry: str, name: str) -> None:
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a link" if kind == stat.S_IFLNK else "a device or another special file"
        raise UnpackRefused(f"{name} holds {entry[:100]!r}, which is {what}; only files and folders are taken.")


class _Forward(io.RawIOBase):
    """A stream as a file that can only be sought forwards.

    `allowance` is the number of bytes that may still be read: `tarfile` reads a long header in one piece, with the
    length that the archive states.
    """

    def __init__(self, stream: IO[bytes], name: str, meter: Meter) -> None:
        self._stream = stream
        self._name = name
        self._meter = meter
        self._position = 0
        self.allowance: int | None = HEADER_BYTES

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, position: int, whence: int = 0) -> int:
        if whence != 0 or position < self._position:
            raise UnpackRefused(f"{self._name} is a damaged archive: it points backwards.")
        while self._position < position:
            block = self._stream.read(min(1 << 20, position - self._position))
            if not block:
                break
            self._position += len(block)
            self._meter.take(len(block))
        return self._position

    def read(self, count: int | None = -1) -> bytes:
        if self.allowance is not None:
            if count is None or count < 0 or count > self.allowance:
                raise UnpackRefused(f"{self._name} has a header of more than {HEADER_BYTES >> 20} MB.")
            self.allowance -= count
        block = self._stream.read(count if count is not None else -1)
        self._position += len(block)
        return block


def _tar(path: Path, name: str, meter: Meter) -> Iterator[ArchiveEntry]:
    with unpacked(path, _with_packing(path, name)) as stream:
        forward = _Forward(stream, name, meter)
        with tarfile.open(fileobj=forward, mode="r:") as archive:
            while (info := archive.next()) is not None:
                # `tarfile` keeps every header that it has read.
                archive.members = []  # type: ignore[attr-defined]
                meter.file()
                target = safe_path(info.name, name)
                if info.isdir():
                    forward.allowance = HEADER_BYTES
                    continue
                if not info.isreg() or info.issparse():
                    what = "a link" if info.issym() or info.islnk() else "a device or another special file"
                    raise UnpackRefused(f"{name} holds {info.name[:100]!r}, which is {what}; only files are taken.")
                forward.allowance = None
                content = archive.extractfile(info)
                assert content is not None
                yield ArchiveEntry(target, content)
                forward.allowance = HEADER_BYTES


def _with_packing(path: Path, name: str) -> str:
    """Return the name with the ending of its packing, for names such as `data.tgz`."""
    if compression_of(name):
        return name
    with path.open("rb") as raw:
        return f"{name}.gz" if raw.read(2) == b"\x1f\x8b" else name
