"""The scores of all words in all documents, as mapped files: for each word the documents that hold it, and its score.

The files and the sums are those of bm25s (a matrix in CSC format: a row is a document, a column a word).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCORES, ROWS, STARTS, KEYS = "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy", "keys.npy"
"""The score of each pair of a word and a document · its row · where the pairs of each word begin · the rows' keys."""
_ROUNDING = 1e-5
"""Share by which sums of the same scores differ at most if they are added up in another order."""

_MANY = 4
"""A word has many rows if it is in one of so many: then it costs less to go through all rows than to collect them."""


@dataclass(frozen=True, eq=False)
class Postings:
    """The arrays of one index; `keys` holds the node of each row, sorted. Words are given by their places."""

    keys: NDArray[np.int32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    scores: NDArray[np.float32]

    @classmethod
    def open(cls, folder: Path) -> Postings:
        """Map the files of a folder into memory."""
        return cls(*(_mapped(folder / name) for name in (KEYS, STARTS, ROWS, SCORES)))

    def of(self, word: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the rows that hold a word, sorted, and its score in each."""
        span = slice(int(self.starts[word]), int(self.starts[word + 1]))
        return self.rows[span], self.scores[span]

    def holding(self, words: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the number of documents that hold each of the words."""
        found: NDArray[np.int64] = self.starts[words + 1] - self.starts[words]
        return found

    def scores_at(self, word: int, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return a word's score in each of some rows, 0 where it is not."""
        own, scores = self.of(word)
        found = np.zeros(len(rows), dtype=np.float32)
        if len(own):
            at = np.minimum(np.searchsorted(own, rows), len(own) - 1)
            held = own[at] == rows
            found[held] = scores[at[held]]
        return found

    def all(self, words: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the sorted rows with any of the words, and the sum of their scores; a repeated word counts again."""
        total = np.zeros(len(self.keys), dtype=np.float32)
        for word in words:
            rows, scores = self.of(word)
            np.add.at(total, rows, scores)
        found = np.flatnonzero(total)
        return found, total[found]

    def best(
        self, words: Sequence[int], k: int, fitting: NDArray[np.bool_] | None, types: NDArray[np.int16]
    ) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Return rows and sums of all rows that may be among the k best, and are of a fitting type (None: any).

        The words with the highest scores come first (MaxScore: Turtle and Flood, 1995). As soon as the others together
        cannot lift a new row to the k-th place, they are looked up for the rows that can still reach it. If a word of
        many rows is needed, all that is left is added up.
        """
        spans = {word: (*self.of(word), times) for word, times in Counter(words).items()}
        most = {word: times * float(scores.max(initial=0.0)) for word, (_, scores, times) in spans.items()}
        order, rest = sorted(spans, key=lambda word: -most[word]), sum(most.values())
        # Memory that nothing is written to is never touched: this costs as much as there are rows with the words.
        total = np.zeros(len(self.keys), dtype=np.float32)
        found, reaching = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for at, word in enumerate(order):
            rows, scores, times = spans[word]
            if many := _MANY * len(rows) > len(total):
                for rows, scores, times in (spans[left] for left in order[at:]):
                    np.add.at(total, rows, scores if times == 1 else times * scores)
                found, rest = np.flatnonzero(total), 0.0
                if fitting is not None:
                    found = found[fitting[types[self.keys[found]]]]
            else:
                if fitting is not None:
                    chosen = fitting[types[self.keys[rows]]]
                    rows, scores = rows[chosen], scores[chosen]
                found = np.concatenate((found, rows[total[rows] == 0]))
                total[rows] += times * scores
                rest -= most[word]
            sums = total[found]
            least = np.partition(sums, len(sums) - k)[len(sums) - k] if len(sums) > k else 0.0
            reaching = found[sums + rest >= least * (1 - _ROUNDING)]
            if many or rest < least * (1 - _ROUNDING):
                break
        reaching = np.sort(reaching)
        exact = np.zeros(len(reaching), dtype=np.float32)
        for word in words:
            exact += self.scores_at(word, reaching)
        return reaching, exact


def _mapped(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array.view(np.ndarray)
