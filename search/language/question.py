"""A question with its mentions: as text with mentions masked for the encoder, and as the words outside mentions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from search.language.names import Named
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem

MOST_WORDS = 60
"""Largest number of words of a question that are examined. A longer text is hardly a question about the graph."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case with its offset. `content` is False for function words and words of asking."""

    start: int
    text: str
    content: bool = True


@dataclass(frozen=True, slots=True)
class RemainingWords:
    """The words of a question outside some of its mentions, in their order; `content` holds the content words."""

    words: tuple[Word, ...]
    content: tuple[Word, ...]

    def outward(self, start: int) -> list[int]:
        """Return the positions in `content`, ordered outward from a mention that begins at `start`.

        The words before the mention come first, from the nearest to the farthest. The words after it follow in order.
        In `who directed the films starring X` and in `the films starring X were directed by whom`, the words of the
        first hop from X therefore come before those of the second hop.
        """
        before = [at for at, word in enumerate(self.content) if word.start < start]
        return before[::-1] + list(range(len(before), len(self.content)))


@dataclass(frozen=True, eq=False)
class AnalysedQuestion:
    """The text of a question, the names in it, and its words outside any selection of these names.

    `spoken` are the stems of the schema's own words. They count as content words even if they are in the list of words
    of asking: for example `person`, if the schema has such a type.
    """

    text: str
    names: Sequence[Named]
    spoken: frozenset[str] = frozenset()
    _readings: dict[tuple[int, ...], RemainingWords] = field(default_factory=dict, init=False)

    def without(self, used: tuple[int, ...]) -> RemainingWords:
        """Return the words of the question outside the names at the positions `used` in `names`."""
        reading = self._readings.get(used)
        if reading is None:
            taken = [False] * len(self.text)
            for name in used:
                mention = self.names[name].mention
                taken[mention.start : mention.end] = [True] * (mention.end - mention.start)
            words = tuple(word for word in self._words if not taken[word.start])[:MOST_WORDS]
            reading = self._readings[used] = RemainingWords(words, tuple(word for word in words if word.content))
        return reading

    def masked(self, roles: Sequence[tuple[int, str]]) -> str:
        """Return the question with the names in `roles` replaced by node types in brackets.

        Each pair in `roles` is a position in `names` and the type to write there.
        """
        text = self.text
        for name, role in sorted(roles, key=lambda pair: -self.names[pair[0]].mention.start):
            mention = self.names[name].mention
            text = f"{text[: mention.start]}[{role}]{text[mention.end :]}"
        return text

    @cached_property
    def _words(self) -> tuple[Word, ...]:
        matches = _WORD.finditer(self.text)
        return tuple(self._word(match.start(), _POSSESSIVE.sub("", match.group().casefold())) for match in matches)

    def _word(self, start: int, text: str) -> Word:
        asking = text in ASKING_WORDS and stem(text) not in self.spoken
        return Word(start, text, text not in FUNCTION_WORDS and not asking)
