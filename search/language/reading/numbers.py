"""What a number of a question is compared by: the property that its comparing word says, or nothing but the number.

`lamps cheaper than 50` → a price; `lamps under 50` → a bare number, whose property the planner has to find.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from search.language.languages import language
from search.language.quantities import UNITS, Quantity
from search.language.reading.scales import UNKNOWN, scales_of
from search.language.tokens import Token


class NumberReader:
    """Finds what numbers are compared by, in one language."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        self._scales = scales_of(lang.code)
        self._function = lang.set("words", "function")
        self._participles = lang.set("superlatives", "participles")
        self._ends = (*lang.entries("superlatives", "participle_ends"), *lang.entries("adjectives", "ends"))
        self._aged = lang.set("quantities", "aged")

    def read(self, said: Sequence[Token], numbers: Sequence[Quantity]) -> list[Quantity]:
        """Return the numbers with the scale of their comparing word, and with `bare` where nothing else is said.

        A word behind a number that is no noun is no unit: *under 30 please*, *under 30 sold in Norway*.
        """
        starts = [token.start for token in said]
        return [
            self._one(said, number, range(bisect_left(starts, number.start), bisect_left(starts, number.end)))
            for number in numbers
        ]

    def _one(self, said: Sequence[Token], number: Quantity, inside: range) -> Quantity:
        """Return a number with its scale; `inside` are the places of its words."""
        unit = "" if self._counts_nothing(said, number, inside.stop) else number.unit
        number = replace(number, unit=unit)
        if number.op == "=" or number.year or not inside:
            return number
        # *Children under 5* are an age, which no other thing is measured by.
        if not unit and inside[0] and said[inside[0] - 1].word in self._aged:
            return number
        compared = next((found[1] for at in inside if (found := self._scales.comparative.at(said, at))), None)
        verb = self._scales.verb_near(said, inside[0], 2)
        scale = compared.scale if compared else verb[2] if verb else UNKNOWN
        return replace(number, scale=scale.names, against=scale.against if compared else (), bare=not unit)

    def _counts_nothing(self, said: Sequence[Token], number: Quantity, at: int) -> bool:
        """Whether the word behind a number is no noun, nor a participle or adjective of one (*three used books*).

        `at` is the place of the first word behind the number.
        """
        word = number.unit
        if word in UNITS:
            # A letter may be an elided word as well: `l` of *l'eau*, `m` of *I'm*.
            return False
        if word in self._function:
            return True
        behind = said[at + 1] if at + 1 < len(said) else None
        said_of_it = word in self._participles or bool(self._ends and word.endswith(self._ends))
        return said_of_it and (behind is None or bool(behind.mark) or behind.word in self._function)


@lru_cache(maxsize=32)
def number_reader(code: str) -> NumberReader:
    """Return the reader of a language."""
    return NumberReader(code)
