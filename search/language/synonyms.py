"""Ordinary words that people say for the words of schemas: `pills` → `drug`, `Holland` → `Netherlands`.

The groups are in `data/synonyms.LANGUAGE.txt`. A word may stand in several groups (`maker`: of a brand, of a design).
"""

from __future__ import annotations

from functools import lru_cache

from search.language.languages import FOLDER, split
from search.language.words import stem, words


def synonyms(word: str, code: str = "en") -> tuple[str, ...]:
    """Return the words that may be meant by a word or short phrase, in the order of the groups; none if none is known.

    Inflected words are found by their stem (`movies` → `film`). The word itself is not among them. Names of countries
    keep their capitals.
    """
    groups, by_key = _groups(code.lower().split("-")[0])
    key = _key(word)
    found = [other for at in by_key.get(key, ()) for other in groups[at] if _key(other) != key]
    return tuple(dict.fromkeys(found))


def meanings(code: str = "en") -> dict[str, tuple[str, ...]]:
    """Return every word of the groups in lower case with its synonyms."""
    groups, _ = _groups(code)
    return {word.casefold(): synonyms(word, code) for group in groups for word in group}


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
