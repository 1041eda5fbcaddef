"""Kinds of fields, inferred from their values if the bundle declares none, and conversion of values to their kind."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from typing import Any

from search.domain.graph import Field, FieldKind, FieldValue
from search.ingest.formats import LARGEST, is_iso_date, is_like_iso_date, number_reader, read_date
from search.ingest.manifest import DeclaredField

LONGEST_KEYWORD = 80
"""Most characters of a value in a keyword field."""
LONGEST_INTEGER = 19
"""Characters from which on a whole number may not fit 64 bits."""
WORDS_OF_KEYWORDS = 5
"""A field of short values is a keyword field if its values have at most this many words on average."""

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DECIMAL = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}")
_LEADING_ZERO = re.compile(r"-?0[0-9]")
MISSING_WORDS = frozenset(
    ("null", "n/a", "#n/a", "na", "n.a.", "nan", "none", "nil", "<na>", "<null>", "\\n", "-", "--", "–", "—", "?", ".")
)
"""Words for no value, in lower case. Each may be a value as well, so a mapping says where they are none."""
MISSING_HINT = "; if it stands for no value, list it under 'missing' of the column"
_DIGITS = re.compile(r"[+-]?[0-9]+")
_DECIMAL_COMMA = re.compile(r"-?[0-9]{1,15},[0-9]{1,15}")
_COMPACT_DATE = re.compile(r"((?:1[5-9]|20)[0-9]{2})(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])")
"""A day without hyphens (ISO 8601, basic format). Alone it may as well be a number."""

Scalar = str | int | float


def is_number(text: str) -> bool:
    """Whether the text is the canonical spelling of a number: `007` and `1.50` are not."""
    if _INTEGER.fullmatch(text):
        return len(text) < LONGEST_INTEGER or -LARGEST <= int(text) < LARGEST
    return bool(_DECIMAL.fullmatch(text)) and repr(float(text)) == text


def is_date(text: str) -> bool:
    """Whether the text is a month, a day or a time in ISO 8601 notation, and one that the calendar has."""
    return is_iso_date(text)


def to_number(text: str) -> int | float:
    """Return the number that the text spells; ValueError if it spells none, or one that cannot be stored as it is."""
    return number_reader("1234.5")(text)


def number_hint(text: str) -> str:
    """Return what to do with a text that is almost a number, as the end of a sentence; empty for any other text."""
    text = text.strip()
    if _DECIMAL_COMMA.fullmatch(text):
        return f"; write it {text.replace(',', '.')}, or give the column's format of numbers"
    if _DIGITS.fullmatch(text):
        return "; whole numbers have at most 64 bits here: take the column for a keyword"
    return MISSING_HINT if is_missing(text) else ""


def is_missing(text: str) -> bool:
    """Whether the text is a word with which programs write that there is no value."""
    return text.strip().casefold() in MISSING_WORDS


def is_plain_number(text: str) -> bool:
    """Whether the text is a number as people write it: `1.50` is, `007` is not."""
    return bool(_INTEGER.fullmatch(text) or (_DECIMAL.fullmatch(text) and not _LEADING_ZERO.match(text)))


def scalar(value: object) -> Scalar | None:
    """Return the text or number for one value read from a file, or None if the value has another type."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value if -LARGEST <= value < LARGEST else _long_number(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    return None


def _long_number(value: int) -> float | str:
    """Return a whole number of more than 64 bits as a float that is written with its very digits, else as a text."""
    try:
        number = float(value)
    except OverflowError:
        return str(value)
    return number if int(Decimal(repr(number))) == value else str(value)


class FieldKinds:
    """Accumulates the values of one field of one node type and infers the field's kind from them."""

    __slots__ = (
        "_but_days", "_but_words", "_compact", "_dates", "_declared", "_impossible", "_keywords", "_many", "_missing",
        "_numbers", "_values", "_words", "coverage",
    )  # fmt: skip

    def __init__(self, declared: DeclaredField | None = None) -> None:
        self._declared = declared or DeclaredField()
        self._many = self._declared.many
        self._numbers = self._dates = self._keywords = self._declared.kind is None
        self._values = self._words = self._compact = self._missing = 0
        self._but_words = self._but_days = self._numbers
        self._impossible = ""
        self.coverage = 0

    def observe(self, value: FieldValue) -> None:
        """Take the field's value of one node into account."""
        self.coverage += 1
        if isinstance(value, list):
            self._many = True
            if self._keywords or self._but_words or self._but_days:
                for item in value:
                    self._one(item)
        elif self._keywords or self._but_words or self._but_days:
            self._one(value)

    def _one(self, value: Scalar) -> None:
        self._values += 1
        if not isinstance(value, str):
            self._dates = self._but_days = False
            self._words += 1
            return
        if self._but_words and not is_number(value):
            self._numbers, self._but_words = False, is_missing(value)
            self._missing += self._but_words
        if self._but_days:
            self._day(value)
        if self._keywords:
            if len(value) > LONGEST_KEYWORD or "\n" in value:
                self._keywords = False
            else:
                self._words += value.count(" ") + 1

    def _day(self, value: str) -> None:
        # Among days with hyphens, eight digits are a day as well; numbers of eight digits alone are numbers.
        if _is_day(value):
            self._compact += not is_date(value)
            return
        self._dates, self._but_days = False, is_like_iso_date(value)
        self._impossible = self._impossible or value

    @property
    def doubt(self) -> str:
        """Why a field of an inferred kind holds texts although its values are almost numbers or dates; else empty."""
        if self._but_words and 0 < self._missing < self._values:
            counted = f"{self._missing} of its {self._values} values are words for no value"
            return f"holds texts: {counted}, the others numbers"
        if self._but_days and self._impossible and self._compact < self._values:
            shown = repr(self._impossible[:40])
            return f"holds texts: {shown} is no day or time that exists, and all its values look like dates"
        return ""

    @property
    def kind(self) -> FieldKind:
        """The declared kind if there is one, otherwise the narrowest kind that fits every value seen."""
        if self._declared.kind is not None:
            return self._declared.kind
        if not self._values:
            return "text"
        if self._numbers:
            return "number"
        if self._dates and self._compact < self._values:
            return "date"
        return "keyword" if self._keywords and self._words <= WORDS_OF_KEYWORDS * self._values else "text"

    def field(self, name: str) -> Field:
        """Return the field for the schema."""
        return Field(name, self.kind, self._many, self.coverage, self._declared.kind is None, self._declared.unit)


def _is_day(text: str) -> bool:
    return is_date(text) or (
        _COMPACT_DATE.fullmatch(text) is not None and is_date(_COMPACT_DATE.sub(r"\1-\2-\3", text))
    )


def value_fault(value: FieldValue, kind: FieldKind | None) -> str | None:
    """Return why a value does not fit the declared kind of its field, or None if it fits."""
    for item in value if isinstance(value, list) else (value,):
        if kind == "number" and isinstance(item, str):
            try:
                to_number(item)
            except ValueError:
                return f"'{item[:60]}' is not a number{number_hint(item)}"
        if kind == "date" and not _is_day(str(item)):
            try:
                read_date(str(item), "iso")
            except ValueError as error:
                return str(error)
    return None


def fit(value: FieldValue, field: Field) -> FieldValue:
    """Return the value converted to number or text by its field's kind, and to a list if the field holds lists.

    The days of a field of dates are all spelled with hyphens, so that their texts have the order of the days.
    """
    if isinstance(value, list):
        return [_fit_one(item, field.kind) for item in value]  # type: ignore[return-value]
    fitted: Any = _fit_one(value, field.kind)
    return [fitted] if field.many else fitted


def _fit_one(value: Scalar, kind: FieldKind) -> Scalar:
    if kind == "number":
        return to_number(value) if isinstance(value, str) else value
    text = value if isinstance(value, str) else str(value)
    return _COMPACT_DATE.sub(r"\1-\2-\3", text) if kind == "date" and _COMPACT_DATE.fullmatch(text) else text
