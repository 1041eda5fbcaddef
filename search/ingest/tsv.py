"""Splits tab-separated lines into cells, quoted cells included; stray quotation marks are taken literally."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

MOST_LINES = 2_000
"""Most lines that a quoted cell may span; the closing mark is searched no further."""

LEAST_WIDTH = 3
"""Least columns of a table in which a cell of several lines is not believed if both of its ends look like rows."""

_QUOTED = re.compile(r'"((?:[^"]|"")*+)"(?=\t|\Z)')
_OPEN = re.compile(r'"(?:[^"]|"")*+\Z')
_STILL_OPEN = re.compile(r'(?:[^"]|"")*+\Z')


def split_lines(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row's first line and the row's cells; empty lines are skipped.

    Lines end with `\\n`. If the first line ends with `\\r\\n`, all lines do. A row is read with quoted cells only if it
    then has as many cells as the first row.
    """
    stripped = _without_ends(iter(lines))
    ahead: deque[str] = deque()
    number, width = 0, None
    while (line := ahead.popleft() if ahead else next(stripped, None)) is not None:
        number += 1
        if not line:
            continue
        begin = number
        if '"' in line and (line[0] == '"' or '\t"' in line):
            cells, more = _quoted(line, stripped, ahead, width)
            number += more
        else:
            cells = line.split("\t")
        if width is None:
            width = len(cells)
        yield begin, cells


def _without_ends(lines: Iterator[str]) -> Iterator[str]:
    first = next(lines, None)
    if first is None:
        return
    end = "\r\n" if first.endswith("\r\n") else "\n"
    yield first.removesuffix(end)
    for line in lines:
        yield line.removesuffix(end)


def _quoted(line: str, lines: Iterator[str], ahead: deque[str], width: int | None) -> tuple[list[str], int]:
    """Return the cells of a row that begins with `line`, and how many lines more it takes from those ahead."""
    taken = 0
    cells, rest = _scan(line)
    pieces = [rest or ""]
    while rest is not None and taken < MOST_LINES and (taken < len(ahead) or _read_ahead(lines, ahead)):
        pieces.append(ahead[taken])
        taken += 1
        # What was read of an open cell is not read again for every line that it runs over.
        if not _STILL_OPEN.match(pieces[-1]):
            more, rest = _scan("\n".join(pieces))
            pieces = [rest or ""]
            cells += more
    if rest is not None or (width is not None and len(cells) != width) or _swallows(line, ahead, taken, width):
        return line.split("\t"), 0
    for _ in range(taken):
        ahead.popleft()
    return cells, taken


def _swallows(line: str, ahead: deque[str], taken: int, width: int | None) -> bool:
    """Whether both ends of a cell of several lines are rows by themselves: then the mark was not meant to open it."""
    if width is None or width < LEAST_WIDTH or not taken:
        return False
    return line.count("\t") == ahead[taken - 1].count("\t") == width - 1


def _read_ahead(lines: Iterator[str], ahead: deque[str]) -> bool:
    line = next(lines, None)
    if line is None:
        return False
    ahead.append(line)
    return True


def _scan(text: str) -> tuple[list[str], str | None]:
    """Return the cells that are closed, and the one that is still open at the end, None where none is."""
    cells: list[str] = []
    at = 0
    while True:
        if match := _QUOTED.match(text, at):
            cells.append(match[1].replace('""', '"'))
            at = match.end()
        elif _OPEN.match(text, at):
            return cells, text[at:]
        else:
            end = text.find("\t", at)
            cells.append(text[at:] if end < 0 else text[at:end])
            at = len(text) if end < 0 else end
        if at == len(text):
            return cells, None
        at += 1
