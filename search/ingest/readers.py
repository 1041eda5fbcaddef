"""Opens the files of a knowledge base: JSON lines, CSV, TSV or Parquet; uncompressed, gzip or zstd.

A row is its number together with its columns, or with a `BadRow` that says why it cannot be read. Reading continues
after a bad row, so that one pass finds every fault.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyarrow
import zstandard

from search.ingest.faults import BundleError
from search.ingest.parquet import ParquetColumns, parquet_columns, parquet_rows
from search.ingest.text_formats import BadRow, Dialect, NumberedRow, csv_rows, json_lines, tsv_rows

__all__ = ["BadRow", "BundleFile", "NumberedRow", "ParquetColumns", "columns_of", "find", "rows"]

FORMATS = ("jsonl", "csv", "tsv", "parquet")
COMPRESSIONS = ("", ".gz", ".zst")
BUFFER = 1 << 20
PARQUET_TOLD = 256
"""Rows of a Parquet file between two reports of how far its reading is."""

BytesRead = Callable[[int], None]
"""Callback that receives the number of bytes of the file that have been read so far."""


@dataclass(frozen=True)
class BundleFile:
    """One file of a knowledge base: its path, format and compression; faults call it `name` (default: the file's).

    `buffer` is the number of bytes that are read ahead; a sample reads little ahead to know how far in the file it is.
    """

    path: Path
    format: str
    compression: str = ""
    dialect: Dialect = field(default=Dialect())
    name: str = ""
    buffer: int = BUFFER

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.path.name)

    @property
    def size(self) -> int:
        """Size on disk in bytes."""
        return self.path.stat().st_size


def find(folder: Path, stem: str) -> BundleFile:
    """Return the only file in the folder with that stem; BundleError if there is none or more than one."""
    found = [
        BundleFile(path, format_, compression)
        for format_ in FORMATS
        for compression in COMPRESSIONS
        if (path := folder / f"{stem}.{format_}{compression}").is_file()
    ]
    if not found:
        expected = ", ".join(f"{stem}.{name}" for name in FORMATS)
        raise BundleError(f"{folder} holds none of {expected} (each plain, .gz or .zst).")
    if len(found) > 1:
        raise BundleError(f"{folder} holds {' and '.join(s.name for s in found)}; leave one of them.")
    if found[0].format == "parquet" and found[0].compression:
        raise BundleError(f"{found[0].name}: Parquet compresses by itself; unpack the file to {stem}.parquet.")
    return found[0]


def rows(source: BundleFile, read: BytesRead, digest: hashlib.blake2b | None = None) -> Iterator[NumberedRow]:
    """Yield the rows of a file.

    `read` is told the bytes read so far. Every byte of the file is added to `digest`. Raises BundleError if the file as
    a whole cannot be read: it is damaged, is not of the format that its name says, or has no header.
    """
    with _readable(source), source.path.open("rb", buffering=0) as raw:
        if source.format == "parquet":
            yield from _parquet(source, raw, read, digest)
            return
        counted: Any = io.BufferedReader(_Counted(raw, read, digest), source.buffer)
        with _unpacked(counted, source) as stream:
            found = _TEXT_FORMATS[source.format](source.name, stream, source.dialect)
            yield from _without_last(found, source.dialect.below)


def _without_last(found: Iterator[NumberedRow], below: int) -> Iterator[NumberedRow]:
    """Yield all rows but the last ones."""
    waiting: deque[NumberedRow] = deque()
    for numbered in found:
        waiting.append(numbered)
        if len(waiting) > below:
            yield waiting.popleft()


@contextmanager
def _readable(source: BundleFile) -> Iterator[None]:
    """Turn what is raised where a file cannot be read into a BundleError."""
    try:
        yield
    except MemoryError:
        # Arrow's own is one of its exceptions as well, and says nothing of the file.
        raise
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError, pyarrow.ArrowException) as error:
        raise BundleError(f"{source.name} is damaged or not what its name says: {error}") from error
    except FileNotFoundError as error:
        raise BundleError(f"There is no file {source.name}.") from error
    except UnicodeError as error:
        raise BundleError(f"{source.name} cannot be read as {source.dialect.encoding}: {error}") from error
    except PermissionError as error:
        raise BundleError(f"{source.path} may not be read by this user.") from error
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow raises it for content that cannot be unpacked.
        raise BundleError(f"{source.name} is damaged or not what its name says: {error}") from error


class _Counted(io.RawIOBase):
    """A file that reports its read position and adds all bytes read to a digest."""

    def __init__(self, raw: io.FileIO, read: BytesRead, digest: hashlib.blake2b | None) -> None:
        self._raw = raw
        self._read = read
        self._digest = digest
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._raw.readinto(buffer) or 0
        if self._digest is not None:
            self._digest.update(memoryview(buffer)[:count])
        self._position += count
        self._read(self._position)
        return count


def _unpacked(stream: io.BufferedReader, source: BundleFile) -> io.BufferedReader:
    if source.compression == ".gz":
        return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=stream)), source.buffer)
    if source.compression == ".zst":
        unpacked = zstandard.ZstdDecompressor().stream_reader(
            stream,
            read_size=min(source.buffer, zstandard.DECOMPRESSION_RECOMMENDED_INPUT_SIZE),
            read_across_frames=True,
            closefd=False,
        )
        return io.BufferedReader(cast(io.RawIOBase, unpacked), source.buffer)
    return stream


def _parquet(
    source: BundleFile, raw: io.FileIO, read: BytesRead, digest: hashlib.blake2b | None
) -> Iterator[NumberedRow]:
    if digest is not None:
        for block in iter(lambda: raw.read(BUFFER), b""):
            digest.update(block)
    size = source.size
    for total, number, row in parquet_rows(source.path, source.name):
        yield number, row
        if number % PARQUET_TOLD == 0 or number == total:
            read(size * number // total)


def columns_of(source: BundleFile) -> ParquetColumns:
    """Return how the columns of a Parquet file are read; other formats have texts only, and no columns here.

    Raises BundleError if the file cannot be read.
    """
    if source.format != "parquet":
        return ParquetColumns((), {})
    with _readable(source):
        return parquet_columns(source.path, source.name)


_TEXT_FORMATS: dict[str, Callable[[str, io.BufferedReader, Dialect], Iterator[NumberedRow]]] = {
    "jsonl": json_lines,
    "csv": csv_rows,
    "tsv": tsv_rows,
}
