"""storable: make values of a request storable in Postgres, which refuses NUL, lone surrogates and infinite numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from search.domain.errors import Fault, pointer
from search.domain.unstorable import replaced

LONGEST_STORED_TEXT = 20_000
MOST_DEPTH = 20
MOST_DIGITS = 2**63


def storable_text(text: object) -> str:
    """Return text with NUL and lone surrogates replaced, cut at 20,000 characters."""
    return replaced(str(text)[:LONGEST_STORED_TEXT])


def storable_json(value: Any, pointer: str) -> tuple[Any, list[Fault]]:
    """Return a JSON value that `jsonb` accepts, and a fault for each replaced part.

    `pointer` is the JSON pointer of the value in the request. Parts nested deeper than 20 levels become null.
    """
    faults: list[Fault] = []
    return _clean(value, pointer, 0, faults), faults


def stored_json(value: Any) -> str:
    """Return a value as JSON text for a `jsonb` column; parts that Postgres or UTF-8 refuse are replaced.

    Lists of a trace hold hundreds of entries and rarely need a replacement. Therefore the written text is searched, not
    each entry.
    """
    try:
        written = orjson.dumps(value)
    except TypeError:
        written = orjson.dumps(storable_json(value, "")[0])
    if rb"\u0000" in written:
        written = orjson.dumps(storable_json(value, "")[0])
    return written.decode()


def _clean(value: Any, at: str, depth: int, faults: list[Fault]) -> Any:
    if depth > MOST_DEPTH:
        faults.append(Fault(at, f"It is nested more than {MOST_DEPTH} levels deep."))
        return None
    if isinstance(value, Mapping):
        return {
            _text(str(key), at, faults): _clean(item, at + pointer(storable_text(key)), depth + 1, faults)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_clean(item, f"{at}/{index}", depth + 1, faults) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, at, faults)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, at, faults)
    return value


def _text(text: str, at: str, faults: list[Fault]) -> str:
    clean = storable_text(text)
    if clean != text:
        message = (
            f"The text holds a NUL character or half a character, or has more than {LONGEST_STORED_TEXT:,} characters."
        )
        faults.append(Fault(at, message))
    return clean


def _number(value: float, at: str, faults: list[Fault]) -> float | None:
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int) and -MOST_DIGITS <= value < MOST_DIGITS:
        return value
    faults.append(Fault(at, "The number is too large, or not a number at all."))
    return None
