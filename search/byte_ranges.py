"""The part of a file that a request asks for, by RFC 9110, sections 13.1.5 and 14.2."""

from __future__ import annotations

import re
import sys

_ONE_RANGE = re.compile(r"bytes=[ \t]*(?:([0-9]+)-([0-9]*)|-([0-9]+))[ \t]*", re.IGNORECASE | re.ASCII)
_LONGEST_NUMBER = 18
"""Digits of a position that are read; no file is longer."""


class NotSatisfiable(ValueError):
    """The file has no byte of the range that is asked for."""


def wanted_range(asked: str | None, size: int, *, tag: str, only_if: str | None = None) -> tuple[int, int] | None:
    """Return the first byte and the byte after the last of the part that is asked for; None for the whole file.

    Args:
        asked: the header Range.
        size: bytes of the whole file.
        tag: the strong entity tag of the file, with its quotes.
        only_if: the header If-Range. Dates and weak tags never match, so that no two versions are ever joined.

    Several ranges, other units and whatever is no range ask for the whole file, as the standard permits.

    Raises NotSatisfiable.
    """
    found = _ONE_RANGE.fullmatch(asked or "")
    if found is None or (only_if is not None and only_if.strip() != tag):
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        length = min(_number(suffix), size)
        if _number(suffix) == 0:
            raise NotSatisfiable(asked)
        # A part without bytes has no Content-Range, so an empty file is sent whole.
        return (size - length, size) if size else None
    start = _number(first)
    if last and _number(last) < start:
        return None
    if start >= size:
        raise NotSatisfiable(asked)
    return start, min(_number(last) + 1, size) if last else size


def _number(digits: str) -> int:
    plain = digits.lstrip("0") or "0"
    return int(plain) if len(plain) <= _LONGEST_NUMBER else sys.maxsize
