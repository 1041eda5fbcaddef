"""Question → its possible meanings in this graph: its names, and all plans from these names that find nodes.

Searching and learning both use this module, so a scorer learns from the same lists that it will rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search.domain.trace import Limit
from search.interfaces import Adjacency, MentionIndex, NodeStore, ValueIndex
from search.language.cues import Span
from search.language.names import find_names
from search.language.question import AnalysedQuestion, Word
from search.language.reading.question import read_question
from search.language.soft_names import SoftTools, soft_names
from search.stages.plan.enumeration.enumerate import Branch, Enumerator, PlanCandidate, Start
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.lexicon import EXPLAINED
from search.stages.plan.knowledge.target import spoken

_LONGEST = 2_000
"""Number of characters at the start of a question that are read. Only text retrieval uses the rest."""


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
        """Return the question, cut to `_LONGEST` characters, with its names, its cues and the values in it.

        A question in another language than the knowledge base's is read in the base's language.

        Words that nothing explains are looked up once more, as nodes that they describe or nearly name.
        """
        language = self.knowledge.schema.language
        read = read_question(text[:_LONGEST], language)
        text, cues = read.text, read.cues
        names = find_names(text, self.mentions, self.knowledge.ordinary, self.max_mentions, language)
        values = self.values.find(text) if self.values is not None else ()
        question = AnalysedQuestion(text, names, self.knowledge.spoken, cues, values)
        if self.soft is None:
            return question
        unexplained, unsaid = self._open(question)
        if not unsaid:
            return question
        soft = soft_names(text, unexplained, self.soft, unsaid=unsaid, code=language)
        more = [one for one in soft if not any(one.overlaps(name) for name in names)]
        names = sorted([*names, *more], key=lambda one: (one.mention.start, -one.mention.end))
        return AnalysedQuestion(text, names, self.knowledge.spoken, cues, values) if more else question

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
        starts = [start for start in self._starts(question) if question.roles[start.mention] == "start"]
        branches = self.enumerator.branches(starts, limit)
        overlap = [frozenset(at for at, other in enumerate(names) if name.excludes(other)) for name in names]
        single = [PlanCandidate.of((branch,), branch.types, branch.size) for branch in branches]
        joined = self.enumerator.joins(branches, overlap, limit) if len(names) > 1 else []
        return [candidate for candidate in [*single, *joined] if candidate.types[0] in self.knowledge.answerable]

    def walks_from(self, question: AnalysedQuestion, name: int, limit: Limit) -> list[Branch]:
        """Return the walks of at most two hops from a name, at its place in the question; the shorter ones first."""
        starts = [start for start in self._starts(question) if start.mention == name]
        return self._short.branches(starts, limit)

    @cached_property
    def _short(self) -> Enumerator:
        # The last hop of the longest walks is not walked, and three hops away is too far for an exclusion.
        return Enumerator(self.adjacency, self.nodes, self.knowledge.shape, max_hops=2)

    @cached_property
    def enumerator(self) -> Enumerator:
        """The enumerator, which walks the graph."""
        return Enumerator(self.adjacency, self.nodes, self.knowledge.shape, max_hops=self.max_hops)

    def _starts(self, question: AnalysedQuestion) -> Iterator[Start]:
        for at, name in enumerate(question.names):
            keys = np.array(name.mention.keys, dtype=np.int32)
            types = self.nodes.types(keys)
            yield from (Start(at, int(code), tuple(keys[types == code].tolist())) for code in np.unique(types))


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
