"""The words of a question with what each stretch of them may mean: names, values, numbers, words of the schema, cues.

An annotation is a derivation without children. All stretches that mean something are returned, overlapping ones too:
the chart decides which of them are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date as Day
from datetime import timedelta
from functools import cached_property, lru_cache

import numpy as np

from search.interfaces import Adjacency, Mention, MentionIndex, ValueIndex, ValueMention
from search.language.common import is_word
from search.language.everyday import everyday_names
from search.language.languages import language, split
from search.language.names import _QUOTED as QUOTED
from search.language.quantities import Quantity, quantities
from search.language.reading.dates import DateRange, date_reader
from search.language.reading.numbers import number_reader
from search.language.reading.scales import Adjective, WordScale, date_names, scales_of
from search.language.soft_names import SoftTools, soft_names
from search.language.synonyms import synonyms_in
from search.language.tokens import Phrases, Token, tokens
from search.language.units import UNITS
from search.language.words import CHATTING_WORDS, LINKING_WORDS, asking_words, is_participle_in, words
from search.stages.plan.annotate_edges import EdgeAnnotator
from search.stages.plan.derivation import Amount, Derivation, Features, FieldNamed, Relating, SaidOrder, turned
from search.stages.plan.knowledge.lexicon import Lexicon
from search.stages.plan.permission import PERMISSIONS, permissions
from search.stages.plan.schema_index import SchemaEntry, SchemaIndex
from search.stages.plan.sets import Kind, Named, Where
from search.stages.plan.voice import voice_of
from search.stages.plan.year_nodes import YearNodes
from search.text import words as split_identifier

MOST_TOKENS = 60
"""Most words of a question that are read; what stands behind them is text."""
_SENTENCE_ENDS = frozenset(".!?")
_SOFT = 6
"""Most names that are looked for behind words that nothing else explains."""
_LIKE = 0.3
"""Least affinity of a word to an element of the schema that it may mean."""
_OTHER_END = {"asc": "desc", "desc": "asc", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SAYING = 0.8
"""Least fit of a word that says a relation by itself."""
_UNSURE = frozenset(f"name-{how}" for how in ("synonym", "near", "spelling", "translated", "part"))
"""Ways to find names by words that may as well mean other names that end with them."""
_EXPLAINING = frozenset(
    (
        *("S", "R", "F", "K", "Q", "CMP", "SUP", "CMPW", "NOT", "LACK", "EXCEPT", "COUNT", "AVG", "SUM"),
        *("EF", "EC", "EK"),
    )
)


@dataclass(frozen=True)
class Annotated:
    """The words of a question, what stretches of them may mean, and which of them carry content."""

    text: str
    tokens: Sequence[Token]
    annotations: Sequence[Derivation]
    content: Sequence[bool]
    rest: str = ""

    def content_words(self) -> list[tuple[int, str]]:
        """Return the words that carry content, each with its place among the tokens."""
        return [(at, token.word) for at, token in enumerate(self.tokens) if self.content[at]]


@dataclass(frozen=True)
class Annotator:
    """Looks the words of questions up. `weigh` gives the score of features."""

    mentions: MentionIndex
    adjacency: Adjacency
    schema: SchemaIndex
    weigh: Callable[[Features], float]
    values: ValueIndex | None = None
    code: str = "en"
    soft: SoftTools | None = None
    lexicon: Lexicon | None = None
    years: YearNodes | None = None
    today: Day | None = None

    def __call__(self, text: str) -> Annotated:
        """Return the words of a question with their annotations, each at its place among the tokens."""
        mentions = self.mentions.find(text)
        said = named_signs(text, tokens(text), mentions)
        rest = text[said[MOST_TOKENS].start :] if len(said) > MOST_TOKENS else ""
        said = said[:MOST_TOKENS]
        whole = text[: said[-1].end] if rest else text
        if rest:
            mentions = self.mentions.find(whole)
        found = [
            *self._names(whole, said, mentions), *self._values(whole, said), *self._amounts(whole, said),
            *self._cues(said), *self._scales(said), *self._field_words(said), *self._ends(said),
        ]  # fmt: skip
        found += self._schema(whole, said)
        found += self._of_edges(whole, said)
        found += self._like(whole, said, found)
        found = _without_quoted(found)
        aside = _told_of_the_asker(whole, said, self.code)
        content = [self._content(token.word) and not aside[at] for at, token in enumerate(said)]
        return Annotated(text, said, found, content, rest)

    @cached_property
    def _asking(self) -> frozenset[str]:
        """Words of asking of the language."""
        return asking_words(self.code) | (LINKING_WORDS | CHATTING_WORDS if self.code == "en" else frozenset())

    def _content(self, word: str) -> bool:
        return word not in self.schema.small and word not in self._asking

    def _made(self, span: tuple[int, int], category: str, meaning: object, rule: str, features: Features) -> Derivation:
        start, end = span
        named: Features = ((f"rule:{rule}", 1.0), *features)
        return Derivation(
            start, end, category, meaning, self.weigh(named), rule, named, covered=(1 << end) - (1 << start)
        )

    def _span(self, said: Sequence[Token], start: int, end: int) -> tuple[int, int] | None:
        """Return the places of the tokens between two offsets; None if the offsets cut a token."""
        inside = [at for at, token in enumerate(said) if token.start < end and start < token.end]
        return (inside[0], inside[-1] + 1) if inside else None

    def _names(self, text: str, said: Sequence[Token], mentions: Sequence[Mention]) -> Iterator[Derivation]:
        quoted = [match.span() for match in QUOTED.finditer(text)]
        cased = not text.isupper() and not text.islower()
        found = [*mentions, *everyday_names(text, 0, len(text), self.mentions, self.code)]
        sure = [one for one in found if self._is_marked(text, one, quoted, cased)]
        spans = [self._span(said, mention.start, mention.end) for mention in found]
        for mention, span in zip(found, spans, strict=True):
            if span is None or any(_inside(mention, one) for one in sure):
                continue
            if any(own == span and _cuts(mention, one) for own, one in zip(spans, found, strict=True)):
                continue
            features = self._name_features(text, mention, said[span[0] : span[1]], quoted, cased, span[0] == 0)
            if span != (0, len(said)):
                yield from self._named(span, mention, features)
                continue
            # Asked alone, a name means nothing else, and first what is written just so.
            for exact in (True, False):
                keys = tuple(key for key, same in zip(mention.keys, mention.exact, strict=True) if same is exact)
                own: Features = (*_besides(features), ("name-alone", 1.0), ("name-inexact", float(not exact)))
                yield from self._named(span, replace(mention, keys=keys), own) if keys else ()

    def _is_marked(self, text: str, mention: Mention, quoted: Sequence[tuple[int, int]], cased: bool) -> bool:
        """Whether the question marks a name of several words, by quotes or capitals as it is stored."""
        own = tokens(mention.text)
        near = _is_quoted(text, mention, quoted)
        capital = cased and any(mention.exact) and len(own) > 1 and own[0].capital and own[-1].capital
        return near or (capital and mention.similarity >= 1.0)

    def _named(self, span: tuple[int, int], mention: Mention, features: Features) -> Iterator[Derivation]:
        keys = np.array(mention.keys, dtype=np.int32)
        types = self.adjacency.types[keys]
        kinds = np.unique(types)
        for code in kinds:
            own = tuple(int(key) for key in keys[types == code])
            meaning = Named(1 << int(code), own, mention.text)
            more: Features = (("name-keys", float(np.log(len(own)))), ("name-types", float(len(kinds) > 1)))
            yield self._made(span, "S", meaning, f"name-{mention.how}", (*features, *more))

    def _name_features(
        self,
        text: str,
        mention: Mention,
        said: Sequence[Token],
        quoted: Sequence[tuple[int, int]],
        cased: bool,
        first: bool,
    ) -> Features:
        capitals = [token.capital for token in (said[1:] if first else said)]
        own = [token.word for token in said]
        ordinary = all(word in self.schema.small or word in self._asking for word in own)
        schema = all((self.schema.stem(word),) in self.schema.entries or word in self.schema.small for word in own)
        near = _is_quoted(text, mention, quoted)
        if near:
            return ("name-quoted", 1.0), ("name-exact", float(any(mention.exact)))
        return (
            ("name-capital", float(cased and any(capitals))),
            ("name-small", float(cased and not any(capitals) and not first)),
            ("name-common", float(len(own) == 1 and not any(capitals) and is_word(own[0], self.code))),
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
        schema = all((self.schema.stem(word),) in self.schema.entries or word in self.schema.small for word in own)
        return (
            ("value-unlike", 1.0 - one.similarity), ("value-named", float(one.named)),
            ("value-schema", float(schema)), ("value-words", float(len(own) - 1)),
            ("value-number", float(not isinstance(one.value, str))),
        )  # fmt: skip

    def _amounts(self, text: str, said: Sequence[Token]) -> Iterator[Derivation]:
        for one in number_reader(self.code).read(said, quantities(text, self.code)):
            span = self._span(said, one.start, one.end)
            if span is None:
                continue
            whole = one.low == int(one.low) and one.high == int(one.high) and not one.dimension
            fields = self._meant(one)
            if one.dimension and not fields:
                # An amount in a unit or a currency that no field has: only a text can say it.
                continue
            compared = one.op != "="
            features: Features = (("amount-compared", float(compared)), ("amount-unit", float(bool(one.dimension))))
            unit = one.unit if one.dimension else ""
            meant: list[tuple[str, tuple[tuple[int, str], ...]]] = [(one.op, fields)]
            if one.against and (
                opposite := [pair for _, own in self._against(WordScale((), "", one.against)) for pair in own]
            ):
                # *Faster than 30 minutes* takes less time.
                turned_round = (_OTHER_END.get(one.op, one.op), tuple(dict.fromkeys(opposite)))
                meant = [*(meant if fields and not unit else ()), turned_round]
            for op, those in meant:
                amount = Amount(op, one.low, one.high, those, whole, unit)
                yield self._made(span, "Q", amount, "year" if one.year else "amount", features)
                if one.year:
                    yield from self._span_of_years(span, amount, text[one.start : one.end])
            if whole and one.op == "=" and 0 < one.low <= 100:
                yield self._made(span, "N", int(one.low), "number", ())
        for date in date_reader(self.code).read(text, said, self.today or Day.today()):
            if (span := self._span(said, date.start, date.end)) is not None:
                yield self._made(span, "Q", self._days(date), "date", ())
                yield from self._span_of_years(span, self._days(date), text[date.start : date.end])

    def _of_edges(self, text: str, said: Sequence[Token]) -> list[Derivation]:
        """Return what the words may mean of the fields of edges; nothing where no edge has any."""
        if not self.schema.edges.all:
            return []
        annotator = EdgeAnnotator(
            self.schema.edges, self.adjacency, self.code, self._made, _measuring, _dates(self.code),
            _field_phrases(self.code)[0],
        )  # fmt: skip
        dates = date_reader(self.code).read(text, said, self.today or Day.today())
        spans = [(self._span(said, date.start, date.end), self._days(date)) for date in dates]
        return annotator(text, said, [(span, days) for span, days in spans if span is not None])

    def _span_of_years(self, span: tuple[int, int], said: Amount, text: str) -> Iterator[Derivation]:
        if self.years is not None and (named := self.years.within(said, text)) is not None:
            yield self._made(span, "S", named, "name-years", ())

    def _days(self, date: DateRange) -> Amount:
        """Return a date as an amount: of years for fields of years, of days for fields of dates."""
        days = date.first.isoformat(), (date.last + timedelta(days=1)).isoformat()
        if (date.first.month, date.first.day, date.last.month, date.last.day) == (1, 1, 12, 31):
            days = str(date.first.year), str(date.last.year + 1)
        op = "between" if date.op == "=" and date.first.year != date.last.year else date.op
        low, high = (
            (date.last.year,) * 2 if op in ("<=", ">") else (date.first.year, date.last.year)
        )  # fmt: skip
        return Amount(op, low, high, self._dated, days=days)

    @cached_property
    def _dated(self) -> tuple[tuple[int, str], ...]:
        """The fields of dates, and those of numbers that are called like one."""
        named = [(code, field) for code, field, _ in self.schema.scaled(_dates(self.code))]
        return tuple(dict.fromkeys([*named, *self.schema.number_fields["date"]]))

    def _meant(self, one: Quantity) -> tuple[tuple[int, str], ...]:
        """Return the fields that a number may mean by its unit or its comparing word, or as a year."""
        if one.scale and not one.dimension:
            found = self.schema.scaled(WordScale(one.scale))
            return tuple((code, field) for code, field, _ in found)
        if one.dimension:
            names = [name for scale in _measuring(self.code, one.dimension) for name in scale.names]
            found = self.schema.measuring(one.unit, names)
            return tuple(dict.fromkeys((code, field) for code, field, _ in found))
        if one.year:
            return self._dated
        return ()

    def _cues(self, said: Sequence[Token]) -> Iterator[Derivation]:
        for category, phrases in _cue_phrases(self.code):
            for at in range(len(said)):
                if length := phrases.length(said, at):
                    meaning = self._from_high if category == "BY" else None
                    yield self._made((at, at + length), category, meaning, f"cue-{category}", ())
        for category, span in permissions(said, self.code) if self.schema.forbidding else ():
            yield self._made(span, category, None, f"cue-{category}", ())
            for relation in self.schema.forbidding if category == "FORBID" else ():
                yield self._made(span, "R", Relating(relation, "out"), "relation-forbids", ())

    @cached_property
    def _from_high(self) -> frozenset[tuple[int, str]]:
        """The fields of which people want to see the highest value first."""
        known = scales_of("en").superlative
        best = (known.at(tokens(word), 0) for word in language("en").entries("follow_up", "best"))
        scales = [found[1].scale for found in best if found]
        return frozenset((code, name) for scale in scales for code, name, _ in self.schema.scaled(scale))

    def _scales(self, said: Sequence[Token]) -> Iterator[Derivation]:
        known = scales_of(self.code)
        lang = language(self.code)
        most = _degree_phrases(self.code)
        how = lang.set("fields", "how")
        for at in range(len(said)):
            if found := known.superlative.at(said, at):
                yield from self._orders((at, at + found[0]), found[1], turned=False)
            if found := known.comparative.at(said, at):
                yield from self._comparing((at, at + found[0]), found[1], turned=False)
            if found := known.positive.at(said, at):
                span, end = (at, at + found[0]), "desc" if found[1].end == "high" else "asc"
                for place, fields in self._ranked(found[1].scale):
                    order = SaidOrder(end, fields, limit=0)
                    yield self._made(span, "ADJ", order, "adjective", (("scale-place", float(place)),))
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
            if said[at].word in how and (found := known.positive.at(said, at + 1)):
                yield from self._nouns((at, at + 1 + found[0]), found[1].scale, "how-scale")

    def _field_words(self, said: Sequence[Token]) -> Iterator[Derivation]:
        """Yield the fields that are said by how much, by the verb of an event, and by a unit: *most kilos*."""
        much, happening = _field_phrases(self.code)
        for at in range(len(said)):
            if length := much.length(said, at):
                for scale in _measuring(self.code, "money"):
                    yield from self._nouns((at, at + length), scale, "how-scale")
            if said[at].word in happening:
                yield self._made((at, at + 1), "EV", FieldNamed(self._happened(said[at].word)), "event", ())
            if (unit := said[at].word) in UNITS and (measuring := self.schema.measuring(unit, ())):
                fields = tuple((code, field) for code, field, _ in measuring)
                yield self._made((at, at + 1), "F", FieldNamed(fields), "unit", ())

    def _happened(self, verb: str) -> tuple[tuple[int, str], ...]:
        """Return the fields of dates that a verb speaks of: those with its name, or all."""
        named = tuple((code, field) for code, field, _ in self.schema.scaled(WordScale((verb,))))
        return tuple(pair for pair in named if pair in self._dated) or self._dated

    def _orders(self, span: tuple[int, int], found: Adjective, *, turned: bool) -> Iterator[Derivation]:
        end = "desc" if (found.end == "high") != turned else "asc"
        yield self._made(span, "SUP", end, "superlative-word", ())
        for place, fields in self._ranked(found.scale):
            yield self._made(span, "K", SaidOrder(end, fields), "superlative", (("scale-place", float(place)),))
        for place, fields in self._against(found.scale):
            other = SaidOrder(_OTHER_END[end], fields)
            yield self._made(span, "K", other, "superlative", (("scale-place", float(place)),))

    def _ranked(self, scale: WordScale) -> Iterator[tuple[int, tuple[tuple[int, str], ...]]]:
        """Yield the fields that a scale is about by the place of their name among its names, the usual first."""
        ranked = self.schema.scaled(scale)
        for place in sorted({place for _, _, place in ranked}):
            yield place, tuple((code, name) for code, name, other in ranked if other == place)

    def _against(self, scale: WordScale) -> Iterator[tuple[int, tuple[tuple[int, str], ...]]]:
        """Yield the fields that measure the opposite of a scale: what is fast takes little time."""
        if scale.against:
            yield from self._ranked(WordScale((*scale.against,), scale.unit))
            timed = tuple((code, name) for code, name, place in self.schema.measuring("hours", ()) if place == 0)
            if timed:
                yield len(scale.against), timed

    def _ends(self, said: Sequence[Token]) -> Iterator[Derivation]:
        """Yield the orders by date of *first* and *last*, and those by any number of *biggest range*."""
        dates = tuple((code, field) for code, field, _ in self.schema.scaled(_dates(self.code)))
        anything = Kind(self.schema.all_types)
        for (category, end), phrases in _ending_phrases(self.code):
            for at in range(len(said)):
                if not (length := phrases.length(said, at)):
                    continue
                order = SaidOrder(end, dates) if category == "date" else SaidOrder(end, count=(None, anything))
                yield self._made((at, at + length), "K", order, f"superlative-{category}", ())

    def _comparing(self, span: tuple[int, int], found: Adjective, *, turned: bool) -> Iterator[Derivation]:
        op = ">" if (found.end == "high") != turned else "<"
        for place, fields in self._ranked(found.scale):
            yield self._made(span, "CMP", Amount(op, 0, 0, fields), "comparative", (("scale-place", float(place)),))
        for place, fields in self._against(found.scale):
            other = Amount(_OTHER_END[op], 0, 0, fields)
            yield self._made(span, "CMP", other, "comparative", (("scale-place", float(place)),))
        yield self._made(span, "CMPW", op, "comparative-word", ())

    def _nouns(self, span: tuple[int, int], scale: WordScale, rule: str = "scale-noun") -> Iterator[Derivation]:
        for place, fields in self._ranked(scale):
            yield self._made(span, "F", FieldNamed(fields), rule, (("scale-place", float(place)),))

    def _schema(self, text: str, said: Sequence[Token]) -> list[Derivation]:
        stems = [self.schema.stem(token.word) for token in said]
        found: list[Derivation] = []
        covered = [False] * len(said)
        for start in range(len(said)):
            for length in range(min(self.schema.longest, len(said) - start), 0, -1):
                if any(token.mark for token in said[start + 1 : start + length]):
                    continue
                for entry in self.schema.entries.get(tuple(stems[start : start + length]), ()):
                    covered[start : start + length] = [True] * length
                    more: Features = (("schema-fit", entry.fit - 1.0), ("schema-words", float(length - 1)))
                    own = (start, start + length)
                    meaning = self._voiced(said, start + length, entry) if entry.voice else entry.meaning
                    found.append(self._made(own, entry.category, meaning, entry.rule, more))
                    if length == 1 and is_participle_in(said[start].word, self.code) and entry.fit >= _SAYING:
                        found += self._done(own, said[start].word, meaning, more)
        for start, end, others in synonyms_in(text, self.code):
            span = self._span(said, start, end)
            if span is None or all(covered[slice(*span)]):
                continue
            length = span[1] - span[0]
            for other in others:
                for entry in self.schema.entries.get(tuple(map(self.schema.stem, words(other))), ()):
                    more = (("schema-fit", entry.fit - 1.0), ("schema-words", float(length - 1)))
                    meaning = self._voiced(said, span[1], entry) if entry.voice else entry.meaning
                    found.append(self._made(span, entry.category, meaning, f"{entry.rule}-synonym", more))
        return found

    def _voiced(self, said: Sequence[Token], end: int, entry: SchemaEntry) -> object:
        """Return the meaning of a relation's verb; the other way round where its voice is not that of the schema.

        *Genes activated by X* are those that X activates, and who *didn't direct* a film is not who it is directed by.
        """
        meaning = entry.meaning
        if not isinstance(meaning, Relating) or meaning.noun or meaning.way is None:
            return meaning
        voice = voice_of(said, end - 1, self.code)
        return turned(meaning) if voice and voice != entry.voice else meaning

    def _done(self, span: tuple[int, int], word: str, meaning: object, features: Features) -> Iterator[Derivation]:
        """Yield what a participle alone says: that a node has the relation or the field at all.

        A *published* paper has a publisher, an *inherited* disease an inheritance.
        """
        if isinstance(meaning, Relating) and not meaning.noun and meaning.way is not None:
            yield self._made(span, "R", replace(turned(meaning), noun=True), "relation-done", features)
        if isinstance(meaning, FieldNamed):
            for name in dict.fromkeys(name for _, name in meaning.fields if word not in words(split_identifier(name))):
                types = sum(1 << code for code, other in meaning.fields if other == name)
                yield self._made(span, "S", Where(types, Kind(types), name, "exists"), "field-done", features)

    def _ending(self, text: str, said: Sequence[Token], found: Sequence[Derivation]) -> Iterator[Derivation]:
        """Yield for each word that the question has no surer meaning for all names that end with it: *chairs*."""
        sure = 0
        for one in found:
            sure |= one.covered if one.category in _EXPLAINING and one.rule not in _UNSURE else 0
        for at, token in enumerate(said):
            if not sure >> at & 1 and self._content(token.word):
                for mention in self.mentions.ending(text, token.start, token.end):
                    yield from self._named((at, at + 1), self._of_kinds(mention), (("name-end", 1.0),))

    def _of_kinds(self, mention: Mention) -> Mention:
        """Return a mention with only its kinds, if some of its nodes are kinds: *stoves* are the Camp Stoves."""
        kinds = [key for key in mention.keys if int(self.adjacency.types[key]) in self.schema.shape.gathering]
        return replace(mention, keys=tuple(kinds)) if kinds else mention

    def _like(self, text: str, said: Sequence[Token], found: Sequence[Derivation]) -> Iterator[Derivation]:
        """Yield what the words may mean that nothing else explains: nodes that they describe, relations like them."""
        yield from self._ending(text, said, found)
        explained = 0
        for one in found:
            explained |= one.covered if one.category in _EXPLAINING else 0
        open_ = [
            at
            for at, token in enumerate(said)
            if not explained >> at & 1 and token.word not in self.schema.small and token.word not in CHATTING_WORDS
        ]
        if not open_:
            return
        yield from self._like_schema([(at, said[at].word) for at in open_])
        spans = _stretches(said, [at for at in open_ if said[at].word not in self._asking])
        if self.soft is None or not spans:
            return
        for name in soft_names(text, spans, self.soft, _SOFT, unsaid=spans, code=self.code):
            span = self._span(said, name.mention.start, name.mention.end)
            if span is not None:
                yield from self._named(span, name.mention, (("name-unlike", 1.0 - name.mention.similarity),))

    def _like_schema(self, words_: Sequence[tuple[int, str]]) -> Iterator[Derivation]:
        if self.lexicon is None:
            return
        rows = self.lexicon.of([word for _, word in words_])
        relations = self.lexicon.relations
        for (at, _), row in zip(words_, rows, strict=True):
            for element in np.flatnonzero(row >= _LIKE).tolist():
                fit: Features = (("like-fit", float(row[element]) - 1.0),)
                if element < relations:
                    yield self._made((at, at + 1), "R", Relating(element, "out"), "relation-like", fit)
                else:
                    yield self._made((at, at + 1), "S", Kind(1 << element - relations), "type-like", fit)


def named_signs(text: str, said: Sequence[Token], mentions: Sequence[Mention]) -> list[Token]:
    """Return the tokens of a text with those stretches of signs among them that name nodes: `$$$`."""
    found = list(said)
    for one in mentions:
        if not any(token.start < one.end and one.start < token.end for token in found):
            found.append(Token(one.start, one.end, text[one.start : one.end].casefold()))
    return sorted(found, key=lambda token: token.start)


def _is_quoted(text: str, mention: Mention, quoted: Sequence[tuple[int, int]]) -> bool:
    """Whether a quotation holds a mention and nothing else but signs."""
    return any(
        start <= mention.start
        and mention.end <= end
        and not any(sign.isalnum() for sign in text[start : mention.start] + text[mention.end : end])
        for start, end in quoted
    )


def _cuts(mention: Mention, other: Mention) -> bool:
    """Whether a mention leaves out signs that belong to a longer one: *C* of *C++*."""
    return other is not mention and mention.how == other.how == "name" and _inside(mention, other)


_ALONE = frozenset(("name-ordinary", "name-schema", "name-small", "name-common"))
"""Features that speak against names among other words."""


def _besides(features: Features) -> Features:
    return tuple((name, value) for name, value in features if name not in _ALONE)


def _without_quoted(found: Sequence[Derivation]) -> list[Derivation]:
    """Return annotations without those that lie in a quoted name: its words mean nothing else."""
    quoted = [one for one in found if ("name-quoted", 1.0) in one.features]
    return [one for one in found if not any(_overlaps(one, name) and one not in quoted for name in quoted)]


def _overlaps(one: Derivation, other: Derivation) -> bool:
    return one.start < other.end and other.start < one.end


def _inside(mention: Mention, other: Mention) -> bool:
    """Whether a mention is a proper part of another one."""
    longer = other.end - other.start > mention.end - mention.start
    return longer and other.start <= mention.start and mention.end <= other.end


@lru_cache(maxsize=8)
def _cue_phrases(code: str) -> tuple[tuple[str, Phrases[bool]], ...]:
    """Return the phrases of the closed words of a language, by category.

    What asks to sort the answers of the search before asks so of any other.
    """
    lang = language(code)
    more = {"BY": lang.entries("follow_up", "SORT")}
    return tuple(
        (name, Phrases((phrase, True) for phrase in (*lang.entries("grammar", name), *more.get(name, ()))))
        for name in lang.table("grammar")
        if name not in PERMISSIONS
    )


@lru_cache(maxsize=8)
def _degree_phrases(code: str) -> Phrases[str]:
    """Return the words of degree of a language (*most*, *less*), each with its degree."""
    lang = language(code)
    degrees = lang.table("grammar_degrees")
    return Phrases((phrase, name) for name in degrees for phrase in lang.entries("grammar_degrees", name))


@lru_cache(maxsize=8)
def _field_phrases(code: str) -> tuple[Phrases[bool], frozenset[str]]:
    """Return the phrases that ask for a price, and the verbs of events."""
    lang = language(code)
    much = Phrases((phrase, True) for phrase in lang.entries("fields", "much"))
    return much, frozenset(lang.entries("comparisons", "happen"))


@lru_cache(maxsize=8)
def _ending_phrases(code: str) -> tuple[tuple[tuple[str, str], Phrases[bool]], ...]:
    lang = language(code)
    lists = (
        (("date", "asc"), lang.entries("superlatives", "first")),
        (("date", "desc"), lang.entries("superlatives", "last")),
        (("range", "desc"), lang.entries("superlatives", "ranges")),
        (("range", "asc"), lang.entries("superlatives", "ranges_few")),
    )  # fmt: skip
    return tuple((name, Phrases((phrase, True) for phrase in entries)) for name, entries in lists)


@lru_cache(maxsize=64)
def _measuring(code: str, dimension: str) -> tuple[WordScale, ...]:
    """Return the scales whose values have a dimension."""
    written = language(code).value("scales", default=())
    return tuple(WordScale(split(one["names"])) for one in written if one.get("unit") == dimension)


def _stretches(said: Sequence[Token], places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the offsets of the stretches of neighbouring tokens."""
    found: list[tuple[int, int]] = []
    last = -2
    for at in places:
        if at == last + 1 and not said[at].mark:
            found[-1] = (found[-1][0], said[at].end)
        else:
            found.append((said[at].start, said[at].end))
        last = at
    return found


def _told_of_the_asker(text: str, said: Sequence[Token], code: str) -> list[bool]:
    """Return for each word whether it stands in a sentence before the question that tells of who asks.

    *I count every gram. What is there under 60 g?* A sentence that says what is wanted belongs to the question.
    """
    person, wanting = language(code).set("words", "first_person"), language(code).set("words", "wanting")
    sentences: list[list[int]] = [[]]
    for at, token in enumerate(said):
        if token.mark in _SENTENCE_ENDS and sentences[-1]:
            sentences.append([])
        sentences[-1].append(at)
    found = [False] * len(said)
    for places in sentences[:-1]:
        own = [said[at].word for at in places]
        if own and own[0] in person and not wanting & set(own):
            for at in places:
                found[at] = True
    return found


@lru_cache(maxsize=8)
def _dates(code: str) -> WordScale:
    return WordScale(date_names(code))
