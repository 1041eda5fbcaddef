"""The relation or node type that a single word of a question refers to.

A word that shares a stem with the name, description or alias of a relation or type refers to that element. A word with
an everyday synonym there (`pills` for `drug`) refers to it a little less surely. Any other word refers to the elements
with the closest vectors; its affinity to them falls with the distance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Schema
from search.interfaces import Encoder
from search.language.synonyms import synonyms
from search.language.words import ASKING_WORDS, CHATTING_WORDS, FUNCTION_WORDS, stem
from search.language.words import words as split
from search.text import words as in_words

Affinities = NDArray[np.float64]

_CLOSE = 2.0
"""Threshold at which the affinity of a word to its closest phrase is one half: number of standard deviations of the
cosine above the mean cosine of unrelated words. Mean and deviation depend on encoder and schema: see
`Lexicon.unrelated`."""
_SOFT = 0.5
_SHARP = 0.75
"""Two widths in standard deviations of the cosine. `_SOFT` is the width of the threshold `_CLOSE`. `_SHARP` says how
far below the closest element the affinity to other elements falls by the factor e."""
_STRANGERS = 48
"""Approximate number of unrelated words that are compared with the phrases of the schema."""
_PART = 0.8
_BESIDE = 0.6
"""Affinity of a word to a type in whose phrases it is not the noun: of `researcher` to a `research centre`."""
_SYNONYM = 0.9
"""Affinity of a word to an element that has all words of one of its synonyms: a schema's own word wins."""
_SHORTEST_PART = 4
_ENDING = 3
"""Letters of an ending behind a stem inside a word."""
_MOST = 20_000
_FUNCTION_STEMS = frozenset(stem(word) for word in FUNCTION_WORDS)


_GLUED = re.compile(r"(is|has)?(new|old)?(.+?)(version)?(of|in|by|to|for|with|from)?")
"""Small words at the ends of an identifier that is written as one word: `ISNEWVERSIONOF`, `USEDBY`."""


def identifier_words(name: str) -> str:
    """Return the words of a relation's name; one written in capitals without separators is split at its small words."""
    said = in_words(name)
    if " " in said or not name.isupper() or (found := _GLUED.fullmatch(said)) is None:
        return said
    return " ".join(part for part in found.groups() if part)


def _noun_phrase(phrase: str) -> list[str]:
    """Return the stems of a phrase up to its noun: `field of study` → `field`."""
    found: list[str] = []
    for word in split(phrase):
        if word in FUNCTION_WORDS and found:
            break
        if word not in FUNCTION_WORDS:
            found.append(stem(word))
    return found


def _ends_with(word: str, own: str) -> bool:
    """Whether a word is a compound whose last part has a stem, with an ending or without."""
    at = word.rfind(own)
    return at >= 0 and len(word) - at - len(own) <= _ENDING


def _stands_in(phrase: tuple[str, ...], phrases: Iterable[tuple[str, ...]]) -> bool:
    """Whether words stand one after the other in one of some phrases."""
    size = len(phrase)
    return any(phrase in (one[at : at + size] for at in range(len(one) - size + 1)) for one in phrases)


def content_stems(phrase: str) -> frozenset[str]:
    """Return the stems of the words of a phrase, function words left out."""
    return frozenset(stem(word) for word in split(phrase)) - _FUNCTION_STEMS


@dataclass
class Lexicon:
    """The affinities of words to the elements of a schema: first its relations by code, then its node types by code."""

    schema: Schema
    encoder: Encoder
    _known: dict[str, Affinities] = field(default_factory=dict, init=False)
    _letters: dict[str, list[float]] = field(default_factory=dict, init=False)

    @property
    def relations(self) -> int:
        """Number of elements that are relations."""
        return len(self.schema.relations)

    @property
    def elements(self) -> int:
        """Number of elements."""
        return len(self.phrases)

    def of(self, texts: list[str]) -> Affinities:
        """Return the affinities in [0, 1] of words or short phrases, shape (len(texts), elements)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            if len(self._known) > _MOST:
                self._known.clear()
            for text, row in zip(new, self._affinities(new), strict=True):
                self._known[text] = row
        if not texts:
            return np.zeros((0, self.elements))
        # Another thread may have cleared the cache meanwhile; the missing rows are computed again.
        return np.stack([row if (row := self._known.get(text)) is not None else self._affinities([text])[0]
                         for text in texts])  # fmt: skip

    def _said(self, text: str) -> list[float]:
        """Return `_shared` of a word, computed once."""
        if (known := self._letters.get(text)) is None:
            if len(self._letters) > _MOST:
                self._letters.clear()
            known = self._letters[text] = self._shared(text)
        return known

    def _meant(self, text: str) -> frozenset[int]:
        """Return the elements for which an expression of several words stands; none for a single word."""
        return frozenset() if len(split(text)) < 2 else self._like(text)

    def _like(self, text: str) -> frozenset[int]:
        """Return the elements that have all words of a synonym.

        A synonym of several words with one of content must stand there as it is: *bought at* has the word of *is often
        bought together with*, and says something else.
        """
        others = synonyms(text, self.schema.language)
        like = [(stems, tuple(map(stem, split(other)))) for other in others if (stems := content_stems(other))]
        return frozenset(
            at
            for at, (own, beside, phrases) in enumerate(zip(self._stems, self._beside, self._in_order, strict=True))
            if any(
                stems <= own and stems - beside and (len(order) == 1 or len(stems) > 1 or _stands_in(order, phrases))
                for stems, order in like
            )
        )

    def _affinities(self, texts: list[str]) -> Affinities:
        phrases, starts = self._phrases
        if not len(starts):
            return np.zeros((len(texts), 0))
        cosines = np.maximum.reduceat(self.encoder.encode(texts) @ phrases.T, starts, axis=1).astype(np.float64)
        best = cosines.max(axis=1, keepdims=True)
        mean, deviation = self.unrelated
        near = mean + _CLOSE * deviation
        close = np.exp((cosines - best) / (_SHARP * deviation)) / (1 + np.exp((near - best) / (_SOFT * deviation)))
        shared = np.array([self._said(text) for text in texts])
        same = shared.max(axis=1, keepdims=True) >= _SYNONYM
        return np.where(same, shared, np.maximum(close, shared))

    def _shared(self, text: str) -> list[float]:
        """Return for each element 1 if it shares a stem with the text, else the best of the weaker ways, or 0.

        An expression of several words has its element's own words only if it stands there as it is (*interact with*).

        `_SYNONYM` if it has all words of a synonym, where no element has the word itself; `_PART` if a word ends with
        its stem: `screenwriters` with that of `writer`, but not `workshop` with that of `work`.
        """
        said = content_stems(text)
        if meant := self._meant(text):
            phrase = tuple(map(stem, split(text)))
            both = [
                (len(said) > 1 and said <= own) or _stands_in(phrase, phrases)
                for own, phrases in zip(self._stems, self._in_order, strict=True)
            ]
            near = [
                _SYNONYM if at in meant else _BESIDE if len(said) > 1 and said <= own else 0.0
                for at, own in enumerate(self._stems)
            ]
            return [1.0 if whole else other for whole, other in zip(both, near, strict=True)]
        own = any(said & stems for stems in self._stems)
        like = self._like(text) if not own else frozenset()
        parts = [word for word in split(text) if len(word) > _SHORTEST_PART]
        return [
            1.0
            if said & stems - beside or len(said & stems) > 1
            else _SYNONYM
            if at in like
            else _BESIDE
            if said & stems
            else _PART
            if any(len(own) >= _SHORTEST_PART and _ends_with(word, own) for own in stems for word in parts)
            else 0.0
            for at, (stems, beside) in enumerate(zip(self._stems, self._beside, strict=True))
        ]

    @cached_property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        """All phrases for each relation, then for each node type: name, descriptions and aliases, each once."""
        relations = [
            (identifier_words(relation.name), relation.description, relation.inverse, *relation.aliases)
            for relation in self.schema.relations
        ]
        types = [(in_words(node_type.name), *node_type.aliases) for node_type in self.schema.node_types]
        return tuple(tuple(dict.fromkeys(phrase for phrase in said if phrase)) for said in [*relations, *types])

    @cached_property
    def _beside(self) -> list[frozenset[str]]:
        """Stems that stand in an element's phrases only beside the noun, such as `research` in `research centre`.

        Only phrases of node types have a noun; the phrases of relations are sentences, in which every word counts.
        """
        beside = []
        for at, said in enumerate(self.phrases):
            phrases = [_noun_phrase(phrase) for phrase in said] if at >= self.relations else []
            nouns = {phrase[-1] for phrase in phrases if phrase}
            beside.append(frozenset(word for phrase in phrases for word in phrase) - nouns)
        return beside

    @cached_property
    def unrelated(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosines between the schema's phrases and unrelated words.

        The unrelated words are words of asking that share no stem with a phrase. Mean and deviation are measured
        because they differ between encoders and between schemas.
        """
        own = frozenset().union(*self._stems)
        strange = [word for word in sorted(ASKING_WORDS - CHATTING_WORDS) if stem(word) not in own]
        words = strange[:: max(1, len(strange) // _STRANGERS)]
        cosines = self.encoder.encode(words) @ self._phrases[0].T
        return float(cosines.mean()), max(float(cosines.std()), 1e-3)

    @cached_property
    def _stems(self) -> list[frozenset[str]]:
        return [
            frozenset(stem(word) for phrase in said for word in split(phrase)) - _FUNCTION_STEMS
            for said in self.phrases
        ]

    @cached_property
    def _in_order(self) -> list[list[tuple[str, ...]]]:
        """The stems of each phrase of each element in their order, function words among them."""
        return [[tuple(map(stem, split(phrase))) for phrase in said] for said in self.phrases]

    @cached_property
    def _phrases(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Vectors of all phrases, shape (phrases, dimensions), and the first row of each element, shape (elements,)."""
        counts = [len(said) for said in self.phrases]
        rows = self.encoder.encode([phrase for said in self.phrases for phrase in said])
        return rows, np.cumsum([0, *counts[:-1]]) if counts else np.zeros(0, dtype=np.int64)
