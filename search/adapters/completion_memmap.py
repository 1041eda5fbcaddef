"""Completion of names while a person types: matches the beginning of a name, or of any word in it.

Names and aliases are reduced to normalised words (`name_words`); letters with a stroke become plain
letters. `ame` finds `Amélie`, `sor` finds `Søren`, `godf` finds `The Godfather`. Each word starts a suffix of its name.
The suffixes are stored in bytewise order in memory-mapped files, so that a prefix is found by two binary searches.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.adapters.name_words import name_words
from search.adapters.string_table import StringTable, StringWriter

SORTED_BYTES = 32
"""Leading bytes by which suffixes are ordered; longer prefixes are compared with each matching suffix in full."""
MOST_WORDS = 16
"""Words of one name, from its beginning, that start a suffix."""
MOST_SCANNED = 100_000
"""Most suffixes of one prefix that are searched for nodes of a type: `the` may start a million."""
SUFFIXES_A_BLOCK = 1 << 15
"""Suffixes whose bytes are gathered at once while the index is built."""
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})
_BEGINS, _INNER = "begins", "inner"


def build(directory: Path, names: Iterable[tuple[int, str, bool]]) -> None:
    """Write the index of (key, name or alias, is alias) into the existing folder `directory`."""
    keys = array("i")
    with StringWriter(directory / "folded") as written:
        for key, name, _ in names:
            if folded := _typed(name):
                keys.append(key)
                written.add(folded)
    np.save(directory / "keys.npy", np.frombuffer(keys, dtype=np.int32))
    table = StringTable.open(directory / "folded")
    begins = table.offsets[:-1]
    _write(directory / _BEGINS, table, begins)
    _write(directory / _INNER, table, _inner(table))


def _typed(text: str) -> str:
    """Return the words of a text in letters that every keyboard has, joined by spaces."""
    folded = " ".join(name_words(text))
    return folded if folded.isascii() else folded.translate(_PLAIN)


def _inner(table: StringTable) -> NDArray[np.int64]:
    """Return the positions, in the bytes of all names, of every word of a name after its first."""
    spaces = np.flatnonzero(np.frombuffer(table.data, dtype=np.uint8) == ord(" "))
    row = np.searchsorted(table.offsets, spaces, side="right")
    first_of_row = np.searchsorted(row, row)
    return (spaces + 1)[np.arange(len(spaces)) - first_of_row < MOST_WORDS - 1]


def _write(path: Path, table: StringTable, places: NDArray[np.int64]) -> None:
    """Write row and start of the suffixes at `places`, in bytewise order; equal suffixes stay in the order of names."""
    data = np.frombuffer(table.data, dtype=np.uint8)
    rows = np.searchsorted(table.offsets, places, side="right") - 1
    heads = np.zeros(len(places), dtype=f"S{SORTED_BYTES}")
    for at in range(0, len(places), SUFFIXES_A_BLOCK):
        block = slice(at, at + SUFFIXES_A_BLOCK)
        reach = places[block, None] + np.arange(SORTED_BYTES)
        letters = data[np.minimum(reach, len(data) - 1)]
        letters[reach >= table.offsets[rows[block] + 1][:, None]] = 0
        heads[block] = letters.view(f"S{SORTED_BYTES}").ravel()
    order = np.argsort(heads, kind="stable")
    np.save(path.with_suffix(".rows.npy"), rows[order].astype(np.int32))
    np.save(path.with_suffix(".starts.npy"), (places - table.offsets[rows])[order].astype(np.int32))


@dataclass(frozen=True)
class MemmapCompletion:
    """The files that `build` wrote, opened on first use and shared by threads; `types` is the type code of each key."""

    directory: Path
    types: NDArray[np.int16]

    def begins(self, text: str, limit: int, code: int | None = None) -> list[int]:
        """Return the keys of up to `limit` nodes with a name that begins with the text, in the order of names.

        `code` restricts the nodes to one type (None: any type).
        """
        return self._complete(text, limit, code, (_BEGINS,))

    def contains(self, text: str, limit: int, code: int | None = None) -> list[int]:
        """Return the keys of `begins`, followed by those of nodes in whose name a later word begins with the text."""
        return self._complete(text, limit, code, (_BEGINS, _INNER))

    def _complete(self, text: str, limit: int, code: int | None, places: Sequence[str]) -> list[int]:
        wanted = _typed(text).encode()
        found: dict[int, None] = {}
        for place in places if wanted else ():
            rows, starts = self._suffixes[place]
            low = self._first(rows, starts, wanted[:SORTED_BYTES])
            high = self._first(rows, starts, wanted[:SORTED_BYTES] + b"\xff", low)
            for key in self._keys_of(
                rows[low : min(high, low + MOST_SCANNED)], starts[low : low + MOST_SCANNED], wanted, code
            ):
                found.setdefault(key)
                if len(found) == limit:
                    return list(found)
        return list(found)

    def _keys_of(
        self, rows: NDArray[np.int32], starts: NDArray[np.int32], wanted: bytes, code: int | None
    ) -> Iterator[int]:
        """Yield the keys of suffixes, of one type if `code` is given; bytes beyond `SORTED_BYTES` are compared here."""
        keys = self._keys[rows]
        fits = range(len(rows)) if code is None else np.flatnonzero(self.types[keys] == code).tolist()
        for at in fits:
            if len(wanted) <= SORTED_BYTES or self._suffix(int(rows[at]), int(starts[at])).startswith(wanted):
                yield int(keys[at])

    def _first(self, rows: NDArray[np.int32], starts: NDArray[np.int32], wanted: bytes, low: int = 0) -> int:
        """Return the position, at least `low`, of the first suffix whose leading bytes are not less than `wanted`."""
        high = len(rows)
        while low < high:
            middle = (low + high) // 2
            if self._suffix(int(rows[middle]), int(starts[middle]))[:SORTED_BYTES] < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _suffix(self, row: int, start: int) -> bytes:
        return self._names.raw(row)[start:]

    @cached_property
    def _names(self) -> StringTable:
        return StringTable.open(self.directory / "folded")

    @cached_property
    def _keys(self) -> NDArray[np.int32]:
        return np.load(self.directory / "keys.npy", mmap_mode="r").view(np.ndarray)

    @cached_property
    def _suffixes(self) -> dict[str, tuple[NDArray[np.int32], NDArray[np.int32]]]:
        return {place: (self._array(place, "rows"), self._array(place, "starts")) for place in (_BEGINS, _INNER)}

    def _array(self, place: str, kind: str) -> NDArray[np.int32]:
        return np.load(self.directory / f"{place}.{kind}.npy", mmap_mode="r").view(np.ndarray)
