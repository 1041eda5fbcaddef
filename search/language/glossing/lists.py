"""Large lists of everyday words with their English meanings: `data/lists/CODE.txt`, one file a language.

A row is `key|spelling|kind|meanings`: the word without accents, the word itself if it differs, its part of speech (`n`,
`a`, `v`, `f`), and English words, the likeliest first. Rows are in the order of their bytes, so that a word is found in
the file where it lies: the file is mapped into memory, and a process pays for the pages that it reads. Inflected forms
are found by the rows of `endings.txt`. `data/lists/README.md` names the sources and their licences.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from search.language.accents import unaccented, unpaired
from search.language.languages import FOLDER

LISTS = FOLDER / "lists"
LONGEST = 4
"""Most words of an entry."""
_SHORTEST_BASE = 3
"""Fewest letters of a word that stay when its ending changes."""
_MOST_SCANNED = 60_000
"""Most bytes that are read for the inflected forms of one word."""
_EXACT, _TYPED = -2, -1
_KINDS = "navf"
"""Parts of speech, the likelier in questions first."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word or phrase of a list means: English words, the likeliest first, and how the word was found.

    `length` is the number of words, `kind` the part of speech. `distance` is -2 for a word that is said as the list
    spells it, -1 for one without its accents, else the place of the rule of endings by which it was found.
    """

    length: int
    kind: str
    words: tuple[str, ...]
    distance: int


@dataclass(frozen=True, slots=True)
class _Row:
    key: tuple[str, ...]
    spelling: str
    kind: str
    meanings: tuple[str, ...]


class WordList:
    """The list of one language."""

    def __init__(self, code: str) -> None:
        self._endings, self._folds = endings(code)
        self._longest_ending = max(len(said) for said, _ in self._endings)
        with (LISTS / f"{code}.txt").open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._near = lru_cache(maxsize=2_000)(self._rows_near)

    def has(self, word: str) -> bool:
        """Return whether the list has a word in this form, with its accents or without."""
        key = f"{self._key(word)}|".encode()
        place = self._place(key)
        return self._bytes[place : place + len(key)] == key

    def meanings(self, said: Sequence[str]) -> list[Meaning]:
        """Return the meanings of the words and phrases that begin with the first of the words, the longest first.

        The words are in lower case. Of meanings of one length those of the word as it is said come first.
        """
        if not said or len(said[0]) < 2:
            return []
        plain = tuple(self._key(word) for word in said[:LONGEST])
        found = list(self._meanings(said, plain))
        if not found and (other := unpaired(plain[0])) != plain[0]:
            found = list(self._meanings(said, (other, *map(unpaired, plain[1:]))))
        return sorted(found, key=lambda meaning: (-meaning.length, meaning.distance, _KINDS.index(meaning.kind)))

    def _meanings(self, said: Sequence[str], plain: Sequence[str]) -> Iterator[Meaning]:
        for row in self._near(plain[0]):
            length = len(row.key)
            if length > len(plain):
                continue
            if row.key == tuple(plain[:length]):
                yield Meaning(
                    length, row.kind, row.meanings, _EXACT if row.spelling == " ".join(said[:length]) else _TYPED
                )
                continue
            places = [self._ending(word, listed) for word, listed in zip(plain, row.key, strict=False)]
            if all(place is not None for place in places):
                yield Meaning(length, row.kind, row.meanings, max(place for place in places if place is not None))

    def _ending(self, said: str, listed: str) -> int | None:
        """Return the place of the rule by which a word is a form of a listed one; None if it is none."""
        if said == listed:
            return _TYPED
        same = _common(said, listed)
        return self._endings.get((said[same:], listed[same:])) if same >= _SHORTEST_BASE else None

    def _rows_near(self, word: str) -> tuple[_Row, ...]:
        """Return the rows whose first word is a word or, by its first letters, may be a form of it."""
        base = word[: max(_SHORTEST_BASE, len(word) - self._longest_ending)]
        begins = self._place(base.encode())
        lines = self._bytes[begins : begins + _MOST_SCANNED].split(b"\n")
        prefix = base.encode()
        rows = []
        for line in lines[:-1]:
            if not line.startswith(prefix):
                break
            key = line.split(b"|", 1)[0].split(b" ", 1)[0].decode()
            if key == word or self._ending(word, key) is not None:
                rows.append(_row(line.decode()))
        return tuple(rows)

    def _place(self, prefix: bytes) -> int:
        """Return the offset of the first line that is not less than a prefix."""
        low, high = 0, len(self._bytes)
        while low < high:
            middle = (low + high) // 2
            start = self._bytes.rfind(b"\n", 0, middle) + 1
            end = self._bytes.find(b"\n", middle)
            end = len(self._bytes) if end < 0 else end
            if self._bytes[start : min(end, start + len(prefix))] < prefix:
                low = end + 1
            else:
                high = start
        return low

    def _key(self, word: str) -> str:
        return key_of(word, self._folds)


@lru_cache(maxsize=16)
def word_list(code: str, into: str) -> WordList | None:
    """Return the list of words of a language with their meanings in another; None if there is none."""
    return WordList(code) if into == "en" and code in listed_languages() else None


@lru_cache(maxsize=1)
def listed_languages() -> tuple[str, ...]:
    """Return the codes of the languages with a list."""
    return tuple(sorted(path.stem for path in LISTS.glob("??.txt")))


Folds = tuple[tuple[str, str], ...]
"""Letters within words that count as others: Spanish `ie` as `e`."""


def key_of(word: str, folds: Folds) -> str:
    """Return the key of a word in a list: without accents, and with its letters folded."""
    plain = unaccented(word)
    for said, listed in folds:
        plain = plain.replace(said, listed)
    return plain


@lru_cache(maxsize=16)
def endings(code: str) -> tuple[dict[tuple[str, str], int], Folds]:
    """Return the rules of a language with their places, and its folds."""
    rules: dict[tuple[str, str], int] = {}
    folds: Folds = ()
    for line in (LISTS / "endings.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith(f"{code}|"):
            continue
        _, folded, ruled = line.split("|")
        folds = tuple((said, listed) for said, _, listed in (one.partition(">") for one in folded.split(",") if one))
        for place, rule in enumerate(ruled.split(",")):
            said, listed = rule.split(">")
            same = _common(said, listed)
            rules.setdefault((said[same:], listed[same:]), place)
    return rules, folds


def _common(one: str, other: str) -> int:
    """Return the number of letters with which both words begin."""
    for at, (letter, same) in enumerate(zip(one, other, strict=False)):
        if letter != same:
            return at
    return min(len(one), len(other))


def _row(line: str) -> _Row:
    key, spelling, kind, meanings = line.split("|")
    return _Row(tuple(key.split()), spelling or key, kind, tuple(meanings.split(",")))
