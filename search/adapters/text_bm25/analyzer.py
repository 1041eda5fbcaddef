"""The index terms of a text."""

from __future__ import annotations

import re

from bm25s.tokenization import _infer_stopwords

from search.language.words import language_code, stemmer_of

_WORD = re.compile(r"\w\w+")
_STOP_WORDS = {"en", "de", "nl", "fr", "es", "pt", "it", "ru", "sv", "no", "da", "tr"}


class Analyzer:
    """Splits a text into index terms: lower case, at least two characters, no stop words, stemmed.

    If there is no stemmer or no list of stop words for the language, that step is left out.
    """

    def __init__(self, language: str) -> None:
        code = language_code(language)
        self._stop = frozenset(_infer_stopwords(code)) if code in _STOP_WORDS else frozenset()
        self._stemmer = stemmer_of(language)

    def words(self, text: str) -> list[str]:
        """Return the index terms of a text, in their order."""
        return [stem for word in _WORD.findall(text.lower()) if (stem := self.stem(word))]

    def stem(self, word: str) -> str:
        """Return the stem of a word in lower case, or an empty string for a stop word."""
        if word in self._stop:
            return ""
        return self._stemmer(word) if self._stemmer else word


class Codes(dict[str, int]):
    """Word → code of its stem, or -1 for a stop word; each word is stemmed when it is first met."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self.stems: dict[str, int] = {}
        self._analyzer = analyzer

    def __missing__(self, word: str) -> int:
        stem = self._analyzer.stem(word)
        code = self[word] = self.stems.setdefault(stem, len(self.stems)) if stem else -1
        return code

    def of(self, text: str) -> list[int]:
        """Return the codes of the index terms of a text, in their order."""
        return [code for word in _WORD.findall(text.lower()) if (code := self[word]) >= 0]
