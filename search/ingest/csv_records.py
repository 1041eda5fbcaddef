"""The records of a CSV file; behind a quotation mark that is never closed, reading goes on with the next row.

A mark that nobody closes makes the rest of the file one cell. A record of several lines that is damaged, or that is
longer than `LONGEST_RECORD`, therefore gives back its lines from the first one that is a whole row by itself.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_CELL = 1 << 25
"""Most characters of a cell."""
# The limit of the module csv, which is one for the whole process, is lower by default.
csv.field_size_limit(LONGEST_CELL)
LONGEST_RECORD = 1 << 24
"""Most characters of a record of several lines: so much is read ahead to find the end of a quoted cell."""
LEAST_INSIDE, MOST_INSIDE = 3, 10
"""Lines of a quoted cell that are looked at: if nearly all are rows by themselves, the mark should not open it."""
SHARE_INSIDE = 0.8
LEAST_WIDTH = 3
"""Least columns of a table whose quoted cells are looked at: prose often has lines with one comma."""


@dataclass(frozen=True, slots=True)
class RecordFault:
    """Why a record cannot be read. `opened` is the line on which its first quoted cell that goes on begins, else 0.

    `resumed` is the line with which reading goes on, 0 if no later line of the record is a row by itself.
    """

    kind: str
    message: str
    opened: int = 0
    last: int = 0
    resumed: int = 0

    def sentence(self, skipped: int) -> str:
        """Return the fault for people, with line numbers of a file of which lines were skipped."""
        if not self.opened:
            return f"Not a row of CSV: {self.message}."
        told = f"The quotation mark that opens a cell on line {skipped + self.opened} is not closed as it should be: "
        if self.resumed:
            return f"{told}{self.message}. The lines from {skipped + self.resumed} on are read as rows."
        lines = "Line" if self.last == self.opened else f"Lines {skipped + self.opened} to"
        return f"{told}{self.message}. {lines} {skipped + self.last} are left out."


Record = tuple[int, list[str], RecordFault | None]
"""The number of a record's first line, its cells, and why it cannot be read."""


class _TooLong(Exception):
    """A record of several lines is longer than LONGEST_RECORD."""


class CsvRecords:
    """Iterates over the records of the lines; empty lines are skipped. `width` is the number of columns, 0: unknown."""

    def __init__(self, lines: Iterator[str], delimiter: str, width: int = 0) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._width = width
        self._again: deque[str] = deque()
        self._taken: list[str] = []
        self._size = 0

    def set_width(self, width: int) -> None:
        """Say how many columns the table has, once its header is known."""
        self._width = width

    def __iter__(self) -> Iterator[Record]:
        parsed = self._reader()
        begin = 1
        while True:
            try:
                cells = next(parsed)
            except StopIteration:
                return
            except (csv.Error, _TooLong) as error:
                # The reader has come to its end, or to that of `_feed`; there are lines to be read again.
                yield begin, [], self._damaged(begin, str(error))
                parsed = self._reader()
            else:
                if len(self._taken) == 1 or (fault := self._suspected(begin, len(cells))) is None:
                    if cells:
                        yield begin, cells, None
                else:
                    yield begin, [], fault
            begin += len(self._taken)
            self._taken.clear()
            self._size = 0

    def _reader(self) -> Iterator[list[str]]:
        return csv.reader(self._feed(), "excel", strict=True, delimiter=self._delimiter)

    def _feed(self) -> Iterator[str]:
        """Yield the lines that were given back, then those of the file, and note those of this record."""
        taken, again = self._taken, self._again
        while True:
            line = again.popleft() if again else next(self._lines, None)
            if line is None:
                return
            taken.append(line)
            self._size += len(line)
            yield line
            if self._size > LONGEST_RECORD and len(taken) > 1:
                raise _TooLong(f"its cell goes on for more than {LONGEST_RECORD >> 20} million characters")

    def _suspected(self, begin: int, width: int) -> RecordFault | None:
        """Return the fault of a record of several lines that can be parsed, None if it is taken as it is."""
        if not self._width:
            return None
        if width != self._width:
            if not any(map(self._is_row, self._taken[1:])):
                return None
            message = f"the row would have {width} columns, and not {self._width}"
        else:
            inside = self._taken[1 : 1 + MOST_INSIDE]
            rows = sum(map(self._is_row, inside))
            if self._width < LEAST_WIDTH or len(inside) < LEAST_INSIDE or rows < SHARE_INSIDE * len(inside):
                return None
            message = f"the cell would hold {len(self._taken) - 1} lines that look like rows"
        return self._given_back(begin, "bad_columns" if width != self._width else "bad_csv", message)

    def _damaged(self, begin: int, message: str) -> RecordFault:
        if len(self._taken) <= 1:
            return RecordFault("bad_csv", message)
        if message == "unexpected end of data":
            message = "the file ends inside the cell"
        return self._given_back(begin, "bad_csv", message)

    def _given_back(self, begin: int, kind: str, message: str) -> RecordFault:
        """Give back the lines of this record from the first one that is a row; those before belong to the fault."""
        opened, last = begin + self._opening(), begin + len(self._taken) - 1
        rows = (at for at in range(1, len(self._taken)) if self._is_row(self._taken[at]))
        resumed = next(rows, 0)
        if resumed:
            self._again.extendleft(reversed(self._taken[resumed:]))
            del self._taken[resumed:]
        return RecordFault(kind, message, opened, last, begin + resumed if resumed else 0)

    def _opening(self) -> int:
        """Return the position of the line on which the last cell begins that goes on in the next line."""
        found, is_open = 0, False
        for position, line in enumerate(self._taken):
            if line.count('"') % 2:
                is_open = not is_open
                found = position if is_open else found
        return found

    def _is_row(self, line: str) -> bool:
        try:
            found = list(csv.reader([line], "excel", strict=True, delimiter=self._delimiter))
        except csv.Error:
            return False
        return bool(self._width) and [len(cells) for cells in found] == [self._width]
