"""Finds the lists in the cells of a column: separators that come again, with short parts between them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

SEPARATORS = ("|", ";", ", ", ",")
LIST_SHARE = 0.3
"""Share of the values of a column that contain the separator, from which on the column is taken for lists."""
RECURRING = 0.5
"""Share of the parts of a column that occur more than once, from which on short lists are taken for lists."""
LONGEST_ITEM = 40
"""Most characters, on average, of the parts of a list: the commas of sentences separate nothing."""
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_KEYS = re.compile(r"[0-9]+(,[0-9]+)*")


def separator_of(values: list[Any], format_: str) -> tuple[str, bool]:
    """Return the separator of the lists in the values (empty: none), and whether they are lists at all."""
    if any(isinstance(value, list) for value in values):
        return "", True
    texts = [value for value in values if isinstance(value, str)]
    if format_ in ("jsonl", "parquet") or not texts or len(texts) < len(values):
        return "", False
    if all(text[:1] == "[" and text[-1:] == "]" for text in texts):
        return "", True
    for separator in SEPARATORS:
        split = [text.split(separator) for text in texts if separator in _without_thousands(text)]
        if len(split) < LIST_SHARE * len(texts):
            continue
        parts = [part.strip() for row in split for part in row]
        short = all(parts) and sum(map(len, parts)) <= LONGEST_ITEM * len(parts) and not _are_sentences(split)
        if len(split) >= 2 and short and ("," not in separator or _are_lists(split)):
            return separator.strip() or separator, True
    return "", False


def _are_lists(split: list[list[str]]) -> bool:
    """Whether values with commas are lists: of few words each, of different lengths, or with parts that come again.

    `Doe, Jane`, `Oslo, Norway` and `1,51` have one comma each, and what stands before it never stands behind it.
    """
    rows = [[part.strip() for part in row] for row in split]
    parts = [part for row in rows for part in row]
    spaces = sum(part.count(" ") for part in parts)
    if spaces > 2 * len(parts):
        return False
    if spaces <= len(parts) and len({len(row) for row in rows}) > 1 and max(map(len, rows)) > 2:
        return True
    counts = Counter(parts)
    again = sum(count for count in counts.values() if count > 1) >= RECURRING * len(parts)
    return again and bool({row[0] for row in rows} & {part for row in rows for part in row[1:]})


def _are_sentences(split: list[list[str]]) -> bool:
    return sum(row[-1].rstrip()[-1:] in (".", "!", "?", "。") for row in split) * 2 > len(split)


def _without_thousands(text: str) -> str:
    """Return a text without the commas in its numbers, unless it is nothing but numbers and commas."""
    return text if _KEYS.fullmatch(text) else _THOUSANDS.sub("", text)


def parts_of(value: Any, separator: str) -> list[Any]:
    """Return the values in a cell."""
    if isinstance(value, list):
        return value
    if isinstance(value, str) and separator:
        return [part.strip() for part in value.split(separator) if part.strip()]
    return [value]
