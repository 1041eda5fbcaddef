"""Words that everybody uses. In lower case, such a word alone is neither a misspelt name nor a part of a name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from search.language.words import ASKING_WORDS, FUNCTION_WORDS, language_code

_FILES = Path(__file__).parent / "data"
_MOST_COMMON = 12_000
"""Words of a list that everybody uses; the others are still words and no misspellings."""

_ENDINGS = (
    "s",
    "es",
    "d",
    "ed",
    "ing",
    "er",
    "ers",
    "or",
    "ors",
    "ly",
    "y",
    "less",
    "ness",
    "able",
    "ful",
    "est",
    "al",
)
_LEAST_BASE = 4
"""Fewest letters before an ending."""


@lru_cache(maxsize=4)
def common_words(language: str) -> frozenset[str]:
    """Return the most frequent words of a language in lower case; without a list, those of asking."""
    return frozenset((*_listed(language)[:_MOST_COMMON], *FUNCTION_WORDS, *ASKING_WORDS))


def is_word(word: str, language: str) -> bool:
    """Whether a word in lower case is a word of the language, in any inflection, as far as its list tells."""
    listed = _all(language)
    if word in listed or word in common_words(language):
        return True
    for ending in _ENDINGS:
        base = word.removesuffix(ending)
        if base != word and len(base) >= _LEAST_BASE and any(form in listed for form in _bases(base)):
            return True
    return False


def _bases(base: str) -> tuple[str, ...]:
    """Return the forms that a word without its ending may have: `making` → `make`, `planned` → `plan`."""
    return (base, f"{base}e", base[:-1]) if base[-1] == base[-2] else (base, f"{base}e")


@lru_cache(maxsize=4)
def _all(language: str) -> frozenset[str]:
    return frozenset(_listed(language))


@lru_cache(maxsize=4)
def _listed(language: str) -> tuple[str, ...]:
    """Return the words of a language's list, the most frequent first.

    The English list holds the words of at least three letters in the vocabulary of BERT (`bert-base-uncased`, Apache
    2.0), which is ordered by frequency in books and Wikipedia.
    """
    file = _FILES / f"common.{language_code(language)}.txt"
    return tuple(file.read_text().split()) if file.is_file() else ()
