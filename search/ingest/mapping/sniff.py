"""Finds out from its first bytes how a file is written: compression, format, encoding, delimiter, header, columns."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import zstandard

from search.ingest.faults import BundleError
from search.ingest.fields import is_date, is_number
from search.ingest.mapping.mapping import FileMapping
from search.ingest.mapping.source import opened
from search.ingest.mapping.uses import DELIMITERS
from search.ingest.readers import rows
from search.ingest.text_formats import BadRow, NumberedRow

HEAD_BYTES = 1 << 18
"""Bytes of the unpacked file that are looked at to find its format."""
SAMPLE_ROWS = 1_000
SAMPLE_CHARACTERS = 1 << 26
"""Most rows of a sample, and characters of all its rows after which no further row is taken."""
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
"""Endings of the files that can hold rows, without `.gz` and `.zst`."""
MAGIC = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
PARQUET_MAGIC = b"PAR1"
LINES_COMPARED = 30


@dataclass(frozen=True)
class Sniffed:
    """A file whose form is known: its mapping without uses, its columns, and its first rows.

    `bad_rows` are rows of the sample that cannot be read; `complete` says that the sample is the whole file.
    """

    file: FileMapping
    columns: tuple[str, ...]
    sample: tuple[dict[str, Any], ...]
    bad_rows: tuple[tuple[int, BadRow], ...]
    complete: bool
    notes: tuple[str, ...] = ()

    def values(self, column: str) -> list[Any]:
        """Return the values of a column in the sample that are not empty."""
        return [value for row in self.sample if (value := row.get(column)) is not None and value != ""]


def split_suffix(name: str) -> tuple[str, str, str]:
    """Return stem, format and compression that a file's name says; the format is empty if it says none."""
    compression = next((ending for ending in MAGIC if name.lower().endswith(ending)), "")
    stem = name[: -len(compression)] if compression else name
    suffix = Path(stem).suffix
    return stem.removesuffix(suffix), SUFFIXES.get(suffix.lower(), ""), compression


def sniff(folder: Path, path: str) -> Sniffed:
    """Return the form of a file in the folder; BundleError with a sentence if it holds no rows that can be read."""
    _, format_, compression = split_suffix(path)
    if not format_:
        raise BundleError(f"{path}: the name has none of the endings {', '.join(SUFFIXES)} (each plain, .gz or .zst).")
    head, more = _head(folder / path, path, compression)
    file = FileMapping(path, "ignore", format_, compression)
    if format_ == "parquet":
        if compression:
            raise BundleError(f"{path}: Parquet compresses by itself; unpack the file.")
        if head[:4] != PARQUET_MAGIC:
            raise BundleError(f"{path} is no Parquet file, although its name says so.")
        return _sampled(folder, file, (), ())
    if not head.strip():
        raise BundleError(f"{path} is empty.")
    if head[:4] == PARQUET_MAGIC:
        raise BundleError(f"{path} is a Parquet file; name it so.")
    encoding, notes = _encoding(path, head, more)
    file = replace(file, encoding=encoding)
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    if format_ == "jsonl":
        _check_json(path, text, more)
        return _sampled(folder, file, notes, ())
    try:
        file, header, twice = _with_dialect(file, text, more)
    except csv.Error as error:
        raise BundleError(f"{path} is no table: {error}.") from error
    return _sampled(folder, file, (*notes, *twice), header)


def _head(path: Path, name: str, compression: str) -> tuple[bytes, bool]:
    """Return the first unpacked bytes, and whether there are more; BundleError if the file is not what it says."""
    try:
        with path.open("rb") as raw:
            begin = raw.read(4)
            for ending, magic in MAGIC.items():
                if (ending == compression) != begin.startswith(magic):
                    called = "is" if compression != ending else "is not"
                    raise BundleError(f"{name} {called} packed with {ending[1:]}, although its name says otherwise.")
            raw.seek(0)
            stream: Any = raw
            if compression == ".gz":
                stream = gzip.GzipFile(fileobj=raw)
            elif compression == ".zst":
                stream = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False)
            head = stream.read(HEAD_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise BundleError(f"{name} is damaged or not what its name says: {error}") from error
    except OSError as error:
        raise BundleError(f"{name} cannot be read: {error.strerror}.") from error
    return head[:HEAD_BYTES], len(head) > HEAD_BYTES


def _encoding(path: str, head: bytes, more: bool) -> tuple[str, tuple[str, ...]]:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", (f"{path} begins with the mark of UTF-16.",)
    if b"\0" in head:
        raise BundleError(f"{path} is no text: it contains bytes of the value 0.")
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if more and error.end == len(head) and error.reason == "unexpected end of data":
            return "utf-8", ()
        line = head.count(b"\n", 0, error.start) + 1
        byte = head[error.start]
        note = f"{path}:{line}: byte 0x{byte:02x} is not UTF-8; the file is read as Latin-1 (Windows-1252)."
        try:
            head.decode("cp1252")
        except UnicodeDecodeError:
            return "latin-1", (note,)
        return "cp1252", (note,)
    return "utf-8", ()


def _check_json(path: str, text: str, more: bool) -> None:
    if text.lstrip()[:1] == "[":
        raise BundleError(f"{path} is one JSON array; write one object a line, for example with: jq -c '.[]' FILE")
    first, separator, _ = text.lstrip().partition("\n")
    if not separator and more:
        return
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError as error:
        raise BundleError(
            f"{path} is not JSON lines, because its first line is no JSON object ({error}); "
            "write one object a line, for example with: jq -c . FILE"
        ) from error


def _with_dialect(file: FileMapping, text: str, more: bool) -> tuple[FileMapping, tuple[str, ...], tuple[str, ...]]:
    """Return the file with its delimiter and names, the columns, and a sentence for each heading that stands twice."""
    lines = text.splitlines(keepends=True)[: LINES_COMPARED + 1]
    lines = lines[:-1] if more and len(lines) <= LINES_COMPARED and len(lines) > 1 else lines
    delimiter = "\t" if file.format == "tsv" else _delimiter(lines)
    table = list(csv.reader(io.StringIO("".join(lines), newline=""), delimiter=delimiter))
    first = [cell.strip() for cell in next((row for row in table if row), [""])]
    format_ = "tsv" if delimiter == "\t" else "csv"
    file = replace(file, format=format_, delimiter=delimiter if format_ == "csv" else ",")
    if not _is_header(first, [row for row in table[1:] if row]):
        names = tuple(f"column {position}" for position, _ in enumerate(first, 1))
        return replace(file, header=False, names=names), names, ()
    names = _distinct(first)
    twice = tuple(
        f"The heading {cell[:80]!r} stands more than once; this column is called {name[:80]!r} here."
        for at, (cell, name) in enumerate(zip(first, names, strict=True)) if cell and cell in first[:at]
    )  # fmt: skip
    return (replace(file, names=names) if list(names) != first else file), names, twice


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that splits most lines into the same number of cells, the largest number first."""
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths = Counter(len(row) for row in csv.reader(iter(lines), delimiter=delimiter) if row)
        if not widths:
            continue
        width, times = max(widths.items(), key=lambda item: (item[1], item[0]))
        score = (round(times / sum(widths.values()), 1), width)
        if width > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def _is_header(first: list[str], others: list[list[str]]) -> bool:
    """Whether the first row names the columns: no number, no date, no cell that the same column has again."""
    if any(is_number(cell) or is_date(cell) for cell in first):
        return False
    again = sum(any(len(row) > at and row[at].strip() == cell for row in others) for at, cell in enumerate(first))
    return again == 0 or again * 2 < len(first)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Return column names of which none is empty and none occurs twice."""
    found: list[str] = []
    for position, name in enumerate(names, 1):
        called, number = name or f"column {position}", 2
        while called in found:
            called, number = f"{name} {number}", number + 1
        found.append(called)
    return tuple(found)


def _sampled(folder: Path, file: FileMapping, notes: tuple[str, ...], header: tuple[str, ...]) -> Sniffed:
    found = rows(opened(folder, file), lambda done: None)
    taken: list[NumberedRow] = []
    characters, complete = 0, False
    for numbered in found:
        if len(taken) == SAMPLE_ROWS or characters > SAMPLE_CHARACTERS:
            break
        taken.append(numbered)
        if isinstance(numbered[1], dict):
            characters += sum(len(cell) for cell in numbered[1].values() if isinstance(cell, str))
    else:
        complete = True
    good = tuple(row for _, row in taken if isinstance(row, dict))
    bad = tuple((number, row) for number, row in taken if isinstance(row, BadRow))
    columns = tuple(dict.fromkeys(name for row in good for name in row)) or header
    return Sniffed(file, columns, good, bad, complete, notes)
