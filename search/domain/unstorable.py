"""Text from outside that nothing can store: a NUL character, or half of a character (a lone surrogate).

JSON can write both (`"\\u0000"`, `"\\ud800"`), and bytes of a command line that are no UTF-8 become the latter. UTF-8
has no form for half a character (RFC 3629), and Postgres none for NUL. Every door asks here before anything is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from search.domain.errors import Fault, pointer

_WRONG = re.compile("[\x00\ud800-\udfff]")
HALVES = re.compile("[\ud800-\udfff]")
"""Halves of characters alone, for files whose NUL characters are replaced when they are stored."""
_ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
REPLACEMENT = "\ufffd"
SENTENCE = "holds a NUL character or half of a character (a lone surrogate), which no text can hold; remove it."


def storable(text: str) -> bool:
    """Whether a text can be written as UTF-8 and stored in Postgres."""
    return _WRONG.search(text) is None


def replaced(text: str) -> str:
    """Return a text with the replacement character in place of what cannot be stored."""
    return _WRONG.sub(REPLACEMENT, text)


def may_be_unstorable(body: bytes) -> bool:
    """Whether JSON in UTF-8 may have such a text; false for almost all JSON, without a look at its values."""
    return _ESCAPED.search(body) is not None


def unstorable(value: Any, at: str = "", wrong: re.Pattern[str] = _WRONG) -> Iterator[Fault]:
    """Yield a fault for each text of a JSON value that cannot be stored; `at` is the pointer of the value.

    A key's fault is at the object that has it, or, in the outermost object, at the key itself.
    """
    if isinstance(value, str):
        if wrong.search(value):
            yield Fault(at, f"The text {SENTENCE}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            inside = at + pointer(replaced(str(key)))
            if isinstance(key, str) and wrong.search(key):
                yield Fault(at or inside, f"The name {replaced(key)[:80]!r} {SENTENCE}")
            yield from unstorable(item, inside, wrong)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from unstorable(item, f"{at}/{index}", wrong)
