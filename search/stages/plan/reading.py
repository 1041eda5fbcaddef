"""A question read around its mentions: masked for the encoder, as words in order, and as words seen from a mention."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from search.stages.plan.language import ASKING_WORDS, FUNCTION_WORDS
from search.stages.plan.mentions import Named

MOST_WORDS = 60
"""Words of a question that are looked at one by one; a text longer than that is no question about the graph."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case with its offset."""

    start: int
    text: str

    @property
    def content(self) -> bool:
        """Whether the word is more than grammar and the manner of asking."""
        return self.text not in FUNCTION_WORDS and self.text not in ASKING_WORDS


@dataclass(frozen=True, slots=True)
class Reading:
    """The words of a question outside some of its mentions, in their order."""

    words: tuple[Word, ...]

    @classmethod
    def of(cls, text: str, used: Sequence[Named]) -> Reading:
        """Read a question, leaving out the words of the mentions used."""
        spans = [(name.mention.start, name.mention.end) for name in used]
        words = [
            Word(match.start(), _POSSESSIVE.sub("", match.group().casefold()))
            for match in _WORD.finditer(text)
            if not any(start <= match.start() < end for start, end in spans)
        ]
        return cls(tuple(words[:MOST_WORDS]))

    @property
    def content(self) -> tuple[Word, ...]:
        """The words that are more than grammar."""
        return tuple(word for word in self.words if word.content)

    def outward(self, start: int) -> list[int]:
        """Return positions in `content` as they are met walking away from a mention that begins at `start`.

        What stands before it comes first, backwards, then what follows: in `who directed the films starring X`, and in
        `the films starring X were directed by whom`, the first hop from X is met before the second.
        """
        before = [at for at, word in enumerate(self.content) if word.start < start]
        return before[::-1] + list(range(len(before), len(self.content)))


def masked(text: str, roles: Sequence[tuple[Named, str]]) -> str:
    """Return the question with each mention replaced by the type it plays, in brackets."""
    for name, role in sorted(roles, key=lambda pair: -pair[0].mention.start):
        text = f"{text[: name.mention.start]}[{role}]{text[name.mention.end :]}"
    return text
