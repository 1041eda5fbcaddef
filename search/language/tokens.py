"""The words of a text with their offsets, and the search for phrases among them. Both take time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Meaning = TypeVar("Meaning")

_WORD = re.compile(
    r"(?:[^\W_]{1,2}|jusqu|lorsqu|puisqu|quelqu|presqu|dell|nell|sull|dall|all|quest)(?=['’ʼ][^\W_]{2})"
    r"|[^\W_]+(?:['’ʼ][^\W_]+)?",
    re.IGNORECASE,
)
"""A word with its contraction (`don't`, `Ada's`). Elided words (`l’asthme`, `qu’il`, `dell’arte`) are words."""
_POSSESSIVE = re.compile(r"'s?$")
_BREAKS = frozenset(',;:.?!()[]{}–—\n"“”„«»¿¡…،؛؟。、，？！')
"""Characters that separate parts of a sentence. A hyphen does so only between spaces."""
_SIGNS = frozenset("+&/=<>€$£¥%#")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text.

    `word` is in lower case with straight apostrophes and without a possessive ending (`Marie’s` → `marie`; contractions
    such as `what's` lose theirs too). `start` and `end` are the offsets of the whole word. `mark` is what stands
    between the word before and this one, if it separates: one of the characters in `_BREAKS`, else an empty text.
    `joined` says that only a hyphen stands before it. `capital` says that it begins with a capital letter.
    """

    start: int
    end: int
    word: str
    mark: str = ""
    joined: bool = False
    capital: bool = False


def tokens(text: str) -> list[Token]:
    """Return the words of a text in their order."""
    found: list[Token] = []
    behind = 0
    for match in _WORD.finditer(text):
        between = text[behind : match.start()]
        raw = match.group()
        if found and between == ". " and _is_initial(text, found[-1]) and raw[0].isupper():
            between = " "
        word = _POSSESSIVE.sub("", raw.casefold().replace("’", "'").replace("ʼ", "'"))
        found.append(
            Token(match.start(), match.end(), word, _mark(between), between == "-" and bool(found), raw[0].isupper())
        )
        behind = match.end()
    return found


def _is_initial(text: str, token: Token) -> bool:
    """Whether a word is a single capital, behind which a full stop ends no sentence: *Noah A. Smith*."""
    return token.capital and token.end - token.start == 1 and text[token.start] != "I"


def _mark(between: str) -> str:
    """Return the strongest separating character between two words: any other than a comma before a comma."""
    if between == " ":
        return ""
    marks = [character for character in between if character in _BREAKS]
    if " - " in between or " -- " in between:
        marks.append("–")
    return next((mark for mark in marks if mark not in ",،、，"), marks[0] if marks else "")


class Phrases(Generic[Meaning]):
    """Phrases with what each means; finds the longest that begins at a word of a text."""

    def __init__(self, entries: Iterable[tuple[str, Meaning]]) -> None:
        by_first: dict[str, list[tuple[tuple[str, ...], Meaning]]] = {}
        for phrase, meaning in entries:
            words = tuple(token.word for token in tokens(phrase))
            if words:
                by_first.setdefault(words[0], []).append((words, meaning))
        for several in by_first.values():
            several.sort(key=lambda entry: -len(entry[0]))
        self._by_first = by_first

    def at(self, said: Sequence[Token], index: int, end: int | None = None) -> tuple[int, Meaning] | None:
        """Return the number of words and the meaning of the longest phrase that begins at a word; None if none does.

        A phrase does not reach over a mark that separates, nor beyond the word at `end`.
        """
        limit = len(said) if end is None else end
        if index >= limit:
            return None
        for words, meaning in self._by_first.get(said[index].word, ()):
            if index + len(words) <= limit and all(
                said[index + at].word == word and not said[index + at].mark
                for at, word in enumerate(words[1:], start=1)
            ):
                return len(words), meaning
        return None

    def length(self, said: Sequence[Token], index: int, end: int | None = None) -> int:
        """Return the number of words of the longest phrase that begins at a word; 0 if none does."""
        found = self.at(said, index, end)
        return found[0] if found else 0

    def before(self, said: Sequence[Token], index: int, most: int = 4) -> int:
        """Return the number of words of the longest phrase that ends right before a word; 0 if none does."""
        for length in range(min(most, index), 0, -1):
            if self.length(said, index - length, index) == length:
                return length
        return 0


def phrases(several: Iterable[str]) -> Phrases[str]:
    """Return phrases whose meaning is the phrase itself."""
    return Phrases((phrase, phrase) for phrase in several)
