"""Amounts: a number with one mark beside it, which is a currency, a unit or a percent sign."""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.language.units import CURRENCIES, UNITS

NUMBER = r"[0-9](?:[0-9.,'’ \u00a0\u2009\u202f]*[0-9])?"
SIGN = r"[-+−]?"
_BEFORE = re.compile(rf"({SIGN})\s*([^\W\d_]{{1,3}}|[^\w\s.,+−-]{{1,2}})\s*({SIGN}{NUMBER})")
_BEHIND = re.compile(rf"({SIGN}{NUMBER})(\s*)([^\d\s.,'’()+−-][^\d.,()]{{0,19}})")
_BRACKETS = re.compile(r"(.*\S)\s*[(\[]\s*([^()\[\]]{1,12})\s*[)\]]")
PERCENT = "%"
FEWEST = 3
"""Values from which on a word that is no known unit may be the unit of a column."""
_CODES = {name: code.lower() for code, names in CURRENCIES for name in names.split()}


def split_amount(text: str) -> tuple[str, str] | None:
    """Return the mark of an amount and its number, None for a text that is none: `$1,250.00` → `$`, `1,250.00`."""
    text = text.strip()
    if (match := _BEFORE.fullmatch(text)) and match[2].casefold() in _CODES:
        return match[2], match[1] + match[3]
    if (match := _BEHIND.fullmatch(text)) and (match[2] or _is_known(match[3])):
        return match[3], match[1]
    return None


def unit_of_marks(marks: Sequence[str], values: int) -> str:
    """Return the one mark that all amounts of a column have, empty if there is none; `values` is their number."""
    called = {unit_word(mark) for mark in marks}
    if len(called) != 1 or (values < FEWEST and not _is_known(marks[0])):
        return ""
    return marks[0]


def number_in(text: str, unit: str) -> str:
    """Return the number of an amount in a unit, and any other text as it is."""
    found = split_amount(text)
    return found[1] if found and unit_word(found[0]) == unit_word(unit) else text


def is_money(mark: str) -> bool:
    """Whether the mark is a currency."""
    return mark.casefold() in _CODES


def unit_word(mark: str) -> str:
    """Return the word for a unit as the name of a field has it: `$` → `usd`, `%` → `percent`."""
    mark = mark.strip()
    return "percent" if mark == PERCENT else _CODES.get(mark.casefold(), mark if mark in UNITS else mark.casefold())


def named_with_unit(column: str, unit: str) -> str:
    """Return the name of a field whose values have a unit: the column's, and behind it the unit: `Weight kg`.

    `Height (cm)` has its unit in brackets, and becomes `Height cm`.
    """
    bracketed = _BRACKETS.fullmatch(column.strip())
    if bracketed and (_is_known(bracketed[2]) or (unit and unit_word(bracketed[2]) == unit_word(unit))):
        column, unit = bracketed[1], unit or bracketed[2]
    if not unit:
        return ""
    word = unit_word(unit)
    last = re.split(r"[_\s]+", column)[-1]
    if unit_word(last) == word:
        return "" if not bracketed else column
    return f"{column}_{word}" if "_" in column and " " not in column else f"{column} {word}"


def _is_known(mark: str) -> bool:
    return mark.strip() == PERCENT or mark.strip().casefold() in UNITS
