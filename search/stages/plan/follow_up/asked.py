"""The words of a follow-up, read: names, values and cues, how they refer to the question before, and what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from search.domain.plan import Plan
from search.domain.question import LONGEST_QUESTION
from search.interfaces import ValueIndex
from search.language.cues import Cues
from search.language.names import Named, find_names
from search.language.question import AnalysedQuestion, Word
from search.language.reading.question import read_question
from search.language.words import stem, stems
from search.language.words import words as split
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.follow_up.values import SaidValue, part_values, whole_values
from search.stages.plan.follow_up.vocabulary import Vocabulary, vocabulary
from search.text import words as as_words

_MOST_NAMES = 6
_MOST_TYPES = 6
_CLAUSE = re.compile(r"[,;.?!]|\b(?:but|and)\b")
_OF_FOUND = re.compile(r"^\W*(?:which|what|any|some|none|all|how many|are any|is any)\s+of\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Asked:
    """The words of a follow-up. Offsets are offsets into `text`."""

    text: str
    names: tuple[Named, ...]
    cues: Cues
    words: Vocabulary
    spoken: frozenset[str] = field(default=frozenset())
    values: tuple[SaidValue, ...] = ()

    @cached_property
    def question(self) -> AnalysedQuestion:
        """The text with its names; all words outside the names are kept."""
        return AnalysedQuestion(self.text, self.names, self.spoken)

    @cached_property
    def whole(self) -> AnalysedQuestion:
        """The text with its names and cues, as the planner reads questions."""
        return AnalysedQuestion(self.text, self.names, self.spoken, self.cues)

    def turned(self, start: int, end: int) -> bool:
        """Whether a word such as *not* or *without* turns this stretch round.

        Scopes are those that the names leave: a further name that nothing joins to the first is not turned.
        """
        return any(cue.scope[0] <= start and end <= cue.scope[1] for cue in self.whole.turnings)

    @cached_property
    def instead(self) -> bool:
        """Whether the words say that something is put in the place of something else."""
        return self.words.says("instead", self.text)

    @cached_property
    def further(self) -> bool:
        """Whether the words say that they add to what was found."""
        checks = self.words.begins("whether", self.text)
        return (checks or self.words.says("further", self.text)) and not self.instead

    @cached_property
    def refers(self) -> bool:
        """Whether the words refer to what was found, or begin like a change: they are no question of their own."""
        return self.words.says("found", self.text) or self.words.begins("openers", self.text)

    @cached_property
    def narrows(self) -> bool:
        """Whether the words ask which of the answers before are meant, so that the answers stay of the same kind."""
        return _OF_FOUND.match(self.text) is not None

    @cached_property
    def taken(self) -> list[tuple[int, int]]:
        """The stretches that names, cues and phrases of the vocabulary explain."""
        found = [(name.mention.start, name.mention.end) for name in self.names]
        found += [(one.start, one.end) for one in self.cues.turnings] + list(measures(self.cues))
        found += [] if self.cues.asking is None else [(self.cues.asking.start, self.cues.asking.end)]
        for name in ("everything", "sorted", "up", "down", "number", "which", "whether", "instead", "openers"):
            found += self.words.spans(name, self.text)
        found += self.backs + [(end, _clause(self.text, end)) for _, end in self.backs]
        return found

    @cached_property
    def backs(self) -> list[tuple[int, int]]:
        """The phrases that take a condition back: *any brand*, but not *are there any*."""
        return [] if self.words.begins("whether", self.text) else self.words.spans("back", self.text)

    @cached_property
    def free(self) -> tuple[Word, ...]:
        """The content words that nothing explains yet: they may name relations, types and fields."""
        frame = set(self.words.frame)
        return tuple(
            word
            for word in self.question.without(()).content
            if word.text not in frame and not any(start <= word.start < end for start, end in self.taken)
        )


def read_words(text: str, ground: Ground, plan: Plan | None, values: ValueIndex | None = None) -> Asked:
    """Return the words of a follow-up with everything that is found in them.

    Parts of values are looked for among the fields of the types that the plan before has.
    """
    read = read_question(text[:LONGEST_QUESTION], ground.schema.language)
    text, knowledge, cues, phrases = (
        read.text,
        ground.knowledge,
        read.cues,
        vocabulary(ground.schema.language, read.language),
    )
    named = _apart(find_names(text, ground.mentions, knowledge.ordinary, _MOST_NAMES, ground.schema.language))
    named = tuple(name for name in named if not _inside(name.mention.start, name.mention.end, list(measures(cues))))
    asked = Asked(text, named, cues, phrases, knowledge.spoken)
    ordered = min((end for _, end in phrases.spans("sorted", text)), default=len(text))
    barred = [*((name.mention.start, name.mention.end) for name in named), *measures(cues), (ordered, len(text))]
    same = {(name.mention.start, name.mention.end) for name in named}
    said = [
        one
        for one in whole_values(text, values)
        if (one.start, one.end) in same or not _touches(one.start, one.end, barred)
    ]
    asked = replace(asked, values=tuple(_longest(said)))
    labels = (
        sorted({label for several in ground.types(plan).values() if len(several) == 1 for label in several})
        if plan
        else []
    )
    free = [
        word for word in asked.free
        if word.start < ordered and not _touches(word.start, word.start + len(word.text), barred)
        and not is_schema_word(word.text, ground)
    ]  # fmt: skip
    parts = part_values(free, labels[:_MOST_TYPES], knowledge, ground.nodes)
    return replace(asked, values=(*asked.values, *parts))


def measures(cues: Cues) -> Iterator[tuple[int, int]]:
    """Yield the stretches of superlatives, numbers, comparisons and dates."""
    yield from ((one.start, one.end) for one in cues.superlatives)
    yield from ((one.start, one.end) for one in cues.quantities)
    yield from ((one.start, one.end) for one in cues.comparisons)
    yield from ((one.start, one.end) for one in cues.dates)


def _clause(text: str, start: int) -> int:
    """Return the end of the clause in which a stretch that begins at `start` stands."""
    stop = _CLAUSE.search(text, start)
    return stop.start() if stop else len(text)


def _touches(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < last and first < end for first, last in spans)


def _inside(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first <= start and end <= last for first, last in spans)


def is_schema_word(text: str, ground: Ground) -> bool:
    """Whether a word is of the name of a type, relation or field: then it means that, and no value."""
    names = {own for kind in ground.schema.node_types for one in kind.fields for own in stems(as_words(one.name))}
    return stem(text) in ground.knowledge.spoken | names


def _apart(named: Sequence[Named]) -> tuple[Named, ...]:
    """Return names that share no words: the longest ones of those that do."""
    kept: list[Named] = []
    for name in sorted(named, key=lambda one: (-one.words, -len(split(one.mention.text)), one.mention.start)):
        if not any(name.overlaps(other) for other in kept):
            kept.append(name)
    return tuple(sorted(kept, key=lambda one: one.mention.start))


def _longest(said: Sequence[SaidValue]) -> list[SaidValue]:
    """Return the values without those inside a longer stretch, and without partial ones where a whole one stands."""
    kept = []
    for one in said:
        beaten = any(
            other.start <= one.start
            and one.end <= other.end
            and ((other.end - other.start) > (one.end - one.start) or (one.part and not other.part))
            for other in said
            if other is not one
        )
        if not beaten:
            kept.append(one)
    return kept
