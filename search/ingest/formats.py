"""How people write numbers and dates, and conversion to the numbers and the ISO 8601 dates that fields hold.

The name of a format of numbers is an example of it: `1.234,5` groups by dots and has a decimal comma. The formats of
dates say the order of their parts; months in words are understood in each of them, and so is ISO 8601.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache

from babel import Locale

NUMBER_FORMATS: Mapping[str, tuple[str, str]] = {
    "1234.5": ("", "."), "1,234.5": (",", "."), "1234,5": ("", ","), "1.234,5": (".", ","), "1 234.5": (" ", "."),
    "1 234,5": (" ", ","), "1'234.5": ("'", "."), "1'234,5": ("'", ","),
}  # fmt: skip
"""Format → mark between groups of digits (empty: none), decimal mark."""
DATE_FORMATS = ("iso", "words", "dmy", "mdy", "ymd")
"""Formats of dates: ISO 8601 only, months in words too, and the orders of days, months and years in digits."""
LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "sk", "hu", "ro", "bg", "ru", "uk",
    "el", "tr", "id", "vi", "hr", "sl", "et", "lv", "lt", "ca",
)  # fmt: skip
"""Languages whose names of months are known (CLDR); a name that means two months in them is not."""
EXACT = 1 << 53
"""Below this, a float holds each whole number."""
LARGEST = 1 << 63
"""Whole numbers from here on do not fit the 64 bits in which they are stored."""

_SPACES = " \u00a0\u2009\u202f"
_GROUPS = {"": "", ",": ",", ".": r"\.", " ": f"[{_SPACES}]", "'": "['’`]"}
_PLAIN = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_TIME = re.compile(
    r"[ T,]+(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(:(?P<second>[0-9]{2})(?P<part>\.[0-9]+)?)?"
    r"(\s?(?P<half>[AaPp])\.?[Mm]\.?)?(\s?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2}))?$"
)
_DIGITS = re.compile(
    r"(?P<a>[0-9]{1,4})(?P<mark>[-/. ]|\. |年|년 ?)(?P<b>[0-9]{1,2})((?P=mark)|月|월 ?)(?P<c>[0-9]{1,4})(日|일|\.)?"
)
_MONTH = re.compile(r"(?P<month>[0-9]{1,2})[-/.](?P<year>[0-9]{4})")
_YEAR_MONTH = re.compile(r"(?P<year>[0-9]{4})[/.](?P<month>[0-9]{1,2})")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_WEEKDAY = re.compile(r"([^\W\d_]+)\.?,\s+")
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|er|re|º|ª|e|a|o)?")
_JOINING = frozenset(("of", "de", "del", "den", "the", "г"))
_DATE = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12][0-9]|3[01])(?:[T ](?:(?:[01][0-9]|2[0-3]):[0-5][0-9]"
    r"(?::(?:[0-5][0-9]|60)(?:\.[0-9]+)?)?|24:00(?::00)?)(?:Z|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9])?)?)?"
)
_LIKE_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?\S*)?)?")

NumberReader = Callable[[str], int | float]


def is_iso_date(text: str) -> bool:
    """Whether the text is a month, a day or a time in ISO 8601 notation, and one that calendar and clock have."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    return not match[3] or int(match[3]) <= 28 or _has_day(int(match[1]), int(match[2]), int(match[3]))


def is_like_iso_date(text: str) -> bool:
    """Whether the text is written as a date in ISO 8601 notation, be there such a day or not."""
    return _LIKE_DATE.fullmatch(text) is not None


@lru_cache(maxsize=len(NUMBER_FORMATS))
def number_reader(name: str) -> NumberReader:
    """Return the function that gives the number that a text in this format spells; it raises ValueError for others."""
    group, decimal = NUMBER_FORMATS[name]
    if not group and decimal == ".":
        return _plain_number
    grouped = rf"[0-9]{{1,3}}(?:{_GROUPS[group]}[0-9]{{3}})+|" if group else ""
    if group == ",":
        grouped += r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}|"  # lakhs and crores
    pattern = re.compile(rf"[+-]?(?:{grouped}[0-9]+)(?P<part>{re.escape(decimal)}[0-9]+)?")
    left_out = str.maketrans(dict.fromkeys(_SPACES + "'’`" if group in " '" else group, ""))

    def read(text: str) -> int | float:
        text = text.strip().replace("−", "-")
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return _plain_number(text.translate(left_out).replace(decimal, "."))

    return read


def _plain_number(text: str) -> int | float:
    text = text.strip().replace("−", "-")
    match = _PLAIN.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if "." not in text and "e" not in text and "E" not in text:
        whole = int(text)
        if not -LARGEST <= whole < LARGEST:
            raise ValueError(text)
        return whole
    number = float(text)
    if abs(number) < EXACT:
        return number
    exact = Decimal(text)
    if exact != exact.to_integral_value() or abs(exact) >= LARGEST:
        if not math.isfinite(number) or match[3] is None:
            raise ValueError(text)
        return number
    return int(exact)


def read_date(text: str, name: str) -> str:
    """Return a date in this format as ISO 8601 writes it; ValueError with what is wrong, as a part of a sentence."""
    text = text.strip()
    if is_iso_date(text) or re.fullmatch(r"[0-9]{4}", text):
        return text
    if is_like_iso_date(text):
        raise ValueError(f"{text[:60]!r} is no date that the calendar and the clock have")
    if name == "iso":
        raise ValueError(f"{text[:60]!r} is not a date as ISO 8601 writes it (such as 2024-05-31)")
    time = _TIME.search(text)
    day = text[: time.start()] if time else text
    parts = date_parts(day, name)
    if parts is None:
        raise ValueError(f"{text[:60]!r} is not a date of the format '{name}'")
    clock = _clock(time) if time else ""
    if not _has_day(*parts) or clock is None:
        raise ValueError(f"{text[:60]!r} is no date that the calendar and the clock have")
    year, month, of_month = parts
    written = f"{year:04}-{month:02}" + (f"-{of_month:02}" if of_month else "")
    return f"{written}T{clock}" if clock and of_month else written


def date_parts(text: str, name: str) -> tuple[int, int, int] | None:
    """Return year, month and day (0: none) of a date without its time, None if it is not of the format."""
    if name != "words" and (match := _DIGITS.fullmatch(text)):
        one, two, three = match["a"], match["b"], match["c"]
        if len(one) == 4:
            return (int(one), int(two), _day(three)) if name == "ymd" and len(three) < 3 else None
        if len(three) != 4 or len(one) > 2 or name == "ymd":
            return None
        return (int(three), int(two), _day(one)) if name == "dmy" else (int(three), int(one), _day(two))
    if name != "words" and (match := _MONTH.fullmatch(text) or _YEAR_MONTH.fullmatch(text)):
        return int(match["year"]), int(match["month"]), 0
    return _in_words(text)


@lru_cache(maxsize=4_096)
def digits_of(text: str) -> tuple[int, int, str] | None:
    """Return both numbers before the year of a date in digits, and the mark between them; None for any other text."""
    time = _TIME.search(text)
    match = _DIGITS.fullmatch(text[: time.start()] if time else text)
    if match is None or len(match["a"]) > 2 or len(match["c"]) != 4:
        return None
    return int(match["a"]), int(match["b"]), match["mark"].strip()


def _in_words(text: str) -> tuple[int, int, int] | None:
    """Return the parts of *May 31, 2024*, *31 de mayo de 2024*, *Fri, 31-May-2024* or *May 2024*."""
    if (weekday := _WEEKDAY.match(text)) and weekday[1].lower() not in month_names():
        text = text[weekday.end() :]
    words = [word for word in _WORDS.findall(text) if word.lower() not in _JOINING]
    if not 2 <= len(words) <= 3:
        return None
    years = [word for word in words if len(word) == 4 and word.isascii() and word.isdigit()]
    months = [number for word in words if (number := month_names().get(word.lower()))]
    if len(years) != 1 or len(months) != 1 or (words[0] != years[0] and words[-1] != years[0]):
        return None
    days = [match for word in words if word != years[0] and (match := _ORDINAL.fullmatch(word.lower()))]
    if len(days) != len(words) - 2:
        return None
    return int(years[0]), months[0], _day(days[0][1]) if days else 0


@lru_cache(maxsize=1)
def month_names() -> Mapping[str, int]:
    """Return name or abbreviation → month, for the names that mean one month in all languages that have them."""
    found: dict[str, set[int]] = {}
    for code in LANGUAGES:
        months = Locale(code).months
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[context][width].items():
                    found.setdefault(name.lower().rstrip("."), set()).add(number)
    return {name: numbers.pop() for name, numbers in found.items() if len(numbers) == 1 and not name[-1].isdigit()}


def _day(digits: str) -> int:
    """Return the day, one that no month has for the day 0: 0 stands for a date that is a month."""
    return int(digits) or 32


def _clock(time: re.Match[str]) -> str | None:
    """Return a time as ISO 8601 writes it, None if the clock does not have it."""
    hour = int(time["hour"])
    if half := (time["half"] or "").lower():
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    written = f"{hour:02}:{time['minute']}" + (f":{time['second']}" if time["second"] else "") + (time["part"] or "")
    written += time["zone"] or ""
    return written if is_iso_date(f"2000-01-01T{written}") else None


def _has_day(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and year >= 1 and day <= monthrange(year, month)[1]
