"""Whole numbers in words of a language: *five*, *twenty-five*, *two hundred*, *a dozen*, *third*."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from search.language.languages import Language, language
from search.language.tokens import Phrases, Token

_HUNDRED = 100
_MOST_WORDS = 10
"""Largest number of words of a number; it bounds the work for each word of a text."""
MOST_DIGITS = 12
"""A number with more digits is none that a field can hold."""


class NumberWords:
    """The number words of one language."""

    def __init__(self, lang: Language) -> None:
        self._units = dict(lang.numbered("numbers", "units"))
        self._tens = {form: 10 * number for form, number in lang.numbered("numbers", "tens", first=2)}
        self._times: dict[str, int] = lang.table("numbers", "times")
        self._fixed: Phrases[int] = Phrases(lang.table("numbers", "fixed").items())
        self._joins = lang.set("numbers", "joins")
        self.ordinals = dict(lang.numbered("numbers", "ordinals"))

    def at(self, said: Sequence[Token], index: int) -> tuple[int, int] | None:
        """Return the number of words and the value of the number that begins at a word; None if none does."""
        if index >= len(said):
            return None
        if found := self._fixed.at(said, index):
            return found
        total = part = 0
        at, words = index, 0
        while at < min(len(said), index + _MOST_WORDS) and (at == index or not said[at].mark):
            word = said[at].word
            if word in self._tens and part % _HUNDRED == 0:
                part += self._tens[word]
            elif word in self._units and (part % _HUNDRED == 0 or (part % 10 == 0 and self._units[word] < 10)):
                part += self._units[word]
            elif word in self._times and at > index:
                part, total = self._multiplied(part, total, self._times[word])
            elif word in self._joins and words and self._follows(said, at, part):
                at += 1
                continue
            else:
                break
            at += 1
            words = at - index
        value = total + part
        return (words, value) if words and len(str(value)) <= MOST_DIGITS else None

    def _follows(self, said: Sequence[Token], at: int, part: int) -> bool:
        """Whether a joining word (`two hundred and five`) stands inside a number."""
        word = said[at + 1].word if at + 1 < len(said) and not said[at + 1].mark else ""
        return (word in self._units or word in self._tens) and (part >= _HUNDRED or part == 0)

    @staticmethod
    def _multiplied(part: int, total: int, times: int) -> tuple[int, int]:
        if times == _HUNDRED:
            return max(part, 1) * times, total
        return 0, total + max(part, 1) * times


def small_number(token: Token, numbers: NumberWords, most: int = 100) -> int | None:
    """Return the value of a single word that is a number from 1 to `most` in digits or as a unit (*three*), or None."""
    if token.word.isascii() and token.word.isdigit() and len(token.word) <= 3:
        value = int(token.word)
        return value if 1 <= value <= most else None
    return numbers.at([token], 0)[1] if numbers.at([token], 0) else None  # type: ignore[index]


@lru_cache(maxsize=32)
def number_words(code: str) -> NumberWords:
    """Return the number words of a language."""
    return NumberWords(language(code))
