"""The words of a follow-up for the chart: what refers to the search before, what only frames it, parts of values.

What the search before found is a set like any other. Where a word refers to it (*them*), it stands there; it also
stands unsaid before the first word (*under 30 euros*) and behind words that ask for a number (*how many*).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from search.interfaces import NodeStore
from search.language.languages import language
from search.language.tokens import Phrases, Token
from search.language.words import WHICH
from search.stages.plan.annotate import Annotated
from search.stages.plan.derivation import Derivation, Features
from search.stages.plan.follow_up.values import valued
from search.stages.plan.grammar import GrammarWeights
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.schema_index import SchemaIndex
from search.stages.plan.sets import Given

GIVEN, SORT = "G", "SORT"
_FRAMING = frozenset((GIVEN, "INSTEAD", "FURTHER", "OPENS", "FRAME"))
"""Categories of words that need not be covered: they say nothing of what is looked for."""
_SAYING = frozenset("SRFQK")
_ASKING = frozenset(("WHO", "WHERE", "WHEN", "HOW", "WHOSE"))
_REFERRING = (GIVEN, SORT, "INSTEAD")
_BEHIND = "COUNT"
"""Category of the words behind which the set before may stand unsaid."""


@dataclass(frozen=True)
class Words:
    """The words of a follow-up with their annotations, and the closed words by category: places among the words."""

    annotated: Annotated
    closed: dict[str, list[tuple[int, int]]]

    def says(self, category: str) -> bool:
        """Whether a word of a category is said."""
        return bool(self.closed.get(category))

    @cached_property
    def asks(self) -> bool:
        """Whether a question word is said, or whose the thing is that is asked for."""
        return any(token.word in WHICH for token in self.annotated.tokens) or bool(
            _ASKING & {one.category for one in self.annotated.annotations}
        )

    @cached_property
    def refers(self) -> bool:
        """Whether the words refer to the search before, or begin like a change of it."""
        opens = any(start == 0 for start, _ in self.closed.get("OPENS", ()))
        return opens or any(self.says(category) for category in _REFERRING)


@dataclass(frozen=True)
class Referring:
    """Adds to the annotations of words what only follow-ups say."""

    schema: SchemaIndex
    knowledge: Knowledge
    nodes: NodeStore
    weights: GrammarWeights

    def __call__(self, annotated: Annotated, given: Given | None, codes: Sequence[str]) -> Words:
        """Return the words with all annotations; `codes` are the languages of the base and of the question."""
        closed: dict[str, list[tuple[int, int]]] = {}
        for code in dict.fromkeys(codes):
            for category, phrases in _phrases(code):
                for at in range(len(annotated.tokens)):
                    if length := phrases.length(annotated.tokens, at):
                        closed.setdefault(category, []).append((at, at + length))
        content = list(annotated.content)
        for category in _FRAMING & closed.keys():
            for start, end in closed[category]:
                content[start:end] = [False] * (end - start)
        found = [*annotated.annotations, *self._of_closed(closed, given)]
        annotated = replace(annotated, annotations=found, content=content)
        if given is None:
            return Words(annotated, closed)
        annotated = replace(annotated, annotations=[*found, *self._parts(annotated, given)])
        places = {0, *(one.end for one in annotated.annotations if one.category == _BEHIND)}
        for place in sorted(places, reverse=True):
            annotated = self._with_unsaid(annotated, place, given)
        return Words(annotated, closed)

    def _of_closed(self, closed: dict[str, list[tuple[int, int]]], given: Given | None) -> Iterator[Derivation]:
        for category, spans in closed.items():
            meaning: object = given if category == GIVEN else None
            for span in spans if category != GIVEN or given is not None else ():
                rule = "given-said" if category == GIVEN else f"cue-{category}"
                yield self._made(span, category, meaning, rule)

    def _parts(self, annotated: Annotated, given: Given) -> Iterator[Derivation]:
        """Yield the values of which words that nothing explains are a part."""
        explained = 0
        for one in annotated.annotations:
            explained |= one.covered if one.category in _SAYING and not one.rule.endswith("-like") else 0
        types = given.types
        for place in given.before.places:
            types |= 0 if place.anchored else place.types
        for at, token in enumerate(annotated.tokens):
            if annotated.content[at] and not explained >> at & 1:
                for where in valued(token.word, types, self.knowledge, self.nodes):
                    yield self._made((at, at + 1), "S", where, "value-part")

    def _with_unsaid(self, annotated: Annotated, place: int, given: Given) -> Annotated:
        """Return the words with the set before as a word that is not said."""
        said = annotated.tokens
        offset = said[place].start if place < len(said) else len(annotated.text)
        unsaid = Token(offset, offset, "", said[place].mark if place < len(said) else "")
        moved = [_moved(one, place) for one in annotated.annotations]
        return replace(
            annotated,
            tokens=[*said[:place], unsaid, *said[place:]],
            annotations=[*moved, self._made((place, place + 1), GIVEN, given, "given-unsaid")],
            content=[*annotated.content[:place], False, *annotated.content[place:]],
        )

    def _made(self, span: tuple[int, int], category: str, meaning: object, rule: str) -> Derivation:
        features: Features = ((f"rule:{rule}", 1.0),)
        covered = (1 << span[1]) - (1 << span[0])
        return Derivation(*span, category, meaning, self.weights(features), rule, features, covered=covered)


def _moved(one: Derivation, place: int) -> Derivation:
    """Return an annotation with a further word at a place; one that stands around the place gets longer."""
    start, end = one.start + (one.start >= place), one.end + (one.end > place)
    low = one.covered & ((1 << place) - 1)
    return replace(one, start=start, end=end, covered=low | (one.covered >> place << place + 1))


@lru_cache(maxsize=8)
def _phrases(code: str) -> tuple[tuple[str, Phrases[bool]], ...]:
    """Return the phrases of a language by category."""
    lang = language(code)
    return tuple(
        (name, Phrases((phrase, True) for phrase in lang.entries("follow_up", name)))
        for name in lang.table("follow_up")
        if name.isupper()
    )
