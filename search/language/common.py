"""Words that everybody uses. In lower case, such a word alone is neither a misspelt name nor a part of a name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from search.language.words import ASKING_WORDS, FUNCTION_WORDS, language_code, stem

_FILES = Path(__file__).parent / "data"
_MOST_COMMON = 12_000
"""Words of a list that everybody uses; the others are still words and no misspellings."""


@lru_cache(maxsize=4)
def common_words(language: str) -> frozenset[str]:
    """Return the most frequent words of a language in lower case; without a list, those of asking."""
    return frozenset((*_listed(language)[:_MOST_COMMON], *FUNCTION_WORDS, *ASKING_WORDS))


def is_word(word: str, language: str) -> bool:
    """Whether a word in lower case is a word of the language, in any inflection, as far as its list tells."""
    return word in common_words(language) or stem(word) in _stems(language)


@lru_cache(maxsize=4)
def _stems(language: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _listed(language))


@lru_cache(maxsize=4)
def _listed(language: str) -> tuple[str, ...]:
    """Return the words of a language's list, the most frequent first.

    The English list holds the words of at least three letters in the vocabulary of BERT (`bert-base-uncased`, Apache
    2.0), which is ordered by frequency in books and Wikipedia.
    """
    file = _FILES / f"common.{language_code(language)}.txt"
    return tuple(file.read_text().split()) if file.is_file() else ()
