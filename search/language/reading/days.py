"""Calendar arithmetic for dates of questions: days, months and periods as ranges of days, both ends included."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

FIRST_YEAR, LAST_YEAR = 1000, 2199
"""First and last year that is read, both included."""


def leading_number(word: str) -> int:
    """Return the number that a word begins with: `3rd` → 3."""
    return int(re.match(r"\d+", word)[0])  # type: ignore[index]


def year_of(word: str) -> int | None:
    """Return the year that a word of four digits names; None if it can be none."""
    if len(word) != 4 or not (word.isascii() and word.isdigit()):
        return None
    return int(word) if FIRST_YEAR <= int(word) <= LAST_YEAR else None


def one_day(year: int, month: int, day: int) -> tuple[date, date] | None:
    """Return a day as a range; None if the calendar does not have it."""
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    return date(year, month, day), date(year, month, day)


def whole_month(year: int, month: int) -> tuple[date, date] | None:
    """Return the first and last day of a month; None if there is no such month."""
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12):
        return None
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def add_months(day: date, months: int) -> date:
    """Return the day some months later, the last day of the month where it has fewer days."""
    count = day.year * 12 + day.month - 1 + months
    year, month = count // 12, count % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def back(today: date, period: str, number: int) -> date:
    """Return the day a number of periods before today."""
    if period == "day":
        return today - timedelta(days=number)
    if period == "week":
        return today - timedelta(weeks=number)
    months = {"month": 1, "year": 12, "decade": 120, "century": 1200}[period]
    return add_months(today, -number * months)


def period_around(day: date, period: str) -> tuple[date, date]:
    """Return the first and last day of the period that a day lies in."""
    if period == "day":
        return day, day
    if period == "week":
        first = day - timedelta(days=day.weekday())
        return first, first + timedelta(days=6)
    if period == "month":
        return date(day.year, day.month, 1), date(day.year, day.month, monthrange(day.year, day.month)[1])
    if period == "year":
        return date(day.year, 1, 1), date(day.year, 12, 31)
    if period == "decade":
        return date(day.year // 10 * 10, 1, 1), date(day.year // 10 * 10 + 9, 12, 31)
    begins = (day.year - 1) // 100 * 100 + 1
    return date(begins, 1, 1), date(begins + 99, 12, 31)
