"""Question → its possible meanings in this graph: its names, and all plans from these names that find nodes.

Searching and learning both use this module, so a scorer learns from the same lists that it will rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from search.domain.plan.parts import MAX_CONDITIONS
from search.domain.question import LONGEST_QUESTION
from search.domain.trace import Limit
from search.interfaces import Adjacency, MentionIndex, NodeStore, ValueIndex, ValueMention
from search.language.cues import Cues, Span
from search.language.everyday import everyday_values
from search.language.gloss import Gloss
from search.language.names import Named, find_names, schema_forms
from search.language.question import AnalysedQuestion, Word, counted_by
from search.language.reading.question import ReadQuestion, read_question
from search.language.reading.scales import is_adjective
from search.language.soft_names import SoftTools, everyday_named, soft_names
from search.language.synonyms import synonyms_in
from search.language.words import words
from search.stages.plan.enumeration.either import either
from search.stages.plan.enumeration.enumerate import Branch, Enumerator, PlanCandidate, Start
from search.stages.plan.enumeration.fielded import asked_number, fielded
from search.stages.plan.enumeration.kinds import NamedKinds
from search.stages.plan.enumeration.lacking import ended_lacks
from search.stages.plan.enumeration.year_spans import year_spans
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.lexicon import EXPLAINED
from search.stages.plan.knowledge.target import head_words, spoken

_ENDING = 0.6
"""Similarity of a word alone to the names that end with it."""
_GUESSED = ("part", "described", "near")
"""Ways to find a name that may be a title."""
_INFLECTED = 0.95
"""Least similarity of a name or value that is written as it is stored, or inflected."""
_TWICE = 2
"""Most mentions of the same nodes that plans start from."""


@dataclass(frozen=True)
class Proposer:
    """Reads questions and lists plans, with at most `max_hops` hops a walk and `max_mentions` mentions a question."""

    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore
    knowledge: Knowledge
    max_hops: int
    max_mentions: int
    values: ValueIndex | None = None
    soft: SoftTools | None = None

    def read(self, text: str) -> AnalysedQuestion:
        """Return the question, cut to `LONGEST_QUESTION` characters, with its names, its cues and the values in it.

        A question in another language than the knowledge base's is read in the base's language. A name alone is read
        as it is, without cues and in no language: *No Country* denies nothing.

        Words that nothing explains are looked up once more, as nodes that they describe or nearly name.
        """
        language = self.knowledge.schema.language
        forms = self.knowledge.kept(schema_forms, lambda: schema_forms(self.knowledge.schema))
        text = text[:LONGEST_QUESTION]
        if self.mentions.lookup(text):
            read = ReadQuestion(text, Gloss(text, text, language, language, read=True), Cues(language))
        else:
            read = read_question(text, language, schema=forms, known=self._is_known, named=self._is_name)
        text, cues = read.text, read.cues.first(MAX_CONDITIONS)
        names = find_names(text, self.mentions, self.knowledge.ordinary, self.max_mentions, language)
        values = _not_compared(self.values.find(text) if self.values is not None else (), cues)
        values = _not_in_names(values, names)
        question = AnalysedQuestion(text, names, self.knowledge.spoken, cues, values)
        question = year_spans(question, self.knowledge, self.mentions, self.nodes)
        question = asked_number(question, self.knowledge)
        question = replace(question, expressions=self._expressions(question))
        if more := self._of_conditions(question):
            names = _in_order([*names, *more])
            question = replace(question, names=names)
        question = ended_lacks(question, self.knowledge, self.nodes)
        kinds = NamedKinds(self.knowledge, self.mentions, self.nodes)
        question = replace(question, names=kinds.of(question))
        question = replace(question, names=question.names or self._of_its_head(question))
        if self.soft is not None and not question.of_its_head:
            question = self._with_soft(question, self.soft, language)
        if (titled := self._without_titles(question)) is not None:
            question = replace(question, names=titled)
        question = replace(question, counted=self._counted(question), named=self._named(question))
        question = replace(question, names=either(question, self.nodes))
        question = replace(question, names=kinds.excluded(question))
        question = replace(question, fielded=fielded(question, self.knowledge))
        return replace(question, attributes=self._attributes(question))

    def _is_name(self, said: str) -> bool:
        """Whether words are a name or alias as it is stored."""
        return bool(self.mentions.lookup(said))

    def _is_known(self, word: str) -> bool:
        """Whether a word is a name or alias as it is stored, or stands in a text."""
        return self._is_name(word) or (self.soft is not None and bool(self.soft.text.postings(word)))

    def _named(self, question: AnalysedQuestion) -> list[Span]:
        """Return the names and values in front of a bare phrase none of whose words says something of the schema."""
        before = {word.start for word in replace(question, values=()).phrase()}
        surely = [(one.start, one.end) for one in question.values if one.similarity >= _INFLECTED]
        surely += [
            (one.mention.start, one.mention.end)
            for one in question.names
            if one.mention.similarity >= _INFLECTED and one.how in ("name", "plural", "possessive")
        ]
        return [
            span
            for span in dict.fromkeys(surely)
            if span[0] in before
            and not any(self.knowledge.lexicon.says(word) for word in words(question.text[slice(*span)]))
        ]

    def _counted(self, question: AnalysedQuestion) -> list[Span]:
        """Return the words that a number with a comparison counts, where they say something of the schema."""
        found = []
        for cue in question.cues.quantities:
            said = question.text[cue.start : cue.end].strip()
            span = None if said.isalnum() else counted_by(question, cue)
            if span is not None and self.knowledge.lexicon.says(question.text[span[0] : span[1]].casefold()):
                found.append(span)
        return found

    def _with_soft(self, question: AnalysedQuestion, soft: SoftTools, language: str) -> AnalysedQuestion:
        """Return the question with the values and names that its unexplained words resemble or describe."""
        unexplained, unsaid = self._open(question)
        if not unsaid:
            return question
        if self.values is not None:
            values = everyday_values(question.text, unsaid, self.values, language)
            question = replace(question, values=[*question.values, *values])
        found = soft_names(question.text, unexplained, soft, unsaid=unsaid, code=language)
        more = [one for one in found if not any(one.overlaps(name) for name in question.names)]
        return replace(question, names=_in_order([*question.names, *more])) if more else question

    def _without_titles(self, question: AnalysedQuestion) -> list[Named] | None:
        """Return the names without words of titles behind *about* or *on*, where what has the titles is asked for.

        *Papers about storms* are not those that cite the paper *Naming storms*. None if no name is such a word.
        """
        parts = [one for one in question.names if one.how in _GUESSED and not one.marked]
        if not parts:
            return None
        kept = [one for one in question.names if one not in parts]
        rest = replace(question, names=kept)
        about = {word.start for word in rest.topics}
        asked = self.knowledge.lexicon.names_types(head_words(rest.without(())))
        for one in parts:
            if one.mention.start not in about or not asked[self.nodes.types(one.mention.keys)].all():
                kept.append(one)
        return _in_order(kept)

    def _of_its_head(self, question: AnalysedQuestion) -> list[Named]:
        """Return the nodes whose names end with the only word of content, which nothing else explains: *chairs*."""
        said = [word for word in question.said if word.content]
        if len(said) != 1 or question.values or self.knowledge.lexicon.says(said[0].text):
            return []
        [word] = said
        span = word.start, word.start + len(word.text)
        if self.soft is not None and any(self.soft.kind_names.of(question.text, [span])):
            # What is of that kind is asked for, not what bears its name.
            return []
        found = self.mentions.ending(question.text, *span)
        return [
            Named(replace(one, similarity=_ENDING), 1, quoted=False, capitalised=False, exact=False, ordinary=False)
            for one in found[:1]
        ]

    def _attributes(self, question: AnalysedQuestion) -> list[Span]:
        """Return the words that describe what a bare phrase asks for, if none of them says something of the schema.

        What a text is to be about says nothing of the schema either, unless it does so by its letters.
        A noun that is like a relation may mean it (*wife Ada Holm*); an adjective (*waterproof*) does not.
        """
        lexicon, described = self.knowledge.lexicon, question.before_its_head()
        topics = [word for word in question.topics if not lexicon.says(word.text)]
        relations, code = range(lexicon.relations), question.cues.language
        for word in described:
            meant = lexicon.explains(relations, word.text) and not is_adjective(word.text, code)
            if lexicon.says(word.text) or meant:
                described = []
                break
        return [(word.start, word.start + len(word.text)) for word in (*described, *topics)]

    def _of_conditions(self, question: AnalysedQuestion) -> list[Named]:
        """Return the names that an everyday word stands for in what is turned or counted: *not from humans*.

        Other soft names are not looked up there, so that no condition means a node that its words merely resemble.
        """
        spans = [*(one.scope for one in question.turnings), *(one.counted for one in question.superlatives)]
        held = [(one.start, one.end) for one in question.values]
        said = {word for span in spans if span for word in question.content_in(span)}
        open_ = [
            word
            for word in sorted(said, key=lambda word: word.start)
            if not self.knowledge.lexicon.says(word.text) and not any(at <= word.start < end for at, end in held)
        ]
        code = self.knowledge.schema.language
        return everyday_named(question.text, _stretches(question.text, open_), self.mentions, code)

    def _expressions(self, question: AnalysedQuestion) -> list[Span]:
        """Return the expressions of several words that stand for an element of the schema, outside names and cues."""
        language, said = self.knowledge.schema.language, question.text
        held = [(name.mention.start, name.mention.end) for name in question.names]
        held += [(value.start, value.end) for value in question.values]
        held += [(turning.start, turning.end) for turning in question.cues.turnings]
        found: list[Span] = []
        for start, end, _ in synonyms_in(said, language, least=2):
            free = not any(start < last and first < end for first, last in [*held, *found])
            if free and self.knowledge.lexicon.is_expression(said[start:end]):
                found.append((start, end))
        return found

    def _open(self, question: AnalysedQuestion) -> tuple[list[Span], list[Span]]:
        """Return the stretches of content words that no name, cue, value, relation or type explains.

        The second list holds those that none of them says: words with vectors near the schema count there, because a
        word near `symptom` (*dizzy*) or `country` (*British*) may mean a symptom or a country.
        """
        lexicon, reading = self.knowledge.lexicon, question.without(tuple(range(len(question.names))))
        cues = question.cues
        held = [(one.start, one.end) for one in cues.quantities] + [(one.start, one.end) for one in cues.dates]
        held += [(one.start, one.end) for one in question.values]
        words = [word for word in reading.content if not any(start <= word.start < end for start, end in held)]
        # Later, all words are compared with the schema; in one batch they cost less.
        self.knowledge.vectors.learn(lexicon.unknown([*(word.text for word in words), *spoken(reading)]))
        like = lexicon.of([word.text for word in words]).max(axis=1, initial=0.0)
        far = [word for word, affinity in zip(words, like, strict=True) if affinity < EXPLAINED]
        return _stretches(question.text, far), _stretches(
            question.text, [word for word in words if not lexicon.says(word.text)]
        )

    def candidates(self, question: AnalysedQuestion, limit: Limit) -> list[PlanCandidate]:
        """Return all plans from the names of a question that find nodes and whose first answer type is answerable.

        Names that are excluded or compared with are no starts.
        """
        names = question.names
        starts = _not_again(start for start in self._starts(question) if question.roles[start.mention] == "start")
        branches = self.enumerator.branches(starts, limit)
        overlap = [frozenset(at for at, other in enumerate(names) if name.excludes(other)) for name in names]
        answerable = self.knowledge.answerable
        single = [PlanCandidate.of((b,), b.types, b.size) for b in branches if b.types[0] in answerable]
        joined = self.enumerator.joins(branches, overlap, limit) if len(names) > 1 else []
        return single + [candidate for candidate in joined if candidate.types[0] in answerable]

    def walks_from(self, question: AnalysedQuestion, name: int, hops: int, limit: Limit) -> list[Branch]:
        """Return the walks of at most `hops` hops from a name (its place among the names), shortest first.

        The last hop of the longest walks is not walked: their ends are those that the schema allows.
        """
        starts = [start for start in self._starts(question) if start.mention == name]
        return Enumerator(self.adjacency, self.nodes, self.knowledge.shape, max_hops=hops).branches(starts, limit)

    @cached_property
    def enumerator(self) -> Enumerator:
        """The enumerator, which walks the graph."""
        return Enumerator(self.adjacency, self.nodes, self.knowledge.shape, max_hops=self.max_hops)

    def _starts(self, question: AnalysedQuestion) -> Iterator[Start]:
        for at, name in enumerate(question.names):
            keys = np.array(name.mention.keys, dtype=np.int32)
            types = self.nodes.types(keys)
            yield from (Start(at, int(code), tuple(keys[types == code].tolist())) for code in np.unique(types))


def _not_again(starts: Iterable[Start]) -> list[Start]:
    """Return the starts without those of nodes that were named twice before: they would walk the same ways again."""
    named: Counter[tuple[int, ...]] = Counter()
    kept = []
    for start in starts:
        named[start.keys] += 1
        if named[start.keys] <= _TWICE:
            kept.append(start)
    return kept


def _not_compared(values: Sequence[ValueMention], cues: Cues) -> list[ValueMention]:
    """Return the values without the numbers of comparisons: *under 12 hours* does not ask for just 12 hours."""
    held = [(one.start, one.end) for one in cues.quantities if one.op != "="]
    return [
        one
        for one in values
        if isinstance(one.value, str) or not any(start < one.end and one.start < end for start, end in held)
    ]


def _not_in_names(values: Sequence[ValueMention], names: Sequence[Named]) -> list[ValueMention]:
    """Return the values that are no part of a longer name in capitals: *D* of *Christopher D. Manning*."""
    held = [(one.mention.start, one.mention.end) for one in names if one.words > 1 and one.marked and one.exact]
    return [
        one
        for one in values
        if not any(start <= one.start and one.end <= end and one.end - one.start < end - start for start, end in held)
    ]


def _in_order(names: Sequence[Named]) -> list[Named]:
    return sorted(names, key=lambda one: (one.mention.start, -one.mention.end))


def _stretches(text: str, words: Sequence[Word]) -> list[Span]:
    """Return the stretches of neighbouring words: nothing but spaces stands between them."""
    found: list[Span] = []
    for word in words:
        end = word.start + len(word.text)
        if found and not text[found[-1][1] : word.start].strip():
            found[-1] = (found[-1][0], end)
        else:
            found.append((word.start, end))
    return found
