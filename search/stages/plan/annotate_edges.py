"""What stretches of a question may mean of the fields of edges: their names, numbers, orders and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from search.interfaces import Adjacency
from search.language.languages import language
from search.language.quantities import Quantity, quantities
from search.language.reading.numbers import number_reader
from search.language.reading.scales import Adjective, WordScale, scales_of
from search.language.tokens import Phrases, Token, phrases
from search.stages.plan.derivation import Amount, Derivation, Features, FieldNamed, SaidOrder
from search.stages.plan.edge_fields import EdgeFieldAt, EdgeFields

_LONGEST_VALUE = 8
"""Most words of a value of an edge."""

Made = Callable[[tuple[int, int], str, object, str, Features], Derivation]
"""Makes an annotation of a stretch, a category, a meaning, the name of its rule, and features."""


@dataclass(frozen=True)
class EdgeAnnotator:
    """Looks the words of questions up among the fields of edges.

    `measuring` gives the scales whose values have a dimension, `dates` has the names of fields of dates, and `much` are
    the phrases of asking how much.
    """

    fields: EdgeFields
    adjacency: Adjacency
    code: str
    made: Made
    measuring: Callable[[str, str], tuple[WordScale, ...]]
    dates: WordScale
    much: Phrases[bool]

    def __call__(
        self, text: str, said: Sequence[Token], dated: Sequence[tuple[tuple[int, int], Amount]]
    ) -> list[Derivation]:
        """Return the annotations of a question; `dated` are the dates in it, with their stretches."""
        found = [*self._amounts(text, said), *self._names(text, said), *self._scales(said)]
        edges = self.fields.dated(self.dates)
        return found + [self.made(span, "EQ", replace(days, fields=edges), "date", ()) for span, days in dated if edges]

    def _amounts(self, text: str, said: Sequence[Token]) -> Iterator[Derivation]:
        for one in number_reader(self.code).read(said, quantities(text, self.code)):
            inside = [at for at, token in enumerate(said) if token.start < one.end and one.start < token.end]
            if inside and (meant := self._meant(one)):
                whole = one.low == int(one.low) and one.high == int(one.high) and not one.dimension
                amount = Amount(one.op, one.low, one.high, meant, whole, one.unit if one.dimension else "")
                features: Features = (
                    ("amount-compared", float(one.op != "=")), ("amount-unit", float(bool(one.dimension))),
                )  # fmt: skip
                yield self.made((inside[0], inside[-1] + 1), "EQ", amount, "year" if one.year else "amount", features)

    def _meant(self, one: Quantity) -> tuple[EdgeFieldAt, ...]:
        """Return the fields that a number may mean by its unit or its comparing word, as a year, or at all."""
        if one.dimension:
            names = [name for scale in self.measuring(self.code, one.dimension) for name in scale.names]
            return self.fields.measuring(one.unit, names)
        if one.scale:
            return self.fields.scaled(WordScale(one.scale))
        if one.year:
            return self.fields.dated(self.dates)
        return tuple(at for at in self.fields.all if at in self.fields.measured)

    def _names(self, text: str, said: Sequence[Token]) -> Iterator[Derivation]:
        for at in range(len(said)):
            for length in range(min(self.fields.longest, len(said) - at), 0, -1):
                if fields := self.fields.called([one.word for one in said[at : at + length]]):
                    yield self.made((at, at + length), "EF", FieldNamed(fields), "field-name", ())
                    yield from self._values(text, said, at, at + length, fields)

    def _values(
        self, text: str, said: Sequence[Token], start: int, begin: int, fields: Sequence[EdgeFieldAt]
    ) -> Iterator[Derivation]:
        """Yield the longest words behind the name of a field that are a value of it."""
        texts = [at for at in fields if at in self.fields.texts]
        held = {at: values for at in texts if (values := self.adjacency.values_of(*at)) is not None}
        for end in range(min(len(said), begin + _LONGEST_VALUE), begin, -1):
            value = text[said[begin].start : said[end - 1].end]
            if having := tuple(at for at in held if held[at].has(value)):
                features: Features = (("value-named", 1.0), ("value-words", float(end - begin - 1)))
                yield self.made((start, end), "EC", (having, value), "value", features)
                return

    def _scales(self, said: Sequence[Token]) -> Iterator[Derivation]:
        known, how = scales_of(self.code), language(self.code).set("fields", "how")
        for at, token in enumerate(said):
            scales = [(1, known.nouns[token.word], "scale-noun")] if token.word in known.nouns else []
            scales += [(1, known.verbs[token.word][1], "scale-noun")] if token.word in known.verbs else []
            if token.word in how and (found := known.positive.at(said, at + 1)):
                scales.append((1 + found[0], found[1].scale, "how-scale"))
            if length := self.much.length(said, at):
                scales += [(length, scale, "how-scale") for scale in self.measuring(self.code, "money")]
            for length, scale, rule in scales:
                if fields := self.fields.scaled(scale):
                    yield self.made((at, at + length), "EF", FieldNamed(fields), rule, ())
            for length, one, few in self._superlatives(said, at):
                if fields := self.fields.scaled(one.scale):
                    order = SaidOrder("desc" if (one.end == "high") != few else "asc", fields)
                    yield self.made((at, at + length), "EK", order, "superlative", ())

    def _superlatives(self, said: Sequence[Token], at: int) -> Iterator[tuple[int, Adjective, bool]]:
        """Yield the superlatives that begin at a word: *cheapest*, *most expensive*, *least expensive*.

        Each has its number of words and whether *least* turns it round.
        """
        known, lang = scales_of(self.code), language(self.code)
        if found := known.superlative.at(said, at):
            yield *found, False
        for degree in ("most", "least"):
            length = phrases(lang.entries("grammar_degrees", degree)).length(said, at)
            if length and (found := known.positive.at(said, at + length)):
                yield length + found[0], found[1], degree == "least"
