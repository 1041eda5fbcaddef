"""How numbers, dates and amounts are written for the reader: in the manner of their language, with units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from babel import Locale
from babel.dates import format_date, format_skeleton
from babel.numbers import get_currency_symbol

from search.language.units import UNITS, written_unit

LANGUAGES = ("en", "de", "fr", "es")
"""Languages in which the site knows its words, numbers and dates; readers of all others get the first one's."""
_LOCALES: Mapping[str, str] = {"en": "en_GB"}
GROUPED = 10_000
"""From this number on, thousands of whole numbers without a unit are set apart: smaller ones may be years."""
_THOUSANDFOLD: Mapping[str, str] = {"mg": "g", "g": "kg", "ml": "l"}
_MARKS: Mapping[str, str] = {"percent": "%"}
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
_READER: ContextVar[str] = ContextVar("reader", default=LANGUAGES[0])


def language() -> str:
    """Return the language of whoever reads what is written now."""
    return _READER.get()


def read_in(codes: Iterable[str]) -> None:
    """Write for a reader who prefers these languages, the best first, until the next call: `de-AT`, `en`."""
    plain = (code.split("-")[0].lower() for code in codes)
    _READER.set(next((code for code in plain if code in LANGUAGES), LANGUAGES[0]))


@contextmanager
def reading_in(code: str) -> Iterator[None]:
    """Write for a reader of a language inside the block."""
    before = _READER.set(code)
    try:
        yield
    finally:
        _READER.reset(before)


def number(value: int | float, *, grouped: bool = True) -> str:
    """Return a number with all its digits: `1,234.5`, in German `1.234,5`."""
    return localised(f"{value:,}" if grouped else f"{value}")


def localised(text: str) -> str:
    """Return a number that is written as English has it, `1,234.5`, with the reader's marks."""
    return text.translate(_marks(language()))


def value_words(value: Any, unit: str = "", *, year: bool = False) -> str:
    """Return a value for people: `1.9 kg`, `389 €`, `3 March 2021`, `red, blue`; with `year` no number is grouped."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value, grouped=False) if year and not unit else _amount(value, unit)
    if isinstance(value, list):
        return ", ".join(value_words(one, unit) for one in value)
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    return (_day(found) if found else None) or str(value)


def range_words(low: Any, high: Any, unit: str, between: str) -> str:
    """Return two values with their unit once, if both have the same one: `100 and 300 g`."""
    ends = value_words(low, unit), value_words(high, unit)
    (first, _, mark), (_, _, same) = (end.rpartition(" ") for end in ends)
    return between.join([first if unit and mark == same and first else ends[0], ends[1]])


def day(value: date) -> str:
    """Return a day as tables have it: `3 Mar 2021`, in German `03.03.2021`."""
    return format_date(value, "medium", _locale(language()))


def moment(value: datetime, *, seconds: bool = False) -> str:
    """Return a day and time as tables have it: `3 Mar 2021, 09:05`."""
    return f"{day(value)}, {value:%H:%M:%S}" if seconds else f"{day(value)}, {value:%H:%M}"


def day_of_year(value: date, *, short: bool = True) -> str:
    """Return a day without its year: `3 Mar`, in German `3. März`; not `short`, with the whole name of the month."""
    return format_skeleton("MMMd" if short else "MMMMd", value, locale=_locale(language()))


def month(value: date) -> str:
    """Return a month with its year: `March 2021`, in German `März 2021`."""
    return format_skeleton("yMMMM", value, locale=_locale(language()))


def _amount(value: int | float, unit: str) -> str:
    exact = value if isinstance(value, int) else float(f"{value:.12g}")
    known = unit.lower() in UNITS
    while known and (larger := _THOUSANDFOLD.get(_symbol(unit))) and abs(exact) >= 1000:
        exact, unit = exact / 1000, larger
    exact = int(exact) if exact == int(exact) else exact
    if not unit:
        return number(exact, grouped=not isinstance(exact, int) or abs(exact) >= GROUPED)
    if known and UNITS[unit.lower()].currency and exact == round(exact, 2) and exact != int(exact):
        return f"{localised(f'{exact:,.2f}')} {_unit(unit, one=False)}"
    return f"{number(exact)} {_unit(unit, one=exact == 1) if known else _MARKS.get(unit, unit)}"


def _unit(unit: str, *, one: bool) -> str:
    currency = UNITS[unit.lower()].currency
    if len(currency) == 3:
        return get_currency_symbol(currency, _locale(language()))
    return written_unit(unit.lower(), one=one)


@lru_cache(maxsize=64)
def _symbol(unit: str) -> str:
    """Return the shortest name of a unit: `grams` → `g`."""
    return min((name for name, one in UNITS.items() if one == UNITS[unit.lower()]), key=len)


def _day(found: re.Match[str]) -> str | None:
    try:
        said = format_date(date.fromisoformat(found[1]), "long", _locale(language()))
    except ValueError:
        return None
    return f"{said}, {found[2]}" if found[2] else said


@lru_cache(maxsize=len(LANGUAGES))
def _locale(code: str) -> Locale:
    return Locale.parse(_LOCALES.get(code, code))


@lru_cache(maxsize=len(LANGUAGES))
def _marks(code: str) -> dict[int, str]:
    symbols = _locale(code).number_symbols["latn"]
    return str.maketrans({",": symbols["group"], ".": symbols["decimal"]})
