"""Rows of text files: JSON lines, CSV and TSV; undecodable and damaged rows are told with their line.

CSV and TSV follow Python's `excel` and `excel-tab` dialects: a quoted cell begins and ends with a quotation mark, marks
inside it are doubled, and it may contain delimiters and line ends. Most writers of TSV do not quote. In TSV a cell that
begins with a mark but is not a valid quoted cell (`"Weird Al" Yankovic`) is therefore taken literally.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from search.ingest.faults import BundleError
from search.ingest.tsv import split_lines

LONGEST_CELL = 1 << 25
LONGEST_LINE = 1 << 25
"""Most bytes (JSON lines) or characters (CSV, TSV) of a line: a file without line ends must not fill the memory."""
# The limit of the module csv, which is one for the whole process, is lower by default.
csv.field_size_limit(LONGEST_CELL)
ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16")
_SHOWN = 40
"""Characters shown of a cell that cannot be decoded."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read: a short identifier of the reason, and a sentence for people.

    `id` is the id of the node that the row would have been, where it is known.
    """

    kind: str
    message: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table's text is written.

    `delimiter` separates the cells of CSV; TSV always uses tabs. `names` are the columns of a file without a usable
    header; with `header` its first row is then skipped.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    names: tuple[str, ...] = ()
    header: bool = True


NumberedRow = tuple[int, dict[str, Any] | BadRow]
"""The number of a row, and its columns by name or the reason why it cannot be read."""
Cells = tuple[int, list[str] | BadRow]


def json_lines(name: str, stream: io.BufferedReader, dialect: Dialect) -> Iterator[NumberedRow]:
    """Yield the objects of a file of JSON lines; empty lines are skipped."""
    loads = orjson.loads
    for number, line in enumerate(_lines(name, stream.readline, b""), 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
            _refuse_utf16(name, line)
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


def csv_rows(name: str, stream: io.BufferedReader, dialect: Dialect) -> Iterator[NumberedRow]:
    """Yield the rows of a CSV file."""
    text = _text(stream, dialect, newline="")
    lines = _lines(name, text.readline, "")
    parsed = csv.reader(lines, "excel", strict=True, delimiter=dialect.delimiter)
    yield from _table(name, _numbered(parsed), dialect)


def tsv_rows(name: str, stream: io.BufferedReader, dialect: Dialect) -> Iterator[NumberedRow]:
    """Yield the rows of a TSV file."""
    text = _text(stream, dialect, newline="\n")
    yield from _table(name, split_lines(_lines(name, text.readline, "")), dialect)


def _text(stream: io.BufferedReader, dialect: Dialect, newline: str) -> io.TextIOWrapper:
    # Undecodable bytes become lone surrogates, which valid UTF-8 never yields, so the row's check can find them.
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    errors = "surrogateescape" if dialect.encoding == "utf-8" else "replace"
    return io.TextIOWrapper(stream, encoding, errors=errors, newline=newline)


def _lines(name: str, readline: Callable[[int], Any], end: bytes | str) -> Iterator[Any]:
    """Yield the lines that `readline` gives until it returns `end`; BundleError for a line longer than allowed."""
    number = 0
    while (line := readline(LONGEST_LINE)) != end:
        number += 1
        if len(line) == LONGEST_LINE:
            raise BundleError(
                f"{name}:{number}: This line is longer than {LONGEST_LINE >> 20} MB; it has no line end, or the file "
                "is not what its name says."
            )
        yield line


def _bad_json(line: bytes, error: orjson.JSONDecodeError) -> BadRow:
    try:
        line.decode()
    except UnicodeDecodeError as undecodable:
        position = undecodable.start
        return _not_utf8(line[max(0, position - _SHOWN // 2) : position + _SHOWN // 2], line[position], position)
    return BadRow("bad_json", f"Not valid JSON: {error}.")


def _not_utf8(near: bytes, byte: int, position: int) -> BadRow:
    return BadRow(
        "bad_encoding",
        f"Not UTF-8: byte 0x{byte:02x} at position {position}; in Latin-1 it would read {near.decode('latin-1')!r}. "
        "Save the file as UTF-8, or give its encoding.",
    )


def _refuse_utf16(name: str, begin: bytes) -> None:
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BundleError(f"{name} is UTF-16; save it as UTF-8, or give the encoding 'utf-16' for a table.")


def _numbered(parsed: Any) -> Iterator[Cells]:
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


def _table(name: str, lines: Iterator[Cells], dialect: Dialect) -> Iterator[NumberedRow]:
    header = _header(name, lines, dialect)
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
            yield number, _bad_cell(next(filter(_undecodable, cells)))


def _header(name: str, lines: Iterator[Cells], dialect: Dialect) -> list[str]:
    if dialect.names and not dialect.header:
        return list(dialect.names)
    _, found = next(lines, (1, BadRow("no_header", "The file is empty; the first row has to name the columns.")))
    if isinstance(found, BadRow):
        raise BundleError(f"{name}: {found.message}")
    _refuse_utf16(name, found[0].encode("utf-8", "surrogateescape") if found else b"")
    header = list(dialect.names) or found
    if len(set(header)) != len(header):
        raise BundleError(f"{name}: the header names a column twice.")
    if _undecodable("".join(header)):
        raise BundleError(f"{name}:1: {_bad_cell(next(filter(_undecodable, header))).message}")
    return header


def _bad_cell(cell: str) -> BadRow:
    content = cell.encode("utf-8", "surrogateescape")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        begin = max(0, error.start - _SHOWN // 2)
        return _not_utf8(content[begin : error.start + _SHOWN // 2], content[error.start], error.start)
    return BadRow("bad_encoding", "A cell contains half a character (a lone surrogate), which UTF-8 cannot store.")


def _undecodable(cell: str) -> bool:
    try:
        cell.encode()
    except UnicodeEncodeError:
        return True
    return False
