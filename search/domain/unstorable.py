"""Text from outside that nothing can store: a NUL character, or half of a character (a lone surrogate).

JSON can write both (`"\\u0000"`, `"\\ud800"`), and bytes of a command line that are no UTF-8 become the latter. UTF-8
has no form for half a character (RFC 3629), and Postgres none for NUL. Every door asks here before anything is done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from search.domain.errors import Fault, pointer

_WRONG = re.compile("[\x00\ud800-\udfff]")
HALVES = re.compile("[\ud800-\udfff]")
"""Halves of characters alone, for files whose NUL characters are replaced when they are stored."""
_ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
MOST_FAULTS = 50
REPLACEMENT = "\ufffd"
SENTENCE = "holds a NUL character or half of a character (a lone surrogate), which no text can hold; remove it."


def storable(text: str) -> bool:
    """Whether a text can be written as UTF-8 and stored in Postgres."""
    return _WRONG.search(text) is None


def replaced(text: str) -> str:
    """Return a text with the replacement character for NUL, and a question mark for half of a character."""
    return text.replace("\x00", REPLACEMENT).encode("utf-8", "replace").decode()


def may_be_unstorable(body: bytes) -> bool:
    """Whether JSON in UTF-8 may have such a text; false for almost all JSON, without a look at its values."""
    return _ESCAPED.search(body) is not None


def unstorable(value: Any, wrong: re.Pattern[str] = _WRONG) -> list[Fault]:
    """Return a fault for each text of a JSON value that cannot be stored, in their order, at most `MOST_FAULTS`.

    A key's fault is at the object that has it, or, in the outermost object, at the key itself.
    """
    found: list[Fault] = []
    # Not by recursion: JSON may be nested as deep as its parser goes.
    left: list[tuple[str, Any]] = [("", value)]
    while left and len(found) < MOST_FAULTS:
        at, one = left.pop()
        if isinstance(one, str):
            found += [Fault(at, f"The text {SENTENCE}")] if wrong.search(one) else []
        elif isinstance(one, Mapping):
            inside = [(str(key), at + pointer(replaced(str(key))), item) for key, item in one.items()]
            bad = [(key, place) for key, place, _ in inside if wrong.search(key)]
            found += [Fault(at or place, f"The name {replaced(key)[:80]!r} {SENTENCE}") for key, place in bad]
            left += [(place, item) for _, place, item in reversed(inside)]
        elif isinstance(one, list | tuple):
            left += [(f"{at}/{index}", item) for index, item in reversed(list(enumerate(one)))]
    return found[:MOST_FAULTS]
