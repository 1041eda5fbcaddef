"""Names by the letters of their words, for words that are nearly the same in several languages.

*polyarthrite rhumatoïde* has no word of *rheumatoid arthritis*, but most of their letters, in the same order. Each word
is found by its trigrams; a name counts if its rare words are found for words of the phrase, and the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel

from search.adapters.near_names.files import NearFiles
from search.adapters.string_table import StringTable

SHORTEST = 5
"""Fewest letters of a word that is compared."""
_MOST_READ = 200_000
"""Most words that have a trigram; a more frequent trigram tells nothing."""
_COMPARED, _KEPT = 200, 12
"""Words that share most trigrams with one of the phrase, and those of them with the most letters in common."""
_MOST_NAMES = 5_000
"""Most names of a word that are read."""
_ALIKE, _ALIKE_ALONE = 0.6, 0.78
"""Least similarity (Indel) of two words; of the only words of phrase and name. Chosen on invented French, Spanish and
German phrases over the demo bases, so that none of 60 English phrases without a name finds one."""
_COVERED = 0.85
"""Least share of the rarity of a name's words that must be found."""


def build(directory: Path, words: StringTable) -> None:
    """Write the trigrams of the words into the existing folder `directory`; places are places in `words`."""
    codes: list[NDArray[np.uint32]] = [np.empty(0, dtype=np.uint32)]
    owners: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]
    for at in range(len(words)):
        word = words[at]
        if len(word) >= SHORTEST and word.isalpha():
            found = trigrams(word)
            codes.append(found)
            owners.append(np.full(len(found), at, dtype=np.int32))
    code, owner = np.concatenate(codes), np.concatenate(owners)
    order = np.argsort(code, kind="stable")
    known, begins = np.unique(code[order], return_index=True)
    np.save(directory / "grams.npy", known)
    np.save(directory / "grams.starts.npy", np.append(begins, len(code)).astype(np.int64))
    np.save(directory / "grams.words.npy", owner[order])


def trigrams(word: str) -> NDArray[np.uint32]:
    """Return the distinct codes of three letters in a row, the beginning of the word counted as one."""
    letters = [0, *map(ord, word)]
    pairs = [31 * 1_009 * a + 1_009 * b for a, b in pairwise(letters)]
    return np.unique(
        np.array([(pair + c) & 0xFFFFFFFF for pair, c in zip(pairs, letters[2:], strict=False)], np.uint32)
    )


@dataclass(frozen=True, slots=True)
class Cognate:
    """A name of which a phrase may be the translation, and the mean similarity of their words."""

    name: int
    similarity: float


@dataclass(frozen=True)
class Cognates:
    """The files that `build` wrote; read-only, so threads can share it."""

    files: NearFiles

    def find(self, folds: Sequence[str], most: int = 3) -> list[Cognate]:
        """Return up to `most` names whose words are nearly those of a phrase, in any order, the most similar first."""
        wanted = [fold for fold in folds if len(fold) >= SHORTEST and fold.isalpha()]
        if not self._there or not wanted or any(len(fold) > 3 and fold not in wanted for fold in folds):
            return []
        near = [self._near(fold) for fold in wanted]
        if not all(near):
            return []
        rarest = min(near, key=lambda places: sum(self.files.having(place) for place in places))
        names = Counter(name for place in rarest for name in self.files.names_with(place)[:_MOST_NAMES].tolist())
        found = [Cognate(name, alike) for name in names if (alike := self._alike(name, near)) > 0]
        return sorted(found, key=lambda one: (-one.similarity, one.name))[:most]

    def _near(self, fold: str) -> dict[int, float]:
        """Return place → similarity of the words of names that have most letters in common with a word."""
        shared: Counter[int] = Counter()
        for places in self._with(trigrams(fold)):
            shared.update(places.tolist())
        best = [place for place, _ in shared.most_common(_COMPARED)]
        words = self.files.words.many(best)
        close = process.extract(fold, words, scorer=Indel.normalized_similarity, limit=_KEPT, score_cutoff=_ALIKE)
        return {best[at]: float(score) for _, score, at in close}

    def _with(self, codes: NDArray[np.uint32]) -> Iterable[NDArray[np.int32]]:
        if not len(self._grams):
            return
        at = np.minimum(np.searchsorted(self._grams, codes), len(self._grams) - 1)
        for place in at[self._grams[at] == codes].tolist():
            first, last = int(self._starts[place]), int(self._starts[place + 1])
            if last - first <= _MOST_READ:
                yield self._words[first:last]

    def _alike(self, name: int, near: Sequence[dict[int, float]]) -> float:
        """Return the mean similarity of a name's words to different words of the phrase; 0 if they do not fit."""
        words, rarity = self.files.words_of(name), self.files.rarity(name)
        scores, covered = [], 0.0
        left = list(near)
        for word, rare in zip(words, rarity, strict=True):
            best = max(left, key=lambda places: places.get(word, 0.0), default={})
            if word in best:
                left.remove(best)
                scores.append(best[word])
                covered += rare
        least = _ALIKE_ALONE if len(near) == 1 else _ALIKE
        if left or covered < _COVERED * sum(rarity) or min(scores) < least:
            return 0.0
        return sum(scores) / len(scores)

    @cached_property
    def _there(self) -> bool:
        return (self.files.directory / "grams.npy").is_file()

    @cached_property
    def _grams(self) -> NDArray[np.uint32]:
        return self._array("grams")

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return self._array("grams.starts")

    @cached_property
    def _words(self) -> NDArray[np.int32]:
        return self._array("grams.words")

    def _array(self, name: str) -> NDArray[Any]:
        return np.load(self.files.directory / f"{name}.npy", mmap_mode="r").view(np.ndarray)
