"""Turns uploaded files into a folder of files of rows: archives are unpacked, others taken as they are."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

import zstandard

from search.ingest.detect import STARK_ADVICE, STARK_FILES
from search.ingest.manifest import MANIFEST_FILE
from search.ingest.mapping.sniff import split_suffix
from search.ingest.unpack.archives import entries, is_archive
from search.ingest.unpack.content import check_content, compression_of, unpacked
from search.ingest.unpack.limits import Limits, Meter, UnpackRefused, safe_path

BLOCK = 1 << 20
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, zstandard.ZstdError, gzip.BadGzipFile, EOFError)
ARCHIVE_ENDINGS = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz", ".7z", ".rar")
LEFT_OUT_LISTED = 100


@dataclass(frozen=True)
class Received:
    """A file as it was uploaded: its name, where its content lies, and the SHA-256 that the sender stated, if any."""

    name: str
    path: Path
    sha256: str = ""


@dataclass
class Unpacked:
    """What became of the uploaded files: files and bytes of rows, what was left out, and each upload's SHA-256."""

    files: list[str] = field(default_factory=list)
    bytes: int = 0
    left_out: list[str] = field(default_factory=list)
    sha256: dict[str, str] = field(default_factory=dict)


def unpack(
    received: Iterable[Received],
    folder: Path,
    limits: Limits,
    progress: Callable[[int], None],
    check: Callable[[], None] = lambda: None,
) -> Unpacked:
    """Write the files of rows into `folder`, which is made.

    Files that hold no rows (images, licences) are left out. `progress` receives the packed bytes done; `check` is
    called often and may raise. Raises UnpackRefused; whatever is raised, the folder is removed.
    """
    folder.mkdir(parents=True)
    outcome, meter, done = Unpacked(), None, 0
    try:
        for one in received:
            size = one.path.stat().st_size
            # Reading a file once for its checksum counts as half of its work.
            _check_hash(one, outcome, check, partial(_add_half, progress, done))
            meter = Meter(limits, size, one.name, meter)
            try:
                _unpack_one(one, folder, meter, outcome, check)
            except DAMAGED as error:
                raise UnpackRefused(f"{one.name} is damaged: {error}") from error
            done += size
            progress(done)
        if not outcome.files:
            raise UnpackRefused(f"The upload holds no file of rows. {_advice(outcome)}")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    outcome.files.sort()
    return outcome


def _unpack_one(one: Received, folder: Path, meter: Meter, outcome: Unpacked, check: Callable[[], None]) -> None:
    if is_archive(one.path, one.name):
        for entry in entries(one.path, one.name, meter):
            _take(entry.path, entry.stream, folder, meter, outcome, check)
    else:
        meter.file()
        with one.path.open("rb") as stream:
            _take(safe_path(one.name, one.name), stream, folder, meter, outcome, check)


def _add_half(progress: Callable[[int], None], done: int, read: int) -> None:
    progress(done + read // 2)


def _check_hash(one: Received, outcome: Unpacked, check: Callable[[], None], hashed: Callable[[int], None]) -> None:
    digest = hashlib.sha256()
    with one.path.open("rb") as file:
        for block in iter(lambda: file.read(BLOCK), b""):
            digest.update(block)
            check()
            hashed(file.tell())
    outcome.sha256[one.name] = digest.hexdigest()
    if one.sha256 and one.sha256 != digest.hexdigest():
        raise UnpackRefused(f"{one.name} was not received as it was sent: its SHA-256 is {digest.hexdigest()}.")


def _take(
    path: PurePosixPath,
    stream: IO[bytes],
    folder: Path,
    meter: Meter,
    outcome: Unpacked,
    check: Callable[[], None],
) -> None:
    """Write one file if it can hold rows, and check its content."""
    name = str(path)
    wanted = bool(split_suffix(path.name)[1]) or path.name == MANIFEST_FILE
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    if not wanted or hidden:
        if len(outcome.left_out) < LEFT_OUT_LISTED:
            outcome.left_out.append(name)
        if name.lower().endswith(ARCHIVE_ENDINGS):
            raise UnpackRefused(f"{name[:100]} is an archive inside the upload; unpack it and upload what is in it.")
        return
    target = folder / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    except (FileExistsError, NotADirectoryError):
        raise UnpackRefused(f"Two files of the upload have the path {name[:100]!r}.") from None
    with os.fdopen(descriptor, "wb") as file:
        for block in iter(lambda: stream.read(BLOCK), b""):
            meter.take(len(block))
            file.write(block)
            check()
    check_content(target, name)
    if compression_of(name):
        _check_packed(target, name, meter, check)
    outcome.files.append(name)
    outcome.bytes += target.stat().st_size


def _check_packed(path: Path, name: str, meter: Meter, check: Callable[[], None]) -> None:
    """Unpack a packed file of rows once, without storing it, so that a bomb is refused before the import reads it."""
    inner = Meter(meter.limits, path.stat().st_size, name)
    with unpacked(path, name) as stream:
        for block in iter(lambda: stream.read(BLOCK), b""):
            inner.take(len(block))
            check()


def _advice(outcome: Unpacked) -> str:
    names = {PurePosixPath(name).name for name in outcome.left_out}
    if len(STARK_FILES & names) >= 2:
        return STARK_ADVICE
    return "Upload CSV, TSV, JSON lines or Parquet, each plain or packed with gzip or zstd, or an archive of these."
