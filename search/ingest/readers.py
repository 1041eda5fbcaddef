"""Reads the rows of a bundle's files: JSON lines, CSV, TSV or Parquet; uncompressed, gzip or zstd.

A row is its number together with its columns, or with a `BadRow` that says why it cannot be read. Reading continues
after a bad row, so that one pass finds every fault.

CSV and TSV follow Python's `excel` and `excel-tab` dialects: a quoted cell begins and ends with a quotation mark, marks
inside it are doubled, and it may contain tabs, commas and line ends. Most writers of TSV do not quote. In TSV a cell
that begins with a mark but is not a valid quoted cell (`"Weird Al" Yankovic`) is therefore taken literally.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson
import pyarrow
import pyarrow.parquet
import zstandard

from search.ingest.faults import BundleError
from search.ingest.tsv import split_lines

FORMATS = ("jsonl", "csv", "tsv", "parquet")
COMPRESSIONS = ("", ".gz", ".zst")
BUFFER = 1 << 20
LONGEST_CELL = 1 << 27
PARQUET_BATCH = 8_192


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read: a short identifier of the reason, and a sentence for people."""

    kind: str
    message: str


NumberedRow = tuple[int, dict[str, Any] | BadRow]
"""The number of a row, and its columns by name or the reason why it cannot be read."""
BytesRead = Callable[[int], None]
"""Callback that receives the number of bytes of the file that have been read so far."""


@dataclass(frozen=True)
class BundleFile:
    """One file of a bundle: its path, format and compression."""

    path: Path
    format: str
    compression: str = ""
    name: str = field(init=False)

    def __post_init__(self) -> None:
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
    try:
        with source.path.open("rb", buffering=0) as raw:
            if source.format == "parquet":
                yield from _parquet(source, raw, read, digest)
                return
            counted: Any = io.BufferedReader(_Counted(raw, read, digest), BUFFER)
            with _unpacked(counted, source.compression) as stream:
                yield from _TEXT_FORMATS[source.format](source, stream)
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError, pyarrow.ArrowException) as error:
        raise BundleError(f"{source.name} is damaged or not what its name says: {error}") from error
    except PermissionError as error:
        raise BundleError(f"{source.path} may not be read by this user.") from error


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


def _unpacked(stream: io.BufferedReader, compression: str) -> io.BufferedReader:
    if compression == ".gz":
        return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=stream)), BUFFER)
    if compression == ".zst":
        unpacked = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True, closefd=False)
        return io.BufferedReader(cast(io.RawIOBase, unpacked), BUFFER)
    return stream


def _json_lines(source: BundleFile, stream: io.BufferedReader) -> Iterator[NumberedRow]:
    loads = orjson.loads
    for number, line in enumerate(stream, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            row = loads(line)
        except orjson.JSONDecodeError as error:
            if line.strip():
                yield number, _bad_json(line, error)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            yield number, BadRow("bad_json", f"Expected one JSON object a line, found {type(row).__name__}.")


def _bad_json(line: bytes, error: orjson.JSONDecodeError) -> BadRow:
    try:
        line.decode()
    except UnicodeDecodeError as undecodable:
        return _not_utf8(undecodable.start, line[undecodable.start])
    return BadRow("bad_json", f"Not valid JSON: {error}.")


def _not_utf8(position: int, byte: int) -> BadRow:
    return BadRow("bad_encoding", f"Not UTF-8: byte 0x{byte:02x} at position {position} of the line.")


def _csv(source: BundleFile, stream: io.BufferedReader) -> Iterator[NumberedRow]:
    csv.field_size_limit(LONGEST_CELL)
    # Undecodable bytes become lone surrogates, which valid UTF-8 never yields, so the row's check can find them.
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    parsed = csv.reader(text, "excel", strict=True)
    yield from _table(source, _numbered(parsed))


def _numbered(parsed: Any) -> Iterator[tuple[int, list[str] | BadRow]]:
    while True:
        begin = parsed.line_num + 1
        try:
            cells = next(parsed)
        except StopIteration:
            return
        except csv.Error as error:
            yield begin, BadRow("bad_csv", f"Not a row of CSV: {error}.")
            continue
        if cells:
            yield begin, cells


def _tsv(source: BundleFile, stream: io.BufferedReader) -> Iterator[NumberedRow]:
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="\n")
    yield from _table(source, split_lines(text))


def _table(source: BundleFile, lines: Iterator[tuple[int, list[str] | BadRow]]) -> Iterator[NumberedRow]:
    _, header = next(lines, (1, BadRow("no_header", "The file is empty; the first row has to name the columns.")))
    if isinstance(header, BadRow):
        raise BundleError(f"{source.name}: {header.message}")
    if len(set(header)) != len(header):
        raise BundleError(f"{source.name}: the header names a column twice.")
    width = len(header)
    for number, cells in lines:
        if isinstance(cells, BadRow):
            yield number, cells
            continue
        if len(cells) != width:
            yield number, BadRow("bad_columns", f"Expected {width} columns as in the header, found {len(cells)}.")
            continue
        text = "".join(cells)
        if text.isascii() or not _undecodable(text):
            yield number, dict(zip(header, cells, strict=False))
        else:
            bad = next(filter(_undecodable, cells))
            yield number, BadRow("bad_encoding", f"Not UTF-8: {bad.encode('utf-8', 'surrogateescape')[:60]!r}.")


def _undecodable(cell: str) -> bool:
    try:
        cell.encode()
    except UnicodeEncodeError:
        return True
    return False


def _parquet(
    source: BundleFile, raw: io.FileIO, read: BytesRead, digest: hashlib.blake2b | None
) -> Iterator[NumberedRow]:
    if digest is not None:
        for block in iter(lambda: raw.read(BUFFER), b""):
            digest.update(block)
        raw.seek(0)
    with pyarrow.parquet.ParquetFile(raw) as file:
        total, size, number = file.metadata.num_rows or 1, source.size, 0
        for batch in file.iter_batches(batch_size=PARQUET_BATCH):
            for row in batch.to_pylist():
                number += 1
                yield number, row
            read(size * number // total)


_TEXT_FORMATS: dict[str, Callable[[BundleFile, io.BufferedReader], Iterator[NumberedRow]]] = {
    "jsonl": _json_lines,
    "csv": _csv,
    "tsv": _tsv,
}
