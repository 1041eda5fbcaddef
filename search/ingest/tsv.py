"""Splits tab-separated lines into cells, quoted ones included, without tripping over marks that quote nothing."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator

MOST_LINES = 2_000
"""So many lines a quoted cell may run over; a mark without its fellow is looked for no further than that."""

_QUOTED = re.compile(r'"((?:[^"]|"")*+)"(?=\t|\Z)')
_OPEN = re.compile(r'"(?:[^"]|"")*+\Z')


def split_lines(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row's first line and the row's cells; empty lines are skipped.

    Lines end with `\\n`; where the first one ends with `\\r\\n`, all do. A row with quoted cells counts as such only when
    it has as many cells as the first row.
    """
    ahead = _Lines(lines)
    width: int | None = None
    for line in ahead:
        number = ahead.number
        if not line:
            continue
        if '"' in line and (line[0] == '"' or '\t"' in line):
            cells = _quoted(line, ahead, width)
        else:
            cells = line.split("\t")
        if width is None:
            width = len(cells)
        yield number, cells


class _Lines:
    """Lines without their ends, with a look at the lines ahead."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._ahead: deque[str] = deque()
        self._end: str | None = None
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        while (line := self.next()) is not None:
            yield line

    def next(self) -> str | None:
        """Take the next line, None at the end."""
        line = self._ahead.popleft() if self._ahead else self._read()
        self.number += line is not None
        return line

    def peek(self, distance: int) -> str | None:
        """Look at a line ahead without taking it: 0 is the next one."""
        while len(self._ahead) <= distance:
            line = self._read()
            if line is None:
                return None
            self._ahead.append(line)
        return self._ahead[distance]

    def _read(self) -> str | None:
        line = next(self._lines, None)
        if line is None:
            return None
        if self._end is None:
            self._end = "\r\n" if line.endswith("\r\n") else "\n"
        return line.removesuffix(self._end)


def _quoted(line: str, ahead: _Lines, width: int | None) -> list[str]:
    text, taken = line, 0
    while True:
        cells = _scan(text)
        if cells is not None or taken == MOST_LINES:
            break
        following = ahead.peek(taken)
        if following is None:
            break
        # Only a line with a mark can close the cell: the ones before it need no scan of their own.
        parts, taken = [text, following], taken + 1
        while '"' not in parts[-1] and taken < MOST_LINES and (further := ahead.peek(taken)) is not None:
            parts.append(further)
            taken += 1
        text = "\n".join(parts)
    if cells is None or (width is not None and len(cells) != width):
        return line.split("\t")
    for _ in range(taken):
        ahead.next()
    return cells


def _scan(text: str) -> list[str] | None:
    """Return the cells, None where the last one is still open at the end."""
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
