"""Which of several meanings of a word a knowledge base speaks of."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import Stemmer
from rapidfuzz import process
from rapidfuzz.distance import Indel

from search.language.accents import unaccented
from search.language.words import FUNCTION_WORDS

_ALIKE = 0.7
"""Least likeness in spelling of a word and its meaning that come from the same word."""
_COGNATE, _SHORTEST_COGNATE, _SAME = 0.8, 6, 3
"""Least likeness of a word without a meaning to a word of the schema, its fewest letters, and those both begin with."""

_stemmer = Stemmer.Stemmer("english")
_stemming = Lock()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a word of a question is likely to mean: a word of a knowledge base's schema, a name, a word of its texts.

    `is_name` says whether words are a name, `is_known` whether they are one or a word stands in a text.
    """

    schema: Collection[str] = frozenset()
    is_name: Callable[[str], bool] = lambda said: False
    is_known: Callable[[str], bool] = lambda said: False

    def likeness(self, meant: str, said: str) -> float:
        """Return how likely a word said in another language means an English word of the schema; 0 for other words.

        Of several words of the schema the one spelt like the word that is said is the likeliest: Italian *stato* is a
        state rather than a country.
        """
        known = _stems(frozenset(self.schema))
        if not all(_stem(word) in known for word in meant.split()):
            return 0.0
        alike = Indel.normalized_similarity(unaccented(said), meant)
        return 1.0 + (alike if alike >= _ALIKE else 0.0)

    def cognate(self, said: str) -> str:
        """Return the word of the schema that a word is nearly spelt like: `population` for *populacional*."""
        plain = unaccented(said)
        if len(plain) < _SHORTEST_COGNATE:
            return ""
        near = [word for word in self.schema if word[:_SAME] == plain[:_SAME] and word not in FUNCTION_WORDS]
        found = process.extractOne(plain, sorted(near), scorer=Indel.normalized_similarity, score_cutoff=_COGNATE)
        return str(found[0]) if found else ""


@lru_cache(maxsize=32)
def _stems(schema: frozenset[str]) -> frozenset[str]:
    return frozenset(_stem(word) for word in schema if word not in FUNCTION_WORDS)


@lru_cache(maxsize=4_000)
def _stem(word: str) -> str:
    """Return an English word without its endings of inflection: agents and what they do are two words here."""
    with _stemming:
        stemmed: str = _stemmer.stemWord(word)
    return stemmed
