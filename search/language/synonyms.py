"""Ordinary words that people say for the words of schemas: `pills` → `drug`, `Holland` → `Netherlands`.

The groups are in `data/synonyms.LANGUAGE.txt`. A word may stand in several groups (`maker`: of a brand, of a design).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from search.language.languages import FOLDER, split
from search.language.words import FUNCTION_WORDS, stem, words

_MOST_WORDS = 6
"""Most words of a stretch of a text that is looked up; no entry of the groups has more."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def synonyms(word: str, code: str = "en") -> tuple[str, ...]:
    """Return the words that may be meant by a word or short phrase, in the order of the groups; none if none is known.

    Inflected words are found by their stem (`movies` → `film`), unless the word itself is an entry: *film* is no word
    for what a group with *filmed* means. The word itself is not among them. Names of countries keep their capitals.
    """
    groups, by_key = _groups(code.lower().split("-")[0])
    key = _key(word)
    places = by_key.get(key, [])
    own = [at for at in places if not _forms(word).isdisjoint(map(str.casefold, groups[at]))]
    found = [other for at in own or places for other in groups[at] if _key(other) != key]
    return tuple(dict.fromkeys(found))


def synonyms_in(text: str, code: str = "en", least: int = 1) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the stretches of at least `least` words of a text that have synonyms: offsets and synonyms, longest first.

    A single function word is none.
    """
    _, by_key = _groups(code.lower().split("-")[0])
    if not by_key:
        return
    found = [(match.start(), match.end(), words(match.group())[0]) for match in _WORD.finditer(text)]
    stems = [stem(word) for _, _, word in found]
    for width in range(min(_MOST_WORDS, len(found)), max(least, 1) - 1, -1):
        for first in range(len(found) - width + 1):
            last = first + width - 1
            if width == 1 and found[first][2] in FUNCTION_WORDS and not text[slice(*found[first][:2])].isupper():
                continue
            if " ".join(stems[first : last + 1]) in by_key:
                start, end = found[first][0], found[last][1]
                yield start, end, synonyms(text[start:end], code)


def meanings(code: str = "en") -> dict[str, tuple[str, ...]]:
    """Return every word of the groups in lower case with its synonyms."""
    groups, _ = _groups(code)
    return {word.casefold(): synonyms(word, code) for group in groups for word in group}


def _forms(word: str) -> frozenset[str]:
    """Return a word in lower case, and what it is without a plural's ending."""
    said = word.casefold()
    return frozenset((said, said.removesuffix("s"), said.removesuffix("es")))


def _key(phrase: str) -> str:
    return " ".join(stem(word) for word in words(phrase))


@lru_cache(maxsize=8)
def _groups(code: str) -> tuple[tuple[tuple[str, ...], ...], dict[str, list[int]]]:
    """Return the groups of a language, and the places of the groups of each word by its stems."""
    path = FOLDER / f"synonyms.{code}.txt"
    if not code.isalpha() or not path.is_file():
        return (), {}
    lines = path.read_text(encoding="utf-8").splitlines()
    groups = tuple(split(line) for line in lines if line and not line.startswith("#"))
    by_key: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        for word in group:
            places = by_key.setdefault(_key(word), [])
            if at not in places:
                places.append(at)
    return groups, by_key
