"""Says a range of seconds in words: "2 to 4 minutes", or "about 3 minutes" where it is narrow."""

from __future__ import annotations

import math

STEPS = ((20, 5, "second"), (90, 10, "second"), (600, 60, "minute"), (5400, 300, "minute"), (math.inf, 1800, "hour"))
"""(up to, step, unit), all in seconds: a time is rounded to the steps of the first row that it is not beyond."""
UNITS = {"second": 1, "minute": 60, "hour": 3600}


def rounded(low: float, high: float) -> tuple[int, int]:
    """Return the range that the words stand for: it holds the given one, save for half a step of a single number."""
    step = _step(high)
    middle = step * round((low + high) / 2 / step)
    if middle and high - low <= step:
        return max(0, middle - step // 2), middle + step // 2
    below = _step(low)
    return below * math.floor(low / below), step * max(1, math.ceil(high / step))


def in_words(low: float, high: float) -> str:
    """Return the range in words."""
    unit = next(unit for most, _, unit in STEPS if high <= most)
    step = _step(high)
    middle = step * round((low + high) / 2 / step)
    if middle and high - low <= step:
        return f"about {_number(middle, unit)} {_plural(middle, unit)}"
    first, last = rounded(low, high)
    if first == 0:
        return f"less than {_number(last, unit)} {_plural(last, unit)}"
    its = next(unit for most, _, unit in STEPS if low <= most)
    before = _number(first, its) if its == unit else f"{_number(first, its)} {_plural(first, its)}"
    return f"{before} to {_number(last, unit)} {_plural(last, unit)}"


def _step(seconds: float) -> int:
    return next(step for most, step, _ in STEPS if seconds <= most)


def _number(seconds: int, unit: str) -> str:
    return f"{seconds / UNITS[unit]:g}"


def _plural(seconds: int, unit: str) -> str:
    return unit if seconds == UNITS[unit] else f"{unit}s"
