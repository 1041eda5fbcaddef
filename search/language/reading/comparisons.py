"""Comparisons with another thing: *cheaper than X*, *founded before X*, *as old as X*, *more papers than X*.

A comparison with a number or a date is none of these: see `quantities.py` and `dates.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from search.domain.plan import Operator
from search.domain.plan.parts import DENIED
from search.language.cues import Comparison, Span
from search.language.languages import language, split
from search.language.number_words import number_words
from search.language.reading.scales import Adjective, Scale, scales_of
from search.language.tokens import Token, phrases

_GAP = 4
"""Largest number of words between an adjective and its *than*: *a cheaper lamp than the Harmonica Lamp*."""
_VERB = 10
"""Largest number of words from *before* to the verb behind its thing."""
_MOST_REFERENCE = 24
"""Largest number of words of a reference."""


class ComparisonReader:
    """Finds the comparisons of one language."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        self._scales = scales_of(code)
        self._numbers = number_words(code)
        self._than = phrases(lang.entries("comparisons", "than"))
        self._more, self._less = lang.set("comparisons", "more"), lang.set("comparisons", "less")
        self._as = phrases(lang.entries("comparisons", "as"))
        self._as_behind = phrases(lang.entries("comparisons", "as_behind") or lang.entries("comparisons", "as"))
        self._least = phrases(lang.entries("comparisons", "least"))
        self._most = phrases(lang.entries("comparisons", "most"))
        self._not = lang.set("comparisons", "not")
        self._same = phrases(lang.entries("comparisons", "same"))
        self._same_as = phrases(lang.entries("comparisons", "same_as"))
        self._before = phrases(lang.entries("comparisons", "before"))
        self._after = phrases(lang.entries("comparisons", "after"))
        self._happen = phrases(lang.entries("comparisons", "happen"))
        self._counting = {word: split(names) for word, names in lang.table("superlatives", "counting").items()}
        self._as_much = phrases(lang.entries("comparisons", "as_much"))
        self._verb_behind = bool(lang.value("comparisons", "verb_behind"))
        self._not_before = lang.set("comparisons", "not_before")
        self._ends = lang.set("comparisons", "ends")
        self._others = lang.set("comparisons", "others")
        self._articles = lang.set("words", "articles")
        self._function = lang.set("words", "function")
        self._dates = self._scales.nouns.get(lang.value("superlatives", "date_noun", default="date"), Scale())

    def read(self, said: Sequence[Token], held: Sequence[Span] = ()) -> list[Comparison]:
        """Return the comparisons of a text in their order, outside the stretches `held` (in the order of the text)."""
        found: list[Comparison] = []
        at, waiting = 0, iter(held)
        hold = next(waiting, None)
        while at < len(said):
            while hold is not None and hold[1] <= said[at].start:
                hold = next(waiting, None)
            inside = hold is not None and hold[0] <= said[at].start < hold[1]
            if not inside and (comparison := self._at(said, at)):
                found.append(comparison)
                while at < len(said) and said[at].start < comparison.end:
                    at += 1
            else:
                at += 1
        return found

    def _at(self, said: Sequence[Token], at: int) -> Comparison | None:
        return self._than_at(said, at) or self._as_at(said, at) or self._same_at(said, at) or self._when_at(said, at)

    def _than_at(self, said: Sequence[Token], at: int) -> Comparison | None:
        """Return *cheaper than X*, *less expensive than X*, *more papers than X*, *costs more than X*."""
        word, less = said[at].word, said[at].word in self._less
        if found := self._scales.comparative.at(said, at):
            return self._adjective_than(said, at, at + found[0], found[1], less=False)
        if word not in self._more and not less:
            return None
        if (found := self._scales.positive.at(said, at + 1)) and not said[at + 1].mark:
            return self._adjective_than(said, at, at + 1 + found[0], found[1], less=less)
        op: Operator = "<" if less else ">"
        than = self._than_behind(said, at + 1)
        if than is None:
            return None
        place, length = than
        if place == at + 1:
            verb = self._scales.verb_near(said, at)
            if verb is None:
                return None
            begins = verb[0] if verb[0] == at - 1 else at
            return self._made(said, begins, place + length, place + length, op, verb[1], verb[2])
        noun = said[place - 1].word
        scale = self._scales.nouns.get(noun) or Scale(self._counting.get(noun, ()))
        words = " ".join(token.word for token in said[at + 1 : place])
        return self._made(said, at, place + length, place + length, op, words, scale)

    def _adjective_than(
        self, said: Sequence[Token], at: int, behind: int, adjective: Adjective, *, less: bool
    ) -> Comparison | None:
        than = self._than_behind(said, behind)
        if than is None:
            return None
        place, length = than
        op: Operator = "<" if (adjective.end == "low") != less else ">"
        noun = said[place - 1].word
        if place > behind and noun in self._scales.nouns:
            # *A higher rating than X* compares ratings.
            return self._made(said, at, place + length, place + length, op, noun, self._scales.nouns[noun])
        end = place + length if place == behind else behind
        return self._made(said, at, end, place + length, op, adjective.word, adjective.scale)

    def _than_behind(self, said: Sequence[Token], at: int) -> tuple[int, int] | None:
        """Return the place of *than* within the next words and its number of words; None without it."""
        for place in range(at, min(len(said), at + _GAP + 1)):
            if said[place].mark:
                return None
            if length := self._than.length(said, place):
                return place, length
        return None

    def _as_at(self, said: Sequence[Token], at: int) -> Comparison | None:
        """Return *as old as X*, *at least as expensive as X*."""
        if (much := self._as_much.length(said, at)) and (verb := self._scales.verb_near(said, at)):
            first = verb[0] if verb[0] == at - 1 else at
            return self._made(said, first, at + much, at + much, "=", verb[1], verb[2])
        length = self._as.length(said, at)
        adjective = self._scales.positive.at(said, at + length) if length else None
        if not adjective:
            return None
        place = at + length + adjective[0]
        behind = self._as_behind.length(said, place)
        if not behind:
            return None
        least, most = self._least.before(said, at), self._most.before(said, at)
        low = adjective[1].end == "low"
        op: Operator = "=" if not (least or most) else ">=" if bool(least) != low else "<="
        begins = at - max(least, most)
        if at and said[at - 1].word in self._not:
            # *Not as cheap as X* means dearer than X, not another price.
            return self._made(
                said, at - 1, place + behind, place + behind, ">" if low else "<", adjective[1].word, adjective[1].scale
            )
        return self._made(said, begins, place + behind, place + behind, op, adjective[1].word, adjective[1].scale)

    def _same_at(self, said: Sequence[Token], at: int) -> Comparison | None:
        """Return *the same price as X*. Only nouns of scales compare; others say that a neighbour is shared."""
        length = self._same.length(said, at)
        if not length or at + length >= len(said) or said[at + length].word not in self._scales.nouns:
            return None
        noun = said[at + length].word
        behind = self._same_as.length(said, at + length + 1)
        if not behind:
            return None
        end = at + length + 1 + behind
        return self._made(said, at, end, end, "=", noun, self._scales.nouns[noun])

    def _when_at(self, said: Sequence[Token], at: int) -> Comparison | None:
        """Return *founded before X*, *came out after X*; without a verb of dates, X has to look like a name."""
        before, after = self._before.length(said, at), self._after.length(said, at)
        length = max(before, after)
        if not length or at + length >= len(said) or not at:
            return None
        verb = self._happen.before(said, at)
        begins_name = at + length
        while begins_name < len(said) - 1 and said[begins_name].word in self._articles:
            begins_name += 1
        op: Operator = "<" if before else ">"
        if not verb and self._verb_behind:
            return self._verb_after(said, at, length, op)
        if not verb and (said[at - 1].word in self._not_before or not said[begins_name].capital):
            return None
        word = said[at - 1].word if verb else ""
        return self._made(said, at - verb, at + length, at + length, op, word, self._dates)

    def _verb_after(self, said: Sequence[Token], at: int, length: int, op: Operator) -> Comparison | None:
        """Return the comparison of a verb behind its thing, as in German *vor Maplethorn gegründet*."""
        for place in range(at + length + 1, min(len(said), at + length + _VERB)):
            if said[place].mark:
                return None
            if self._happen.length(said, place):
                made = self._made(said, at, at + length, at + length, op, said[place].word, self._dates)
                stretch = said[at + length].start, said[place - 1].end
                return replace(made, reference=stretch) if made else None
        return None

    def _made(
        self, said: Sequence[Token], begins: int, end: int, reference: int, op: Operator, word: str, scale: Scale
    ) -> Comparison | None:
        """Return the comparison; None if a number or nothing stands behind it."""
        close = reference
        while close < min(len(said), reference + _MOST_REFERENCE):
            token = said[close]
            if close > reference and token.mark and token.mark != ":":
                break
            if close > reference and token.word in self._ends and not token.capital:
                break
            close += 1
        if close == reference or self._is_number(said, reference) or said[reference].word in self._others:
            return None
        if begins and said[begins - 1].word in self._not and not said[begins].mark and op != "=":
            begins, op = begins - 1, DENIED[op]
        stretch = said[reference].start, said[close - 1].end
        return Comparison(said[begins].start, said[end - 1].end, op, stretch, word, scale.names, scale.unit)

    def _is_number(self, said: Sequence[Token], at: int) -> bool:
        """Whether a number stands at a word; `3D` in a name such as *3D Maze* is none."""
        return said[at].word.isdigit() or self._numbers.at(said, at) is not None


@lru_cache(maxsize=32)
def comparison_reader(code: str) -> ComparisonReader:
    """Return the reader of a language."""
    return ComparisonReader(code)
