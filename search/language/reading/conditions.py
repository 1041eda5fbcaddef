"""Words that limit, count or compute (*all*, *only*, *average*, *second*), which some part of a plan has to use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from search.language.cues import ConditionWord
from search.language.languages import language
from search.language.number_words import number_words
from search.language.tokens import Phrases, Token

Kind = Literal["every", "both", "either", "place", "other"]


class ConditionReader:
    """Finds the condition words of one language."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        kinds: tuple[Kind, ...] = ("every", "both", "either", "other")
        listed: list[tuple[str, Kind | None]] = [
            (word, kind) for kind in kinds for word in lang.entries("condition_words", kind)
        ]
        listed += [(word, "either") for word in lang.entries("words", "either")]
        # Digits among the ordinals (German *2.*) are numbers, which have cues of their own.
        places = number_words(code).ordinals.items()
        listed += [(word, "place") for word, number in places if number > 1 and not word.isdigit()]
        # *Not sold at all*, *not only*: these stretches mean something else together.
        listed += [(phrase, None) for name in ("fillers", "empty") for phrase in lang.entries("turning", name)]
        self._words: Phrases[Kind | None] = Phrases(listed)

    def read(self, said: Sequence[Token]) -> Iterator[ConditionWord]:
        """Yield the condition words of a text in their order."""
        at = 0
        while at < len(said):
            length, kind = self._words.at(said, at) or (1, None)
            if kind is not None:
                yield ConditionWord(said[at].start, said[at + length - 1].end, kind)
            at += length


@lru_cache(maxsize=32)
def condition_reader(code: str) -> ConditionReader:
    """Return the reader of a language."""
    return ConditionReader(code)
