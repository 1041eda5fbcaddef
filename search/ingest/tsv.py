"""Splits tab-separated lines into cells, quoted cells included; stray quotation marks are taken literally."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

MOST_LINES = 2_000
"""Most lines that a quoted cell may span; the closing mark is searched no further."""

_QUOTED = re.compile(r'"((?:[^"]|"")*+)"(?=\t|\Z)')
_OPEN = re.compile(r'"(?:[^"]|"")*+\Z')


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
    """Return the cells of a row that begins with `line`, and the number of further lines that the row takes."""
    text, taken = line, 0
    while (cells := _scan(text)) is None and taken < MOST_LINES:
        # Only a line with a mark can close the cell, so lines without one are appended without a scan.
        parts = [text]
        while taken < MOST_LINES and (taken < len(ahead) or _read_ahead(lines, ahead)):
            parts.append(ahead[taken])
            taken += 1
            if '"' in parts[-1]:
                break
        if len(parts) == 1:
            break
        text = "\n".join(parts)
    if cells is None or (width is not None and len(cells) != width):
        return line.split("\t"), 0
    for _ in range(taken):
        ahead.popleft()
    return cells, taken


def _read_ahead(lines: Iterator[str], ahead: deque[str]) -> bool:
    line = next(lines, None)
    if line is None:
        return False
    ahead.append(line)
    return True


def _scan(text: str) -> list[str] | None:
    """Return the cells of a text, or None if a quoted cell is still open at its end."""
    cells: list[str] = []
    at = 0
    while True:
        if match := _QUOTED.match(text, at):
            cells.append(match[1].replace('""', '"'))
            at = match.end()
        elif _OPEN.match(text, at):
            return None
        else:
            end = text.find("\t", at)
            cells.append(text[at:] if end < 0 else text[at:end])
            at = len(text) if end < 0 else end
        if at == len(text):
            return cells
        at += 1
