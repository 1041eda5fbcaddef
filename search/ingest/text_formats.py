"""Rows of text files: JSON lines, CSV and TSV; undecodable and damaged rows are told with their line.

CSV and TSV follow Python's `excel` and `excel-tab` dialects: a quoted cell begins and ends with a quotation mark, marks
inside it are doubled, and it may contain delimiters and line ends. Most writers of TSV do not quote. In TSV a cell that
begins with a mark but is not a valid quoted cell (`"Weird Al" Yankovic`) is therefore taken literally. `csv_records`
reads on behind a mark that is not closed.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import orjson

from search.ingest.csv_records import CsvRecords
from search.ingest.faults import BundleError
from search.ingest.tsv import split_lines

LONGEST_LINE = 1 << 25
"""Most bytes (JSON lines) or characters (CSV, TSV) of a line: a file without line ends must not fill the memory."""
ENCODINGS = (
    "utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1250", "cp1251", "cp1253", "cp1254",
    "cp1255", "cp1256", "cp1257", "cp1258", "iso8859-2", "iso8859-5", "iso8859-7", "iso8859-9", "iso8859-15", "koi8-r",
    "koi8-u", "cp437", "cp850", "cp852", "cp866", "mac-roman", "cp874", "gb18030", "gbk", "gb2312", "big5", "big5hkscs",
    "cp932", "shift_jis", "euc_jp", "iso2022_jp", "cp949", "euc_kr",
)  # fmt: skip
"""Encodings of text files by their Python names; `encoding_name` also knows the other names of each."""
_CODECS = {codecs.lookup(name).name: name for name in ENCODINGS}
_WIDE = ("utf-16", "utf-32")
_BIG = re.compile(rb"[0-9]{19}")
"""A whole number this long may need more than 64 bits, which orjson reads as a float."""
MOST_DIGITS = 1_000
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


class PartRow(dict[str, Any]):
    """A row that is read without some of its cells; `lost` has a sentence for each of them."""

    def __init__(self, row: dict[str, Any], lost: list[str]) -> None:
        super().__init__(row)
        self.lost = lost


class ValueRow(dict[str, Any]):
    """A node that a value of a column stands for; rows with the same value stand for the same node."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table's text is written.

    `delimiter` separates the cells of CSV; TSV always uses tabs. `names` are the columns of a file without a usable
    header; with `header` its first row is then skipped. `skip` is the number of lines above the table, `below` the
    number of rows at its end that are not read.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    names: tuple[str, ...] = ()
    header: bool = True
    skip: int = 0
    below: int = 0


NumberedRow = tuple[int, dict[str, Any] | BadRow]
"""The number of a row, and its columns by name or the reason why it cannot be read."""
Cells = tuple[int, list[str] | BadRow]


def encoding_name(text: str) -> str | None:
    """Return the name in ENCODINGS of the encoding that the text names (`GB2312`, `sjis`), or None if it names none."""
    try:
        return _CODECS.get(codecs.lookup(text).name)
    except (LookupError, ValueError):
        return None


def json_lines(name: str, stream: io.BufferedReader, dialect: Dialect) -> Iterator[NumberedRow]:
    """Yield the objects of a file of JSON lines; empty lines are skipped."""
    loads = orjson.loads
    for number, line in enumerate(_json_texts(name, stream, dialect), 1):
        try:
            row = loads(line) if _BIG.search(line) is None else _exact(line)
        except orjson.JSONDecodeError as error:
            if line.strip():
                yield number, _bad_json(line, error)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            yield number, BadRow("bad_json", f"Expected one JSON object a line, found {type(row).__name__}.")


def _json_texts(name: str, stream: io.BufferedReader, dialect: Dialect) -> Iterator[bytes]:
    """Yield the lines in UTF-8."""
    if dialect.encoding != "utf-8":
        text = _text(stream, dialect, newline="\n")
        for line in _lines(name, text.readline, ""):
            yield line.encode("utf-8", "surrogateescape")
        return
    for number, line in enumerate(_lines(name, stream.readline, b"")):
        if number == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
            _refuse_utf16(name, line)
        yield line


def _exact(line: bytes) -> Any:
    """Return the JSON value of a line with whole numbers of any length; orjson would round those above 64 bits."""
    row = orjson.loads(line)
    return json.loads(line, parse_int=_whole) if _has_rounded(row) else row


def _whole(digits: str) -> int | str:
    """Return a whole number, or its digits if they are more than Python reads as a number."""
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def _has_rounded(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_rounded, value.values()))
    if isinstance(value, list):
        return any(map(_has_rounded, value))
    return isinstance(value, float) and abs(value) >= 1 << 63


def csv_rows(name: str, stream: io.BufferedReader, dialect: Dialect) -> Iterator[NumberedRow]:
    """Yield the rows of a CSV file."""
    text = _text(stream, dialect, newline="")
    records = CsvRecords(_table_lines(name, text, dialect), dialect.delimiter, len(dialect.names))
    yield from _table(name, _numbered(records, dialect), dialect, records.set_width)


def tsv_rows(name: str, stream: io.BufferedReader, dialect: Dialect) -> Iterator[NumberedRow]:
    """Yield the rows of a TSV file."""
    text = _text(stream, dialect, newline="\n")
    found = split_lines(_table_lines(name, text, dialect))
    yield from _table(name, ((dialect.skip + at, cells) for at, cells in found), dialect)


def _text(stream: io.BufferedReader, dialect: Dialect, newline: str) -> io.TextIOWrapper:
    # Undecodable bytes become lone surrogates, which no valid text yields, so the row's check can find them.
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    errors = "surrogatepass" if dialect.encoding.startswith(_WIDE) else "surrogateescape"
    return io.TextIOWrapper(stream, encoding, errors=errors, newline=newline)


def _table_lines(name: str, text: io.TextIOWrapper, dialect: Dialect) -> Iterator[str]:
    lines = _lines(name, text.readline, "")
    first = next(lines, "").removeprefix("\ufeff")
    return islice(chain([first] if first else [], lines), dialect.skip, None)


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
        near = line[max(0, position - _SHOWN // 2) : position + _SHOWN // 2]
        return _not_encoded(near, line[position], position, "utf-8")
    return BadRow("bad_json", f"Not valid JSON: {error}.")


def _not_encoded(near: bytes, byte: int, position: int, encoding: str) -> BadRow:
    if encoding != "utf-8":
        message = (
            f"Not {encoding}: byte 0x{byte:02x} at position {position}, behind {_before(near, byte, encoding)!r}. "
        )
        return BadRow("bad_encoding", f"{message}Mend the file, or give the encoding in which it is written.")
    return BadRow(
        "bad_encoding",
        f"Not UTF-8: byte 0x{byte:02x} at position {position}; in Latin-1 it would read {near.decode('latin-1')!r}. "
        "Save the file as UTF-8, or give its encoding.",
    )


def _before(near: bytes, byte: int, encoding: str) -> str:
    return near[: near.find(byte)].decode(encoding, "ignore")


def _refuse_utf16(name: str, begin: bytes) -> None:
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BundleError(f"{name} is UTF-16; save it as UTF-8, or give the encoding 'utf-16'.")


def _numbered(records: CsvRecords, dialect: Dialect) -> Iterator[Cells]:
    for begin, cells, fault in records:
        number = dialect.skip + begin
        if fault is None:
            yield number, cells
        else:
            yield number, BadRow(fault.kind, fault.sentence(dialect.skip))


def _table(
    name: str, lines: Iterator[Cells], dialect: Dialect, widened: Callable[[int], None] = lambda width: None
) -> Iterator[NumberedRow]:
    """Yield the rows by name; rows whose cells are all empty are blank lines, and skipped."""
    header = _header(name, lines, dialect)
    width = len(header)
    widened(width)
    for number, cells in lines:
        if isinstance(cells, BadRow):
            yield number, cells
            continue
        text = "".join(cells)
        if not text and width > 1:
            continue
        if len(cells) != width:
            yield number, BadRow("bad_columns", f"Expected {width} columns as in the header, found {len(cells)}.")
            continue
        if text.isascii() or not _undecodable(text):
            yield number, dict(zip(header, cells, strict=False))
        else:
            yield number, _bad_cell(next(filter(_undecodable, cells)), dialect.encoding)


def _header(name: str, lines: Iterator[Cells], dialect: Dialect) -> list[str]:
    if dialect.names and not dialect.header:
        return list(dialect.names)
    _, found = next(lines, (1, BadRow("no_header", "The file is empty; the first row has to name the columns.")))
    while not isinstance(found, BadRow) and len(found) > 1 and not any(found):
        _, found = next(lines, (1, BadRow("no_header", "Every row is empty.")))
    if isinstance(found, BadRow):
        raise BundleError(f"{name}: {found.message}")
    _refuse_utf16(name, found[0].encode("utf-8", "surrogateescape") if found else b"")
    header = list(dialect.names) or found
    if len(set(header)) != len(header):
        raise BundleError(f"{name}: the header names a column twice.")
    if _undecodable("".join(header)):
        raise BundleError(f"{name}:1: {_bad_cell(next(filter(_undecodable, header)), dialect.encoding).message}")
    return header


def _bad_cell(cell: str, encoding: str) -> BadRow:
    """Return the fault of a cell that holds lone surrogates: the undecodable bytes of the file, or halves of pairs."""
    begin = next(position for position, mark in enumerate(cell) if "\ud800" <= mark <= "\udfff")
    if not "\udc80" <= cell[begin] <= "\udcff" or encoding.startswith(_WIDE):
        return BadRow("bad_encoding", "A cell contains half a character (a lone surrogate), which UTF-8 cannot store.")
    before = cell[max(0, begin - _SHOWN // 2) : begin].encode(encoding)
    behind = cell[begin : begin + _SHOWN // 2].encode(encoding, "surrogateescape")
    position = len(cell[:begin].encode(encoding))
    return _not_encoded(before + behind, behind[0], position, encoding)


def _undecodable(cell: str) -> bool:
    try:
        cell.encode()
    except UnicodeEncodeError:
        return True
    return False
