"""Many strings in two memory-mapped files: read by position, or found by binary search if they are sorted."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray


class StringWriter:
    """Writes strings one after the other to `path`.bin and, when it is closed, their offsets to `path`.offsets.npy.

    Memory grows by eight bytes for each string, so that millions can be streamed. Use it in a `with` statement.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.with_suffix(".bin").open("wb")
        self._offsets = array("q", [0])

    def add(self, string: str) -> None:
        """Write one string."""
        self._offsets.append(self._offsets[-1] + self._file.write(string.encode()))

    def __enter__(self) -> StringWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        if error is None:
            np.save(self._path.with_suffix(".offsets.npy"), np.frombuffer(self._offsets, dtype=np.int64))


def write_strings(path: Path, strings: Iterable[str]) -> None:
    """Write all strings with a `StringWriter`."""
    with StringWriter(path) as writer:
        for string in strings:
            writer.add(string)


@dataclass(frozen=True)
class StringTable:
    """The strings that a `StringWriter` wrote; read-only, so threads can share it."""

    data: memoryview | bytes
    offsets: NDArray[np.int64]

    @classmethod
    def open(cls, path: Path) -> StringTable:
        """Return the table with its files mapped into memory; an empty file, which cannot be mapped, is read."""
        file = path.with_suffix(".bin")
        data = np.memmap(file, dtype=np.uint8, mode="r").data if file.stat().st_size else b""
        return cls(data, np.load(path.with_suffix(".offsets.npy"), mmap_mode="r").view(np.ndarray))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, at: int) -> str:
        return self.raw(at).decode()

    def raw(self, at: int) -> bytes:
        """Return the UTF-8 bytes of one string; IndexError if there is none at this position."""
        if not 0 <= at < len(self):
            raise IndexError(f"The table has strings 0 … {len(self) - 1}, not {at}.")
        return bytes(self.data[self.offsets[at] : self.offsets[at + 1]])

    def many(self, places: Sequence[int] | NDArray[np.integer]) -> list[str]:
        """Return several strings, in a tenth of the time that one after the other takes.

        IndexError if there is none at one of the positions.
        """
        at = np.asarray(places, dtype=np.int64)
        if not len(at):
            return []
        if at.min() < 0 or at.max() >= len(self):
            raise IndexError(f"The table has strings 0 … {len(self) - 1}, not all of {list(places)[:5]}….")
        stretches = zip(self.offsets[at].tolist(), self.offsets[at + 1].tolist(), strict=True)
        return [str(self.data[first:last], "utf-8") for first, last in stretches]

    def stretch(self, first: int, last: int) -> list[str]:
        """Return the strings at the positions from `first` to before `last`; equal ones cost no more than one."""
        if last - first < 2:
            return [self[first]] if last > first else []
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        one = self.raw(first)
        block = bytes(self.data[begin:end])
        if (
            len(block) == len(one) * (last - first)
            and block == one * (last - first)
            and self._even(first, last, len(one))
        ):
            return [one.decode()] * (last - first)
        cuts = (self.offsets[first : last + 1] - begin).tolist()
        return [block[low:high].decode() for low, high in pairwise(cuts)]

    def _even(self, first: int, last: int, size: int) -> bool:
        """Whether all strings of a stretch have one length: `abab` may also be `a` and `bab`."""
        return bool((np.diff(self.offsets[first : last + 1]) == size).all())

    def find(self, string: str) -> int | None:
        """Return the position of a string in a table that is sorted bytewise, or None if it is absent."""
        wanted, low, high = string.encode(), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self.raw(low) == wanted else None
