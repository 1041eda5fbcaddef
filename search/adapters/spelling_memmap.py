"""Words by their deletions: finds the known words that are one or two typing errors away from a misspelt word.

The index holds the hash of each word and of the word without one letter, and of longer words without two letters
(symmetric deletion: W. Garbe, SymSpell, 2012). Two words that are at most as many errors apart share such a hash, so
that a look-up costs a few dozen binary searches, however many words there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from search.adapters.string_table import StringTable

SHORTEST = 4
"""Fewest letters of a word that is corrected."""
TWICE = 7
"""Fewest letters of a word that may have two errors."""
PREFIX = 10
"""Letters from which deletions are made; the rest of a longer word is compared afterwards."""
MOST_COMPARED = 400
"""Most words that are compared with one misspelt word."""
ENTRIES_AT_ONCE = 4_000_000
"""Hashes that are sorted at once while the index is built: about 150 MB."""
_BASE = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_POWERS = np.array([pow(_BASE, at, 1 << 64) for at in range(PREFIX + 1)], dtype=np.uint64)


def correctable(word: str) -> bool:
    """Whether a word may be corrected: it has enough letters, and no digits, which make it a code."""
    return len(word) >= SHORTEST and word.isalpha()


def build(directory: Path, words: Sequence[str] | StringTable) -> None:
    """Write the index of the correctable words into the existing folder `directory`; places are places in `words`."""
    total = sum(_entries(len(word)) for word in _all(words) if correctable(word))
    shards = max(1, -(-total // ENTRIES_AT_ONCE))
    codes, places = np.empty(total, dtype=np.uint32), np.empty(total, dtype=np.int32)
    if total:
        codes = np.lib.format.open_memmap(directory / "deletions.npy", "w+", np.uint32, (total,))
        places = np.lib.format.open_memmap(directory / "places.npy", "w+", np.int32, (total,))
    done = 0
    for shard in range(shards):
        code, place = _shard(words, shard, shards)
        order = np.argsort(code, kind="stable")
        codes[done : done + len(code)] = code[order]
        places[done : done + len(code)] = place[order]
        done += len(code)
    if total:
        codes.flush()  # type: ignore[attr-defined]
        places.flush()  # type: ignore[attr-defined]
    else:
        np.save(directory / "deletions.npy", codes)
        np.save(directory / "places.npy", places)


def _all(words: Sequence[str] | StringTable) -> Iterator[str]:
    return (words[at] for at in range(len(words)))


def _entries(letters: int) -> int:
    used = min(letters, PREFIX)
    return 1 + used + (used * (used - 1) // 2 if letters >= TWICE else 0)


def _shard(words: Sequence[str] | StringTable, shard: int, shards: int) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Return hash and place of the deletions whose hash falls into one of `shards` equal ranges."""
    low, high = shard * (1 << 32) // shards, (shard + 1) * (1 << 32) // shards
    groups: dict[tuple[int, bool], tuple[list[str], list[int]]] = {}
    codes = [np.empty(0, dtype=np.uint32)]
    places = [np.empty(0, dtype=np.int32)]

    def hashed(group: tuple[list[str], list[int]], twice: bool) -> None:
        found = _deletions(group[0], twice)
        owner = np.repeat(np.array(group[1], dtype=np.int32), found.shape[1])
        flat = found.ravel()
        kept = (flat >= low) & (flat < high) if shards > 1 else slice(None)
        codes.append(flat[kept])
        places.append(owner[kept])

    for at, word in enumerate(_all(words)):
        if not correctable(word):
            continue
        key = (min(len(word), PREFIX), len(word) >= TWICE)
        group = groups.setdefault(key, ([], []))
        group[0].append(word[:PREFIX])
        group[1].append(at)
        if len(group[0]) == 20_000:
            hashed(groups.pop(key), key[1])
    for key, group in groups.items():
        hashed(group, key[1])
    return np.concatenate(codes), np.concatenate(places)


def _deletions(words: Sequence[str], twice: bool) -> NDArray[np.uint32]:
    """Return the hashes of words of equal length and of their deletions, shape (words, variants)."""
    size = len(words[0])
    letters = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32).reshape(-1, size).astype(np.uint64)
    # A word's hash is the sum of letter x power of its place. Letters behind a deletion move one place forward.
    sums = [np.zeros((len(words), size + 1), dtype=np.uint64) for _ in range(3)]
    for moved, total in enumerate(sums):
        power = np.array([_POWERS[max(0, at - moved)] for at in range(size)], dtype=np.uint64)
        np.cumsum(letters * power, axis=1, out=total[:, 1:])
    stay, one, two = sums
    variants = [stay[:, size]]
    variants += [stay[:, at] + one[:, size] - one[:, at + 1] for at in range(size)]
    if twice:
        variants += [
            stay[:, at] + one[:, to] - one[:, at + 1] + two[:, size] - two[:, to + 1]
            for at, to in combinations(range(size), 2)
        ]
    return _mixed(np.stack(variants, axis=1))


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return 32 well mixed bits of each sum (the finaliser of MurmurHash3)."""
    codes = codes ^ (codes >> np.uint64(33))
    codes = codes * np.uint64(0xFF51AFD7ED558CCD)
    codes = codes ^ (codes >> np.uint64(33))
    codes = codes * np.uint64(0xC4CEB9FE1A85EC53)
    return (codes >> np.uint64(32)).astype(np.uint32)


@dataclass(frozen=True)
class Spellings:
    """The files that `build` wrote, with the same words; read-only, so threads can share it."""

    directory: Path
    words: StringTable

    def close(self, word: str, most: int = 3) -> list[tuple[int, int]]:
        """Return up to `most` pairs of place and number of errors of the words nearest to a word, the nearest first.

        A word of fewer than `TWICE` letters has at most one error, and keeps its first letter; a longer one has at most
        two. The word itself is not returned.
        """
        if not correctable(word):
            return []
        allowed = 2 if len(word) >= TWICE else 1
        wanted = np.unique(_deletions([word[:PREFIX]], twice=len(word) >= TWICE - 1))
        first = np.searchsorted(self._deletions, wanted, side="left")
        last = np.searchsorted(self._deletions, wanted, side="right")
        spans = [self._places[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True) if b > a]
        if not spans:
            return []
        places, shared = np.unique(np.concatenate(spans), return_counts=True)
        if len(places) > MOST_COMPARED:
            # Words that share more deletions are nearer.
            places = np.sort(places[np.argsort(-shared, kind="stable")[:MOST_COMPARED]])
        known = self.words.many(places)
        near = process.extract(word, known, scorer=OSA.distance, limit=None, score_cutoff=allowed)
        found = [
            (int(places[at]), int(errors))
            for text, errors, at in near
            if errors and (text[0] == word[0] or len(word) >= TWICE)
        ]
        return sorted(found, key=lambda pair: (pair[1], pair[0]))[:most]

    @cached_property
    def _deletions(self) -> NDArray[np.uint32]:
        return np.load(self.directory / "deletions.npy", mmap_mode="r").view(np.ndarray)

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return np.load(self.directory / "places.npy", mmap_mode="r").view(np.ndarray)
