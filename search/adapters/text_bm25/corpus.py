"""The scores of texts, computed on whole arrays in bounded memory: bm25s' numbers in a twenty-fifth of its time.

The words of the documents are written to a file as codes. Stretches of it are sorted by word and written as runs, which
are then merged, one stretch of the vocabulary after the other. So every word is sorted twice, however many there are.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from search.adapters.array_writer import ArrayWriter
from search.adapters.text_bm25.postings import KEYS, ROWS, SCORES, STARTS

K1, B = 1.5, 0.75
WORDS_AT_ONCE = 1 << 21
"""Occurrences of words that are sorted at once: about 0.3 s and 100 MB."""
WORDS_A_WRITE = 1 << 18
"""Occurrences of words of one field that are kept before they are written."""


class Corpus:
    """Texts as numbers: a file with the codes of all texts, the length of each text, and its node's key."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._codes = array("i")
        self._lengths = array("i")
        self._keys = array("i")
        self.words = 0

    def add(self, key: int, codes: list[int]) -> None:
        """Add the text of a node."""
        self._codes.extend(codes)
        self._lengths.append(len(codes))
        self._keys.append(key)
        self.words += len(codes)
        if len(self._codes) >= WORDS_A_WRITE:
            self._spill()

    def _spill(self) -> None:
        with self._path.open("ab") as file:
            self._codes.tofile(file)
        self._codes = array("i")

    def write(self, directory: Path, places: NDArray[np.int32], told: Callable[[int], None]) -> None:
        """Compute and write the scores; `places` maps each code to its stem's position in the sorted vocabulary.

        `told` receives the numbers of words that have been sorted and merged, one after the other.
        """
        self._spill()
        lengths = np.frombuffer(self._lengths, dtype=np.int32)
        np.save(directory / KEYS, np.frombuffer(self._keys, dtype=np.int32))
        occurrences = np.zeros(len(places), dtype=np.int64)
        for block in self._blocks(np.full(-(-self.words // WORDS_AT_ONCE), WORDS_AT_ONCE)):
            occurrences += np.bincount(places[block], minlength=len(places))
        runs = _Runs(directory, _cuts(occurrences))
        begins = _cuts(lengths)
        sizes = np.add.reduceat(lengths, begins[:-1], dtype=np.int64)
        for (first, last), block in zip(pairwise(begins), self._blocks(sizes), strict=True):
            rows = np.repeat(np.arange(first, last, dtype=np.int32), lengths[first:last])
            runs.add(places[block], rows, len(places))
            told(len(block))
        self._path.unlink()
        norm = K1 * (1 - B + B * lengths / lengths.mean())
        runs.merge(norm, len(places), occurrences, told)

    def _blocks(self, sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int32]]:
        """Yield the codes in stretches of these sizes."""
        with self._path.open("rb") as file:
            for size in sizes.tolist():
                yield np.fromfile(file, dtype=np.int32, count=size)


def _cuts(sizes: NDArray[np.integer]) -> list[int]:
    """Return where to cut a sequence so that each stretch adds up to at most `WORDS_AT_ONCE`, or is one item."""
    before = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    cuts = [0]
    while cuts[-1] < len(sizes):
        last = int(np.searchsorted(before, before[cuts[-1]] + WORDS_AT_ONCE, side="right")) - 1
        cuts.append(max(cuts[-1] + 1, last))
    return cuts


class _Runs:
    """Sorted runs in files: the distinct pairs of a word and a row, and how often the word is in the document.

    `cuts` are the words at which the vocabulary is cut to merge them.
    """

    def __init__(self, directory: Path, cuts: list[int]) -> None:
        self._directory = directory
        self._cuts = cuts
        self._paths = [directory / f"{name}.run" for name in ("words", "rows", "frequencies")]
        self._pairs = 0
        self._bounds: list[NDArray[np.int64]] = []

    def add(self, words: NDArray[np.int32], rows: NDArray[np.int32], vocabulary: int) -> None:
        """Sort the occurrences of words in rows, which are higher than those of former runs, and write them."""
        first = int(rows[0]) if len(rows) else 0
        ones = np.ones(len(words), dtype=np.int32)
        found = _counted(ones, words, rows - first, (vocabulary, int(rows.max(initial=0)) + 1 - first))
        self._bounds.append(self._pairs + found.indptr[self._cuts].astype(np.int64))
        self._pairs += found.nnz
        columns = np.repeat(np.arange(vocabulary, dtype=np.int32), np.diff(found.indptr))
        for path, numbers in zip(self._paths, (columns, found.indices + first, found.data), strict=True):
            with path.open("ab") as file:
                numbers.astype(np.int32, copy=False).tofile(file)

    def merge(
        self, norm: NDArray[np.float64], vocabulary: int, occurrences: NDArray[np.int64], told: Callable[[int], None]
    ) -> None:
        """Write the scores of all pairs, sorted by word and row, and remove the runs; `norm` is that of each row."""
        holding = np.zeros(vocabulary, dtype=np.int64)
        with (
            ArrayWriter(self._directory / SCORES, np.float32) as to_scores,
            ArrayWriter(self._directory / ROWS, np.int32) as to_rows,
        ):
            for at, (first, last) in enumerate(pairwise(self._cuts)):
                found = self._stretch(at, first, last - first, len(norm))
                of_word = np.diff(found.indptr).astype(np.int64)
                idf = np.repeat(np.log(1 + (len(norm) - of_word + 0.5) / (of_word + 0.5)), of_word)
                to_scores.add(idf * found.data / (norm[found.indices] + found.data))
                to_rows.add(found.indices)
                holding[first:last] = of_word
                told(int(occurrences[first:last].sum()))
        np.save(self._directory / STARTS, np.concatenate(([0], np.cumsum(holding))))
        for path in self._paths:
            path.unlink()

    def _stretch(self, at: int, first: int, words: int, documents: int) -> csr_array:
        """Return the frequencies of a stretch of the vocabulary that begins at `first`, shape (words, documents)."""
        parts: list[NDArray[np.int32]] = []
        for path in self._paths:
            with path.open("rb") as file:
                parts.append(np.concatenate([_read(file, bounds[at], bounds[at + 1]) for bounds in self._bounds]))
        return _counted(parts[2], parts[0] - first, parts[1], (words, documents))


def _counted(
    frequencies: NDArray[np.int32], words: NDArray[np.int32], rows: NDArray[np.int32], shape: tuple[int, int]
) -> csr_array:
    """Return the frequency of each word in each row; SciPy sorts by counting, and keeps the rows in their order."""
    return coo_array((frequencies, (words, rows)), shape=shape).tocsr()


def _read(file: BinaryIO, first: int, last: int) -> NDArray[np.int32]:
    file.seek(4 * int(first))
    return np.fromfile(file, dtype=np.int32, count=int(last - first))
