"""CSV for people: cells that no spreadsheet takes for a formula. Every CSV that the site writes is written here.

A spreadsheet computes a cell that begins with one of `= + - @`, a tab or a line break, so that a text of somebody else
could run commands or send data away (OWASP, "CSV injection"). Such texts get an apostrophe in front; numbers stay
numbers. A text that begins with apostrophes before such a character gets one more, so that `unescaped` restores every
text exactly.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


class _Line:
    """A file-like object whose `write` returns the written text."""

    def write(self, line: str) -> str:
        return line


def harmless(text: str) -> str:
    """Return text as a cell that no spreadsheet computes."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescaped(cell: str) -> str:
    """Return the text of which `harmless` made the cell. A program that reads such a CSV applies it to every text."""
    return cell[1:] if _ESCAPED.match(cell) else cell


def csv_lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield each row as a line of CSV, while the rows are read.

    Texts and whatever else is not a number become harmless cells; numbers stay as they are, None is an empty cell.
    """
    writer = csv.writer(_Line())
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return harmless(str(value))
