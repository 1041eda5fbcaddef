"""Words that everybody uses. In lower case, such a word alone is neither a misspelt name nor a part of a name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from search.language.words import ASKING_WORDS, FUNCTION_WORDS, language_code

_FILES = Path(__file__).parent / "data"


@lru_cache(maxsize=4)
def common_words(language: str) -> frozenset[str]:
    """Return the most frequent words of a language in lower case; for a language without a list only those of asking.

    The English list holds the 12,000 first words of at least three letters in the vocabulary of BERT (`bert-base-
    uncased`, Apache 2.0), which is ordered by frequency in books and Wikipedia.
    """
    file = _FILES / f"common.{language_code(language)}.txt"
    listed = file.read_text().split() if file.is_file() else []
    return frozenset((*listed, *FUNCTION_WORDS, *ASKING_WORDS))
