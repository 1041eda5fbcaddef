"""Words that are typed without their accents: *cual es la montana mas alta*, *laengster Fluss*."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from search.language.languages import language
from search.language.tokens import Token, tokens

_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d"})
_PAIRS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_VOWEL_OF = (("ae", "a"), ("oe", "o"), ("ue", "u"))


def unaccented(word: str) -> str:
    """Return a word in lower case with the plain letters that people type instead: `größte` → `grosste`."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word.lower().translate(_LETTERS))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def paired(word: str) -> str:
    """Return a word with pairs of letters for its umlauts, as people without a German keyboard write: `groesste`."""
    return unaccented(unicodedata.normalize("NFC", word.lower()).translate(_PAIRS))


def unpaired(word: str) -> str:
    """Return a word without accents with one vowel for each pair that may stand for an umlaut: `laender` → `lander`."""
    for pair, vowel in _VOWEL_OF:
        word = word.replace(pair, vowel)
    return word


def typed(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the ways in which people type the words of a phrase without accents; none if it has no accents."""
    ways = (tuple(map(unaccented, words)), tuple(map(paired, words)))
    return [way for way in dict.fromkeys(ways) if way != tuple(words)]


def spelled(said: Sequence[Token], code: str) -> list[Token]:
    """Return tokens with their words as the data file of their language spells them."""
    words = _spellings(code)
    return [replace(token, word=words[token.word]) if token.word in words else token for token in said]


@lru_cache(maxsize=32)
def _spellings(code: str) -> dict[str, str]:
    """Return the word of a language's data file that each form without accents stands for, unless it is one itself."""
    lang = language(code)
    words = {token.word for text in _texts(dict(lang.tables)) for token in tokens(text)}
    words |= {word + end for word in words if not word.isascii() for end in lang.entries("adjectives", "endings")}
    found: dict[str, str] = {}
    for word in sorted(words):
        for (way,) in typed((word,)):
            if way not in words:
                found.setdefault(way, word)
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("/", ",").replace("|", ",")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)
