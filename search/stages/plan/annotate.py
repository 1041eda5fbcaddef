"""The words of a question with what each stretch of them may mean: names, values, numbers, words of the schema, cues.

An annotation is a derivation without children. All stretches that mean something are returned, overlapping ones too:
the chart decides which of them are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from search.interfaces import Adjacency, Mention, MentionIndex, ValueIndex, ValueMention
from search.language.everyday import everyday_names
from search.language.languages import language
from search.language.names import _QUOTED as QUOTED
from search.language.quantities import Quantity, quantities
from search.language.reading.scales import Adjective, Scale, scales_of
from search.language.synonyms import synonyms
from search.language.tokens import Phrases, Token, tokens
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem, words
from search.stages.plan.derivation import Amount, Derivation, Features, FieldNamed, Order, Relating
from search.stages.plan.schema_index import SchemaIndex
from search.stages.plan.sets import Kind, Named, Where

MOST_TOKENS = 60
"""Most words of a question that are read; what stands behind them is text."""
_LONGEST = 6
_AROUND = 3


@dataclass(frozen=True)
class Annotated:
    """The words of a question, what stretches of them may mean, and which of them carry content."""

    text: str
    tokens: Sequence[Token]
    annotations: Sequence[Derivation]
    content: Sequence[bool]
    rest: str = ""


@dataclass(frozen=True)
class Annotator:
    """Looks the words of questions up. `weigh` gives the score of features."""

    mentions: MentionIndex
    adjacency: Adjacency
    schema: SchemaIndex
    weigh: Callable[[Features], float]
    values: ValueIndex | None = None
    code: str = "en"

    def __call__(self, text: str) -> Annotated:
        """Return the words of a question with their annotations, each at its place among the tokens."""
        said = tokens(text)
        rest = text[said[MOST_TOKENS].start :] if len(said) > MOST_TOKENS else ""
        said = said[:MOST_TOKENS]
        whole = text[: said[-1].end] if said else ""
        found = [
            *self._names(whole, said), *self._values(whole, said), *self._amounts(whole, said),
            *self._cues(said), *self._scales(said),
        ]  # fmt: skip
        found += self._schema(said)
        content = [self._content(token.word, found, at) for at, token in enumerate(said)]
        return Annotated(text, said, found, content, rest)

    def _content(self, word: str, found: Sequence[Derivation], at: int) -> bool:
        if word in FUNCTION_WORDS or word in ASKING_WORDS:
            return False
        return True

    def _made(
        self, span: tuple[int, int], category: str, meaning: object, rule: str, features: Features
    ) -> Derivation:
        start, end = span
        named: Features = ((f"rule:{rule}", 1.0), *features)
        return Derivation(
            start, end, category, meaning, self.weigh(named), rule, named, covered=(1 << end) - (1 << start)
        )

    def _span(self, said: Sequence[Token], start: int, end: int) -> tuple[int, int] | None:
        """Return the places of the tokens between two offsets; None if the offsets cut a token."""
        inside = [at for at, token in enumerate(said) if token.start < end and start < token.end]
        return (inside[0], inside[-1] + 1) if inside else None

    def _names(self, text: str, said: Sequence[Token]) -> Iterator[Derivation]:
        quoted = [match.span() for match in QUOTED.finditer(text)]
        cased = not text.isupper() and not text.islower()
        found = [*self.mentions.find(text), *everyday_names(text, 0, len(text), self.mentions, self.code)]
        for mention in found:
            span = self._span(said, mention.start, mention.end)
            if span is None:
                continue
            features = self._name_features(mention, said[span[0] : span[1]], quoted, cased, span[0] == 0)
            keys = np.array(mention.keys, dtype=np.int32)
            types = self.adjacency.types[keys]
            kinds = np.unique(types)
            for code in kinds:
                own = tuple(int(key) for key in keys[types == code])
                meaning = Named(1 << int(code), own, mention.text)
                more: Features = (("name-keys", float(np.log(len(own)))), ("name-types", float(len(kinds) > 1)))
                yield self._made(span, "S", meaning, f"name-{mention.how}", (*features, *more))

    def _name_features(
        self, mention: Mention, said: Sequence[Token], quoted: Sequence[tuple[int, int]], cased: bool, first: bool
    ) -> Features:
        capitals = [token.capital for token in (said[1:] if first else said)]
        own = [token.word for token in said]
        ordinary = all(word in FUNCTION_WORDS or word in ASKING_WORDS for word in own)
        schema = all((stem(word),) in self.schema.entries or word in FUNCTION_WORDS for word in own)
        near = any(abs(a - mention.start) <= 1 and abs(b - mention.end) <= 1 for a, b in quoted)
        return (
            ("name-quoted", float(near)), ("name-capital", float(cased and any(capitals))),
            ("name-small", float(cased and not any(capitals) and not first)),
            ("name-exact", float(any(mention.exact))), ("name-words", float(len(said) - 1)),
            ("name-ordinary", float(ordinary)), ("name-schema", float(schema)),
            ("name-unlike", 1.0 - mention.similarity),
        )  # fmt: skip

    def _values(self, text: str, said: Sequence[Token]) -> Iterator[Derivation]:
        for one in self.values.find(text) if self.values is not None else ():
            span = self._span(said, one.start, one.end)
            if span is None:
                continue
            code = self.schema.schema.type_codes[one.node_type]
            meaning = Where(1 << code, Kind(1 << code), one.field, one.op, one.value)
            rule = "value-yes" if one.named and isinstance(one.value, bool | int) else "value"
            own = [token.word for token in said[span[0] : span[1]]]
            yield self._made(span, "S", meaning, rule, self._value_features(one, own))

    def _value_features(self, one: ValueMention, own: Sequence[str]) -> Features:
        schema = all((stem(word),) in self.schema.entries or word in FUNCTION_WORDS for word in own)
        return (
            ("value-unlike", 1.0 - one.similarity), ("value-named", float(one.named)),
            ("value-schema", float(schema)), ("value-words", float(len(own) - 1)),
            ("value-number", float(not isinstance(one.value, str))),
        )  # fmt: skip

    def _amounts(self, text: str, said: Sequence[Token]) -> Iterator[Derivation]:
        for one in quantities(text, self.code):
            span = self._span(said, one.start, one.end)
            if span is None:
                continue
            whole = one.low == int(one.low) and one.high == int(one.high) and not one.dimension
            fields = self._meant(one)
            amount = Amount(one.op, one.low, one.high, fields, whole)
            compared = one.op != "="
            features: Features = (("amount-compared", float(compared)), ("amount-unit", float(bool(one.dimension))))
            yield self._made(span, "Q", amount, "year" if one.year else "amount", features)
            if whole and one.op == "=" and 0 < one.low <= 100:
                yield self._made(span, "N", int(one.low), "number", ())

    def _meant(self, one: Quantity) -> tuple[tuple[int, str], ...]:
        """Return the fields that a number may mean by its unit or its comparing word, or as a year."""
        if one.scale:
            found = self.schema.scaled(Scale(one.scale))
            return tuple((code, field) for code, field, _ in found)
        if one.year:
            dates = self.schema.scaled(_dates(self.code))
            return tuple((code, field) for code, field, _ in dates)
        return ()

    def _cues(self, said: Sequence[Token]) -> Iterator[Derivation]:
        for category, phrases in _cue_phrases(self.code):
            for at in range(len(said)):
                if length := phrases.length(said, at):
                    yield self._made((at, at + length), category, None, f"cue-{category}", ())

    def _scales(self, said: Sequence[Token]) -> Iterator[Derivation]:
        known = scales_of(self.code)
        most = Phrases([("most", "most"), ("least", "least"), ("more", "more"), ("less", "less")])
        for at in range(len(said)):
            if found := known.superlative.at(said, at):
                yield from self._orders((at, at + found[0]), found[1], turned=False)
            if found := known.comparative.at(said, at):
                yield from self._comparing((at, at + found[0]), found[1], turned=False)
            degree = most.at(said, at)
            if degree and (found := known.positive.at(said, at + 1)):
                span = (at, at + 1 + found[0])
                few = degree[1] in ("least", "less")
                make = self._orders if degree[1] in ("most", "least") else self._comparing
                yield from make(span, found[1], turned=few)
            if said[at].word in known.nouns:
                yield from self._nouns((at, at + 1), known.nouns[said[at].word])
            if said[at].word in known.verbs:
                yield from self._nouns((at, at + 1), known.verbs[said[at].word][1])
            if said[at].word == "how" and (found := known.positive.at(said, at + 1)):
                yield from self._nouns((at, at + 1 + found[0]), found[1].scale, "how-scale")

    def _orders(self, span: tuple[int, int], found: Adjective, *, turned: bool) -> Iterator[Derivation]:
        end = "desc" if (found.end == "high") != turned else "asc"
        ranked = self.schema.scaled(found.scale)
        yield self._made(span, "SUP", end, "superlative-word", ())
        for place in sorted({place for _, _, place in ranked}):
            fields = tuple((code, name) for code, name, other in ranked if other == place)
            yield self._made(span, "K", Order(end, fields), "superlative", (("scale-place", float(place)),))

    def _comparing(self, span: tuple[int, int], found: Adjective, *, turned: bool) -> Iterator[Derivation]:
        op = ">" if (found.end == "high") != turned else "<"
        ranked = self.schema.scaled(found.scale)
        for place in sorted({place for _, _, place in ranked}):
            fields = tuple((code, name) for code, name, other in ranked if other == place)
            yield self._made(span, "CMP", Amount(op, 0, 0, fields), "comparative", (("scale-place", float(place)),))
        yield self._made(span, "CMPW", op, "comparative-word", ())

    def _nouns(self, span: tuple[int, int], scale: Scale, rule: str = "scale-noun") -> Iterator[Derivation]:
        ranked = self.schema.scaled(scale)
        for place in sorted({place for _, _, place in ranked}):
            fields = tuple((code, name) for code, name, other in ranked if other == place)
            yield self._made(span, "F", FieldNamed(fields), rule, (("scale-place", float(place)),))

    def _schema(self, said: Sequence[Token]) -> list[Derivation]:
        stems = [stem(token.word) for token in said]
        found: list[Derivation] = []
        covered = [False] * len(said)
        for start in range(len(said)):
            for length in range(min(self.schema.longest, len(said) - start), 0, -1):
                if any(token.mark for token in said[start + 1 : start + length]):
                    continue
                for entry in self.schema.entries.get(tuple(stems[start : start + length]), ()):
                    covered[start : start + length] = [True] * length
                    more: Features = (("schema-fit", entry.fit - 1.0), ("schema-words", float(length - 1)))
                    found.append(self._made((start, start + length), entry.category, entry.meaning, entry.rule, more))
        for at, token in enumerate(said):
            if covered[at] or (token.word in FUNCTION_WORDS):
                continue
            for other in synonyms(token.word, self.code):
                for entry in self.schema.entries.get(tuple(map(stem, words(other))), ()):
                    more = (("schema-fit", entry.fit - 1.0),)
                    found.append(self._made((at, at + 1), entry.category, entry.meaning, f"{entry.rule}-synonym", more))
        return found


@lru_cache(maxsize=8)
def _cue_phrases(code: str) -> tuple[tuple[str, Phrases[bool]], ...]:
    """Return the phrases of the closed words of a language, by category."""
    lang = language(code)
    return tuple(
        (name, Phrases((phrase, True) for phrase in lang.entries("grammar", name))) for name in lang.table("grammar")
    )


@lru_cache(maxsize=8)
def _dates(code: str) -> Scale:
    from search.language.reading.scales import date_names

    return Scale(date_names(code))


_ = Relating, _LONGEST, _AROUND
