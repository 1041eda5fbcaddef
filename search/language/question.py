"""A question read around its mentions: masked for the encoder, as words in order, and as words seen from a mention."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from search.language.names import Named
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem

MOST_WORDS = 60
"""Words of a question that are looked at one by one; a text longer than that is no question about the graph."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case with its offset, and whether it is more than grammar and the manner of asking."""

    start: int
    text: str
    content: bool = True


@dataclass(frozen=True, slots=True)
class RemainingWords:
    """The words of a question outside some of its mentions, in their order; `content` are those beyond grammar."""

    words: tuple[Word, ...]
    content: tuple[Word, ...]

    def outward(self, start: int) -> list[int]:
        """Return positions in `content` as they are met walking away from a mention that begins at `start`.

        What stands before it comes first, backwards, then what follows: in `who directed the films starring X`, and in
        `the films starring X were directed by whom`, the first hop from X is met before the second.
        """
        before = [at for at, word in enumerate(self.content) if word.start < start]
        return before[::-1] + list(range(len(before), len(self.content)))


@dataclass(frozen=True, eq=False)
class AnalysedQuestion:
    """The text of a question, the names in it, and its words outside any choice of them.

    `spoken` are the stems of the schema's own words: they say something even where they are words of asking elsewhere
    (`person` where there is such a type).
    """

    text: str
    names: Sequence[Named]
    spoken: frozenset[str] = frozenset()
    _readings: dict[tuple[int, ...], RemainingWords] = field(default_factory=dict, init=False)

    def without(self, used: tuple[int, ...]) -> RemainingWords:
        """Return the words of the question outside these names (places in `names`)."""
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
        """Return the question with each of these names replaced by the type it plays, in brackets."""
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
