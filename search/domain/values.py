"""Values of fields as numbers, so that numbers and dates are compared in one way."""

from __future__ import annotations

import math
import re

_DATE = re.compile(r"(-?\d{1,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def as_number(value: object) -> float:
    """Return a value as a number: itself, a date as year.month.day in order (20150301); nan where it is neither."""
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, int | float):
        return float(value)
    found = _DATE.match(str(value))
    if found is None:
        return math.nan
    year, month, day = (int(part) if part else 0 for part in found.groups())
    return float(year * 10_000 + month * 100 + day)


def period(value: object) -> tuple[float, float]:
    """Return the first and last number of what a value stands for: all days of a year or month, else just itself."""
    number = as_number(value)
    if not isinstance(value, str) or math.isnan(number):
        return number, number
    parts = value.count("-", 1) + 1
    return number, number + {1: 9_999, 2: 99}.get(parts, 0)
