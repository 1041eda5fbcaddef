"""The words of a follow-up, read: names, values and cues, how they refer to the question before, and what is left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from search.interfaces import ValueIndex
from search.language.cues import Cues
from search.language.names import Named, find_names
from search.language.question import AnalysedQuestion, Word
from search.language.words import stems
from search.language.words import words as split
from search.stages.plan.follow_up.cues import cues_of
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.follow_up.values import SaidValue, said_values
from search.stages.plan.follow_up.vocabulary import Vocabulary, vocabulary
from search.text import words as as_words

_LONGEST = 2_000
_MOST_NAMES = 6
_CLAUSE = re.compile(r"[,;.?!]|\b(?:but|and)\b")
_OF_FOUND = re.compile(r"^\W*(?:which|what|any|some|none|all|how many|are any|is any)\s+of\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Asked:
    """The words of a follow-up. Offsets are offsets into `text`."""

    text: str
    names: tuple[Named, ...]
    values: tuple[SaidValue, ...]
    cues: Cues
    words: Vocabulary
    spoken: frozenset[str] = field(default=frozenset())

    @cached_property
    def question(self) -> AnalysedQuestion:
        """The text with its names, as planners read questions."""
        return AnalysedQuestion(self.text, self.names, self.spoken)

    def turned(self, start: int, end: int) -> bool:
        """Whether a word such as *not* or *without* turns this stretch round."""
        return any(cue.scope[0] <= start and end <= cue.scope[1] for cue in self.cues.turnings)

    @cached_property
    def instead(self) -> bool:
        """Whether the words say that something is put in the place of something else."""
        return self.words.says("instead", self.text)

    @cached_property
    def further(self) -> bool:
        """Whether the words say that they add to what was found."""
        return self.words.says("further", self.text) and not self.instead

    @cached_property
    def refers(self) -> bool:
        """Whether the words refer to what was found, or begin like a change: such words are no question of their own."""
        return self.words.says("found", self.text) or self.words.begins("openers", self.text)

    @cached_property
    def narrows(self) -> bool:
        """Whether the words ask which of the answers before are meant, so that the answers stay of the same kind."""
        return _OF_FOUND.match(self.text) is not None

    @cached_property
    def taken(self) -> list[tuple[int, int]]:
        """The stretches that names, values, cues and phrases of the vocabulary explain."""
        cues = self.cues
        found = [(name.mention.start, name.mention.end) for name in self.names]
        found += [(one.start, one.end) for one in self.values]
        found += [(one.start, one.end) for one in (*cues.turnings, *cues.superlatives, *cues.quantities, *cues.dates)]
        found += [(one.start, one.end) for one in cues.comparisons]
        for name in ("back", "everything", "sorted", "up", "down", "number", "list", "whether", "instead", "openers"):
            found += self.words.spans(name, self.text)
        found += [(end, _clause(self.text, end)) for _, end in self.words.spans("back", self.text)]
        return found

    @cached_property
    def free(self) -> tuple[Word, ...]:
        """The content words that nothing explains yet: they may name relations, types and fields."""
        frame = set(self.words.frame)
        return tuple(
            word
            for word in self.question.without(()).content
            if word.text not in frame and not any(start <= word.start < end for start, end in self.taken)
        )


def read_words(text: str, ground: Ground, values: ValueIndex | None = None) -> Asked:
    """Return the words of a follow-up with everything that is found in them."""
    text = text[:_LONGEST]
    knowledge = ground.knowledge
    named = _apart(find_names(text, ground.mentions, knowledge.ordinary, _MOST_NAMES))
    phrases, cues = vocabulary(ground.schema.language), cues_of(text)
    said_by_cues = [
        (one.start, one.end) for one in (*cues.superlatives, *cues.quantities, *cues.comparisons, *cues.dates)
    ]
    ordered = min((end for _, end in phrases.spans("sorted", text)), default=len(text))
    said = [
        one
        for one in said_values(text, knowledge, ground.nodes, values)
        if one.end <= ordered
        and not _inside(one, named)
        and not any(one.start < end and start < one.end for start, end in said_by_cues)
        and not (one.part and _schema_word(text, one, ground))
    ]
    return Asked(text, named, tuple(_longest(said)), cues, phrases, knowledge.spoken)


def _schema_word(text: str, value: SaidValue, ground: Ground) -> bool:
    """Whether a word that is only a part of values is the name of a type, relation or field: then it means that."""
    said = stems(text[value.start : value.end])
    names = {stem for kind in ground.schema.node_types for one in kind.fields for stem in stems(as_words(one.name))}
    return bool(said & (ground.knowledge.spoken | names))


def _clause(text: str, start: int) -> int:
    """Return the end of the clause in which a stretch that begins at `start` stands."""
    stop = _CLAUSE.search(text, start)
    return stop.start() if stop else len(text)


def _apart(named: Sequence[Named]) -> tuple[Named, ...]:
    """Return names that share no words: the longest ones of those that do."""
    kept: list[Named] = []
    for name in sorted(named, key=lambda one: (-one.words, -len(split(one.mention.text)), one.mention.start)):
        if not any(name.overlaps(other) for other in kept):
            kept.append(name)
    return tuple(sorted(kept, key=lambda one: one.mention.start))


def _inside(value: SaidValue, named: Sequence[Named]) -> bool:
    """Whether a value is only a part of a longer name, or a partial value of the words of a name."""
    for name in named:
        start, end = name.mention.start, name.mention.end
        if value.start < end and start < value.end:
            longer = (end - start) > (value.end - value.start)
            if longer or value.part:
                return True
    return False


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
