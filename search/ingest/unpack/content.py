"""What a file is by its content, compared with what its name says."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import zstandard

from search.ingest.mapping.sniff import MAGIC, PARQUET_MAGIC, SUFFIXES
from search.ingest.unpack.limits import UnpackRefused

HEAD = 4_096
TAR_MAGIC = b"ustar"
TAR_MAGIC_AT = 257
ARCHIVES = {
    b"PK\x03\x04": "a zip archive", b"PK\x05\x06": "an empty zip archive", b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive", b"\xfd7zXZ\0": "an xz file", b"BZh": "a bzip2 file",
}  # fmt: skip
OTHERS = {
    b"\x7fELF": "a program", b"MZ": "a Windows program", b"%PDF": "a PDF", b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image", b"SQLite format 3": "a SQLite database", b"<!DOCTYPE": "a web page", b"<html": "a web page",
    b"\x80\x02": "a Python pickle", b"\x80\x03": "a Python pickle", b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
}  # fmt: skip
TEXTS = frozenset((*SUFFIXES, ".md")) - {".parquet", ".pq"}


def compression_of(name: str) -> str:
    """Return the ending of a packed file, or an empty text."""
    return next((ending for ending in MAGIC if name.lower().endswith(ending)), "")


def plain_suffix(name: str) -> str:
    """Return the ending of a file's name before the ending of its packing."""
    return Path(name[: -len(packing)] if (packing := compression_of(name)) else name).suffix.lower()


@contextmanager
def unpacked(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Yield the unpacked content of a plain, gzip or zstd file; UnpackRefused if it is damaged."""
    packing = compression_of(name)
    try:
        with path.open("rb") as raw:
            stream: Any = raw
            if packing == ".gz":
                stream = gzip.GzipFile(fileobj=raw)
            elif packing == ".zst":
                stream = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False)
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise UnpackRefused(f"{name} is damaged: {error}") from error


def is_tar(head: bytes) -> bool:
    """Whether these first bytes are those of a tar archive."""
    return head[TAR_MAGIC_AT : TAR_MAGIC_AT + len(TAR_MAGIC)] == TAR_MAGIC


def check_content(path: Path, name: str) -> None:
    """Raise UnpackRefused if a file of rows is not what its name says, or is an archive in an archive."""
    with path.open("rb") as raw:
        begin = raw.read(4)
    packing = compression_of(name)
    if packing and not begin.startswith(MAGIC[packing]):
        raise UnpackRefused(f"{name} is not what its name says: it is not packed with {packing[1:]}.")
    with unpacked(path, name) as stream:
        head = stream.read(HEAD)
    found = next((what for magic, what in (ARCHIVES | OTHERS).items() if head.startswith(magic)), "")
    if is_tar(head):
        found = "a tar archive"
    if found in ARCHIVES.values() or is_tar(head):
        raise UnpackRefused(f"{name} is {found} inside the upload; unpack it and upload what is in it.")
    if found:
        raise UnpackRefused(f"{name} is not what its name says: it is {found}.")
    suffix = plain_suffix(name)
    if suffix in (".parquet", ".pq") and not head.startswith(PARQUET_MAGIC):
        raise UnpackRefused(f"{name} is not what its name says: it is no Parquet file.")
    if suffix in TEXTS and head.startswith(PARQUET_MAGIC):
        raise UnpackRefused(f"{name} is not what its name says: it is a Parquet file.")
    if suffix in TEXTS and b"\0" in head and head[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise UnpackRefused(f"{name} is not what its name says: it is no text.")
