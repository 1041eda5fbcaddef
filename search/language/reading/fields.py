"""The words that ask for a property of a thing: *how heavy is X*, *what does X cost*, *when was X founded*."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from search.language.cues import FieldAsked
from search.language.languages import language
from search.language.reading.scales import Scale, scales_of
from search.language.tokens import Token, phrases

_FIRST = 4
"""Number of words at the start of a question in which it says that it asks for a property."""


class FieldReader:
    """Finds the words that ask for a property, in one language."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        self._scales = scales_of(lang.code)
        self._how = phrases(lang.entries("fields", "how"))
        self._which = phrases(lang.entries("fields", "which"))
        self._having = lang.set("fields", "having")
        self._much = phrases(lang.entries("fields", "much"))
        self._what = phrases(lang.entries("fields", "what"))
        self._when = phrases(lang.entries("fields", "when"))
        dates = (one for one in self._scales.nouns.values() if one.unit == "date")
        self._dated = next(dates, Scale((), "date"))

    def read(self, said: Sequence[Token]) -> FieldAsked | None:
        """Return what property a text asks for; None if it asks for none."""
        for at in range(min(len(said), _FIRST)):
            if length := self._when.length(said, at):
                return FieldAsked((_span(said, at, length),), self._dated.names, "date")
            length = self._how.length(said, at)
            if length and (found := self._scales.positive.at(said, at + length)):
                return FieldAsked((_span(said, at, length + found[0]),), found[1].scale.names, found[1].scale.unit)
            if noun := self._noun(said, at):
                return noun
            much = self._much.length(said, at)
            if length := much or self._what.length(said, at):
                return self._verb(said, at, length, is_price=bool(much))
        return None

    def _noun(self, said: Sequence[Token], at: int) -> FieldAsked | None:
        """Return the property that is asked for by its noun: *qué altura tiene el Aneto*."""
        length = self._which.length(said, at)
        place = at + length
        if not length or place + 1 >= len(said) or said[place + 1].word not in self._having:
            return None
        scale = self._scales.nouns.get(said[place].word)
        return FieldAsked((_span(said, at, length + 2),), scale.names, scale.unit) if scale is not None else None

    def _verb(self, said: Sequence[Token], at: int, length: int, *, is_price: bool) -> FieldAsked | None:
        """Return the property that a verb of a scale says at the end; without one, *how much is X* is a price."""
        last = said[-1] if not said[-1].mark else said[-2]
        if last.word in self._scales.verbs:
            _, scale = self._scales.verbs[last.word]
            return FieldAsked((_span(said, at, length), (last.start, last.end)), scale.names, scale.unit)
        if is_price and (price := next((one for one in self._scales.nouns.values() if one.unit == "money"), None)):
            return FieldAsked((_span(said, at, length),), price.names, price.unit)
        return None


def _span(said: Sequence[Token], at: int, length: int) -> tuple[int, int]:
    return said[at].start, said[at + length - 1].end


@lru_cache(maxsize=32)
def field_reader(code: str) -> FieldReader:
    """Return the reader of a language."""
    return FieldReader(code)
