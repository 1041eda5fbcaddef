"""What was seen in a column: the shapes of its values with their counts, in little memory.

The shape of a value is the value with `9` for each digit, so a column of numbers or dates has few shapes, however many
rows it has. A column with more than `MOST_SHAPES` holds free text, and is no longer looked at.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from search.ingest.fields import is_missing
from search.ingest.formats import digits_of, is_iso_date, is_like_iso_date

MOST_SHAPES = 300
LONGEST = 40
"""Most characters of a number or a date."""
LONGEST_WORD = 6
"""Most characters of a word that stands for no value."""
_DIGITS = str.maketrans("123456780", "999999999")


@dataclass(slots=True)
class ColumnShape:
    """Values of one shape: their number, and the first of them with its row."""

    count: int
    example: str
    row: int


@dataclass(slots=True)
class Profile:
    """The values of one column.

    `others` counts values that are numbers, lists or objects, in files that have types. `days` holds what stands
    before the year of dates in digits: both numbers and the mark between them, with the first such value. `impossible`
    are the first ISO dates that the calendar does not have. `missing` counts the words that may stand for no value.
    """

    others: int = 0
    shapes: dict[str, ColumnShape] = field(default_factory=dict)
    days: dict[tuple[int, int, str], ColumnShape] = field(default_factory=dict)
    impossible: ColumnShape | None = None
    missing: Counter[str] = field(default_factory=Counter)
    free: bool = False

    def observe(self, value: Any, row: int) -> None:
        """Take a value into account; empty ones are none."""
        if value is None or value == "":
            return
        if type(value) is not str:
            if isinstance(value, list):
                for item in value:
                    self.observe(item, row)
            self.others += 1
            return
        if self.free and len(value) > LONGEST_WORD:
            return
        text = value.strip()
        if len(text) <= LONGEST_WORD and is_missing(text):
            self.missing[value] += 1
        elif not self.free:
            self._shaped(text, row)

    def _shaped(self, text: str, row: int) -> None:
        shape = shape_of(text)
        known = self.shapes.get(shape)
        if known is None:
            self.shapes[shape] = known = ColumnShape(0, text[: LONGEST + 1], row)
            self.free = len(text) > LONGEST or len(self.shapes) > MOST_SHAPES
        known.count += 1
        if shape[:1] not in "09" or len(shape) < 8:
            return
        if is_like_iso_date(text):
            if self.impossible is None and not is_iso_date(text):
                self.impossible = ColumnShape(1, text, row)
        elif found := digits_of(text):
            self.days.setdefault(found, ColumnShape(0, text, row)).count += 1


def shape_of(text: str) -> str:
    """Return the shape of a text; a zero that begins a number of several digits is kept, as `007` is no number."""
    begin = 1 if text[:1] in ("-", "+", "−") else 0
    shape = text.translate(_DIGITS)
    return f"{shape[:begin]}0{shape[begin + 1 :]}" if text[begin : begin + 1] == "0" else shape
