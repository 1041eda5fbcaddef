"""Scales of a language: properties with an order, and the adjectives, verbs and nouns that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from search.language.languages import Language, forms, language, split
from search.language.tokens import Phrases, Token

End = Literal["high", "low"]


@dataclass(frozen=True, slots=True)
class WordScale:
    """A property with an order: the words with which schemas name it (the usual first) and the dimension of values.

    `against` are words for what is small where the property is large: what is fast takes little time.
    """

    names: tuple[str, ...] = ()
    unit: str = ""
    against: tuple[str, ...] = ()


UNKNOWN = WordScale()


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective (base form) and the end of the scale that it stands for."""

    word: str
    end: End
    scale: WordScale = UNKNOWN


@dataclass(frozen=True, slots=True)
class Scales:
    """The words of a language for scales: adjectives in three degrees, verbs (`costs`) and nouns (`price`)."""

    positive: Phrases[Adjective]
    comparative: Phrases[Adjective]
    superlative: Phrases[Adjective]
    verbs: dict[str, tuple[str, WordScale]] = field(default_factory=dict)
    nouns: dict[str, WordScale] = field(default_factory=dict)

    def verb_near(self, said: Sequence[Token], index: int, reach: int = 4) -> tuple[int, str, WordScale] | None:
        """Return the place, base form and scale of the last verb of a scale among the `reach` words before a word."""
        for at in range(index - 1, max(-1, index - 1 - reach), -1):
            if said[at].word in self.verbs:
                return at, *self.verbs[said[at].word]
        return None


@lru_cache(maxsize=32)
def scales_of(code: str) -> Scales:
    """Return the scales of a language."""
    lang = language(code)
    degrees: tuple[list[tuple[str, Adjective]], ...] = ([], [], [])
    verbs: dict[str, tuple[str, WordScale]] = {}
    nouns: dict[str, WordScale] = {}
    for written in lang.value("scales", default=()):
        names = split(written["names"])
        further = () if lang.code == "en" else _english_names(names[0])
        names = tuple(dict.fromkeys((*further, *names)))
        scale = WordScale(names, written.get("unit", ""), split(written.get("against", "")))
        ends: tuple[End, ...] = ("high", "low")
        for end in ends:
            for entry in split(written.get(end, "")):
                _add(degrees, entry, end, scale, lang)
        several = split(written.get("verbs", ""))
        verbs |= dict.fromkeys(several, (several[0] if several else "", scale))
        for noun in split(written.get("nouns", written["names"])):
            nouns.setdefault(noun, scale)
    positive, comparative, superlative = (Phrases(degree) for degree in degrees)
    return Scales(positive, comparative, superlative, verbs, nouns)


@lru_cache(maxsize=64)
def _english_names(first: str) -> tuple[str, ...]:
    """Return the words with which schemas in English name a property, by the first of them."""
    listed = (split(written["names"]) for written in language("en").value("scales", default=()))
    return tuple(name for names in listed if names[0] == first for name in names)


@lru_cache(maxsize=256)
def superlative(name: str, end: End) -> str:
    """Return the usual English superlative for an end of a property: `weight`, `low` → `lightest`.

    It is empty unless schemas usually name the property so: *longest* alone does not say that it is about pages.
    """
    for written in language("en").value("scales", default=()):
        usual = [forms(entry) for entry in split(written.get(end, ""))]
        if split(written["names"])[0] == name and usual:
            return usual[0][2] if len(usual[0]) == 3 else f"{'most' if end == 'high' else 'least'} {usual[0][0]}"
    return ""


def date_names(code: str) -> tuple[str, ...]:
    """Return the words with which schemas name dates and years."""
    written = language(code).value("scales", default=())
    return tuple(name for one in written if one.get("unit") == "date" for name in split(one["names"]))


def _add(
    degrees: tuple[list[tuple[str, Adjective]], ...],
    entry: str,
    end: Literal["high", "low"],
    scale: WordScale,
    lang: Language,
) -> None:
    """Add an adjective's forms to the degrees; each form takes the language's endings of adjectives."""
    written = [split(degree.replace("|", ",")) for degree in forms(entry)]
    adjective = Adjective(written[0][0], end, scale)
    endings = ["", *lang.entries("adjectives", "endings")]
    for degree, several in zip(degrees, written, strict=False):
        degree += [(form + ending, adjective) for form in several for ending in endings]
    for ending in lang.entries("adjectives", "adverbs"):
        degrees[0].append((adjective.word + ending, adjective))
