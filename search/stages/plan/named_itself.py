"""Readings that ask for a named node itself, or for a field of it: *tell me about X*, *how heavy is X*."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from search.domain.plan import Anchor
from search.interfaces import NodeStore
from search.language.names import Named
from search.language.question import AnalysedQuestion, Word
from search.language.words import ARTICLES, BARE_WORDS, TELLING
from search.stages.plan.conditions import Bound
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.fields import FieldMeanings
from search.stages.plan.conditions.shows import asks_for_field, shown
from search.stages.plan.conditions.values import values_of
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.meaning import LEFT, UNLIKE, WORTH, Meaning
from search.stages.plan.write import TARGET
from search.stages.plan.years import YearFields

ITSELF = 3.0
"""What such a reading adds to the sum, if it leaves no word over."""
OTHERWISE = 2.0
"""What it takes from the sum that a node bears the name in other letters than others do."""


@dataclass(frozen=True)
class NamedItself:
    """Makes these readings. `nothing` holds all cues unbound; `left` tells the words that a reading leaves over."""

    question: AnalysedQuestion
    knowledge: Knowledge
    nodes: NodeStore
    years: YearFields
    nothing: Bound
    left: Callable[[Meaning], list[Word]]

    def of(self, top: float) -> Iterator[Meaning]:
        """Yield the readings; `top` is the sum of the best walk."""
        yield from self._of_itself(top)
        yield from self._of_fields(top)
        yield from self._of_values(top)

    def _of_itself(self, top: float) -> Iterator[Meaning]:
        """Yield those of names beside which nothing else is said."""
        read = self.question
        for at, (name, role) in enumerate(zip(read.names, read.roles, strict=True)):
            rest = [word for word in read.said if not name.mention.start <= word.start < name.mention.end]
            alone = read.of_its_head or _says_nothing(rest, name) or self._says_kind(rest, name)
            if role != "start" or not alone:
                continue
            total = top + WORTH - UNLIKE * (1.0 - name.mention.similarity)
            if rest:
                yield from self._itself(at, name.mention.keys, total + ITSELF)
                continue
            # Beside a name alone, what belongs to the named thing stays in the list, behind it. What is spelled just so
            # comes before nodes of the same name in other letters (*Málaga* and *Malaga*).
            mention = name.mention
            spelled = [key for key, exact in zip(mention.keys, mention.exact, strict=False) if exact]
            others = [key for key in mention.keys if key not in spelled]
            yield from self._itself(at, spelled, total)
            yield from self._itself(at, others, total - OTHERWISE if spelled else total)

    def _itself(self, at: int, keys: Sequence[int], total: float) -> Iterator[Meaning]:
        """Yield the readings that ask for nodes of the name at a position, one for each of their types."""
        mention = self.question.names[at].mention
        span = (mention.start, mention.end)
        for code, own in self.by_type(keys).items():
            itself = PlanCandidate((), (at,), (), (code,), len(own))
            anchor = self.anchor(mention.text, code, own)
            asked = Condition(span, 1.0, anchors=(anchor,), names=(at,), spans=(span,))
            yield Meaning(itself, total, Bound((asked,), self.nothing.unbound))

    def _says_kind(self, rest: Sequence[Word], name: Named) -> bool:
        """Whether a name stands beside nothing but the noun of its nodes' only type: *the film X*."""
        types = set(self.nodes.types(name.mention.keys).tolist())
        content = [word.text for word in rest if word.content]
        told = len(content) == 1 == len(types) and self.knowledge.lexicon.names_types(content)[list(types)].all()
        return bool(told) and all(word.content or word.text in ARTICLES for word in rest)

    def _of_fields(self, top: float) -> Iterator[Meaning]:
        """Yield those that ask for a field of a named node."""
        read = self.question
        if not asks_for_field(read, self.knowledge):
            return
        fields = FieldMeanings(self.knowledge, self.years)
        for at, (name, role) in enumerate(zip(read.names, read.roles, strict=True)):
            for code, keys in self.by_type(name.mention.keys).items() if role == "start" else ():
                itself = PlanCandidate((), (at,), (), (code,), len(keys))
                for one in shown(Core(read, itself, self.knowledge), fields)[:1]:
                    anchor = self.anchor(name.mention.text, code, keys)
                    spans = (*one.spans, (name.mention.start, name.mention.end))
                    asked = replace(one, anchors=(anchor,), names=(at,), spans=spans)
                    meaning = Meaning(itself, 0.0, Bound((asked,), self.nothing.unbound))
                    left = len(self.left(meaning))
                    total = top + WORTH * one.score - UNLIKE * (1.0 - name.mention.similarity)
                    yield replace(meaning, total=total + (ITSELF if not left else -LEFT * left))

    def _of_values(self, top: float) -> Iterator[Meaning]:
        """Yield those that ask whether a named node has a value: *is X an anticoagulant*."""
        read = self.question
        if read.cues.asking is None or read.cues.asking.ask != "whether" or not read.values:
            return
        for at, (name, role) in enumerate(zip(read.names, read.roles, strict=True)):
            for code, keys in self.by_type(name.mention.keys).items() if role == "start" else ():
                itself = PlanCandidate((), (at,), (), (code,), len(keys))
                found = [several[0] for several in values_of(Core(read, itself, self.knowledge)) if several]
                if not found:
                    continue
                span = (name.mention.start, name.mention.end)
                anchor = self.anchor(name.mention.text, code, keys)
                own = Condition(span, 1.0, anchors=(anchor,), names=(at,), spans=(span,), ask="whether")
                meaning = Meaning(itself, 0.0, Bound((own, *found), self.nothing.unbound))
                if not self.left(meaning):
                    total = top + WORTH * min(one.score for one in found) + ITSELF
                    yield replace(meaning, total=total - UNLIKE * (1.0 - name.mention.similarity))

    def by_type(self, keys: Sequence[int]) -> dict[int, list[int]]:
        """Return the nodes of a name by their types."""
        found: dict[int, list[int]] = {}
        for key, code in zip(keys, self.nodes.types(keys), strict=True):
            found.setdefault(int(code), []).append(key)
        return found

    def anchor(self, text: str, code: int, keys: Sequence[int]) -> Anchor:
        """Return the anchor of a name that is itself the answer."""
        kind = self.knowledge.schema.node_types[code].name
        return Anchor(TARGET, text, kind, "name", tuple(self.nodes.ids(keys)))


def _says_nothing(rest: Sequence[Word], name: Named) -> bool:
    """Whether the other words of a question ask for nothing but for what is named.

    A single word that is no whole name, such as one that names end with, asks rather for what belongs to it.
    """
    before = [word.text for word in rest if word.start < name.mention.start]
    if not rest:
        return name.marked or name.words > 1 or name.how == "name"
    if before and before[-1] in ARTICLES:
        before.pop()
        rest = rest[1:]
    told = (at for at in range(len(before)) if " ".join(before[at:]) in TELLING)
    return len(before) == len(rest) and any(BARE_WORDS.issuperset(before[:at]) for at in told)
