"""Finds out how the text of a table is written: its delimiter, the lines above its header, the header, the columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from search.ingest.csv_records import CsvRecords
from search.ingest.faults import BundleError
from search.ingest.fields import is_date
from search.ingest.formats import digits_of, month_names, read_date
from search.ingest.mapping.mapping import FileMapping
from search.ingest.mapping.uses import DELIMITERS
from search.ingest.tsv import split_lines

LINES_COMPARED = 1_000
MOST_ABOVE = 50
"""Most rows above the header that are taken for a title."""
HEADED, UNEVEN_TOP = 0.2, 0.3
"""Weights beside the share of rows with the same number of cells: a header; a title, or another width below the top."""
AS_GOOD = 0.02
SHOWN = 60
_HINT = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_NUMERIC = re.compile(r"[-+−(]?[$€£¥]?\s?[0-9][0-9.,'’ \u00a0\u202f%)]*")
_YEAR = re.compile(r"1[89][0-9]{2}|20[0-9]{2}")


@dataclass(frozen=True)
class GuessedDialect:
    """A file with its delimiter, names and lines above, its columns, and sentences on what was found."""

    file: FileMapping
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Split:
    """The rows of a text split at a delimiter, each with its line; `top` is the position of the first row of the table.

    `score` says how well the delimiter fits, `width` is the number of cells of most rows.
    """

    delimiter: str
    rows: list[tuple[int, list[str]]]
    width: int
    top: int
    headed: bool
    score: float


def find_dialect(file: FileMapping, text: str, more: bool) -> GuessedDialect:
    """Return how a table is written whose text begins like this; `more` says that the text goes on."""
    lines = list(io.StringIO(text, newline="\n" if file.format == "tsv" else ""))
    lines = lines[:-1] if more and len(lines) > 1 else lines
    lines = lines[:LINES_COMPARED]
    hint = _HINT.fullmatch(lines[0]) if lines else None
    try:
        if file.format == "tsv":
            splits = [_split(lines, "\t", tsv=True)]
        else:
            marks = [hint[1]] if hint and hint[1] in DELIMITERS else DELIMITERS
            splits = sorted((_split(lines, mark) for mark in marks), key=lambda one: (-one.score, -one.width))
    except csv.Error as error:
        raise BundleError(f"{file.path} is no table: {error}.") from error
    best, notes = splits[0], []
    alike = (one for one in splits[1:] if one.width > 1 and best.score - one.score < AS_GOOD)
    others = [one for one in alike if len(one.rows) - one.top > 1]
    if others:
        mark = ", ".join(repr(one.delimiter) for one in others)
        notes.append(f"Its rows are split at {best.delimiter!r}; {mark} would split them as evenly.")
    format_ = "tsv" if best.delimiter == "\t" else "csv"
    file = replace(file, format=format_, delimiter=best.delimiter if format_ == "csv" else ",")
    return _headed(file, best, notes)


def _headed(file: FileMapping, split: _Split, notes: list[str]) -> GuessedDialect:
    """Return the file with what stands above its first row, and the names of its columns."""
    above = [row for _, row in split.rows[: split.top] if any(row)]
    if above:
        file = replace(file, skip=split.rows[split.top][0] - 1)
        title = "; ".join(" ".join(filter(None, row))[:SHOWN] for row in above[:3])
        lines = "line stands" if file.skip == 1 else f"{file.skip} lines stand"
        notes.append(f"The first {lines} above the table: {title!r}. What stands there is not read.")
    first = [cell.strip() for cell in split.rows[split.top][1]] if split.rows else [""]
    if not split.headed:
        names = tuple(f"column {position}" for position, _ in enumerate(first, 1))
        return GuessedDialect(replace(file, header=False, names=names), names, tuple(notes))
    names = _distinct(first)
    notes += (
        f"The heading {cell[:80]!r} stands more than once; this column is called {name[:80]!r} here."
        for at, (cell, name) in enumerate(zip(first, names, strict=True)) if cell and cell in first[:at]
    )  # fmt: skip
    given = split.rows[split.top][1] if split.rows else [""]
    return GuessedDialect(replace(file, names=names) if list(names) != given else file, names, tuple(notes))


def _split(lines: list[str], delimiter: str, *, tsv: bool = False) -> _Split:
    rows = [row for row in _rows(lines, delimiter, tsv) if any(cell.strip() for cell in row[1])]
    widths = Counter(len(cells) for _, cells in rows)
    if not widths:
        return _Split(delimiter, [], 1, 0, True, 0.0)
    width, _ = max(widths.items(), key=lambda item: (item[1], item[0]))
    top = _top(rows, width)
    table = rows[top:]
    share = sum(len(cells) == width for _, cells in table) / len(table)
    first = [cell.strip() for cell in table[0][1]]
    headed = _is_header(first, [cells for _, cells in table[1:]])
    uneven = any(len(cells) != width for _, cells in table[:3])
    score = share + HEADED * (headed and len(table) > 1) - UNEVEN_TOP * ((top > 0) + uneven) if width > 1 else 0.0
    return _Split(delimiter, rows, width, top, headed, score)


def _rows(lines: list[str], delimiter: str, tsv: bool) -> Iterator[tuple[int, list[str]]]:
    if tsv:
        yield from split_lines(lines)
        return
    alone = Counter(len(cells) for cells in csv.reader(iter(lines), delimiter=delimiter) if len(cells) > 1)
    width = max(alone.items(), key=lambda item: (item[1], item[0]), default=(0, 0))[0]
    for number, cells, fault in CsvRecords(iter(lines), delimiter, width):
        yield number, [""] if fault else cells


def _top(rows: list[tuple[int, list[str]]], width: int) -> int:
    """Return the position of the first row of the table: rows above it are a title, or say where the data come from.

    A title fills the first cell only, or has at most half of the cells.
    """
    for position, (_, cells) in enumerate(rows[: MOST_ABOVE + 1]):
        filled = [at for at, cell in enumerate(cells) if cell.strip()]
        if width == 1 or not (filled in ([0], []) or len(cells) * 2 <= width):
            return position
    return 0


def _is_header(first: list[str], others: list[list[str]]) -> bool:
    """Whether the first row names the columns: no number, no date, no cell that the same column has again.

    Years may name columns if those do not hold years: `country,2019,2020`.
    """
    numeric = [at for at, cell in enumerate(first) if _NUMERIC.fullmatch(cell) or _is_day(cell)]
    if numeric and not _are_years(first, numeric, others):
        return False
    again = sum(any(len(row) > at and row[at].strip() == cell for row in others) for at, cell in enumerate(first))
    return again == 0 or again * 2 < len(first)


def _is_day(cell: str) -> bool:
    if is_date(cell) or digits_of(cell):
        return True
    if not any(mark.isdigit() for mark in cell) or not any(word.lower() in month_names() for word in cell.split()):
        return False
    try:
        read_date(cell, "words")
    except ValueError:
        return False
    return True


def _are_years(first: list[str], numeric: list[int], others: list[list[str]]) -> bool:
    if len(numeric) < 2 or len(numeric) == len(first) or not all(_YEAR.fullmatch(first[at]) for at in numeric):
        return False
    below = [row[at].strip() for row in others for at in numeric if at < len(row)]
    return bool(below) and not all(_YEAR.fullmatch(cell) for cell in below)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Return column names of which none is empty and none occurs twice."""
    found: list[str] = []
    for position, name in enumerate(names, 1):
        called, number = name or f"column {position}", 2
        while called in found:
            called, number = f"{name} {number}", number + 1
        found.append(called)
    return tuple(found)
