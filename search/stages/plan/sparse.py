"""What a trained planner adds to the scores of meanings: weights of pairs of a word and an element (docs/planning.md).

A meaning has elements: the path that it walks, each step of it, the answer type, what is asked of it, its conditions.
Each element is taken together with each word of the question outside the names that the meaning starts from, and with
each pair of neighbouring words. Elements are written with the names of types and relations, not with their codes, so
that a weight holds in later releases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from search.domain.graph import Schema
from search.interfaces import PlanScorer
from search.language.words import ANSWER_OF, FUNCTION_WORDS, stem
from search.stages.plan.annotate import Annotated
from search.stages.plan.derivation import Derivation
from search.stages.plan.sets import (
    Asked,
    Compared,
    Counted,
    Either,
    Given,
    Kind,
    Meet,
    Named,
    NodeSet,
    OfEdge,
    Top,
    Walk,
    Where,
    WhereCount,
    Without,
    codes,
)

ALONE = ""
"""The word of an element that counts whatever the question says."""
WORDS = "words"
"""Where a meaning keeps the words that it is scored with, for training (`Derivation.extra`)."""
_NAME = "*"
"""What stands for a name among the words."""
_NUMBER = "#"
_MOST_TYPES = 3
"""Types that an element names; a set that may hold nodes of more is of any type."""
_ARROWS = {"out": ">", "in": "<"}

Words = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Elements:
    """Writes the elements of meanings over one schema."""

    schema: Schema
    _known: dict[int, str] = field(default_factory=dict, init=False)

    def __call__(self, asked: Asked | None) -> Words:
        """Return the different elements of a meaning; `text` alone where a question is left to text."""
        if asked is None:
            return ("text",)
        found = [f"path {self._path(asked.of)}", f"type {self._types(asked.types)}", f"ask {asked.ask}"]
        if asked.show:
            found.append(f"show {asked.show}")
        return tuple(dict.fromkeys([*found, *self._inner(asked.of)]))

    def _types(self, mask: int) -> str:
        if mask not in self._known:
            several = [self.schema.node_types[code].name for code in codes(mask)]
            self._known[mask] = "|".join(several) if len(several) <= _MOST_TYPES else "any"
        return self._known[mask]

    def _step(self, relation: int, direction: str, reached: int) -> str:
        return f"{self.schema.relations[relation].name}{_ARROWS[direction]}{self._types(reached)}"

    def _count(self, count: Counted) -> str:
        step = self._step(count.relation, count.direction, count.to)
        return step if count.function is None else f"{count.function} {count.of} {step}"

    def _path(self, of: NodeSet) -> str:
        """Return a set as a text in which its names have become their types, and its numbers and values are missing."""
        match of:
            case Kind(types):
                return f"all {self._types(types)}"
            case Named(types):
                return self._types(types)
            case Walk(types, inner, relation, direction):
                return f"{self._step(relation, direction, types)}({self._path(inner)})"
            case Meet(_, one, other) | Either(_, one, other):
                sign = "&" if isinstance(of, Meet) else "+"
                return sign.join(sorted((self._path(one), self._path(other))))
            case Without(_, inner, other):
                return f"{self._path(inner)}-{self._path(other)}"
            case Top(_, inner) | Where(_, inner) | WhereCount(_, inner) | Compared(_, inner):
                return f"{self._condition(of)}({self._path(inner)})"
            case Given():
                return "found before"

    def _condition(self, of: Top | Where | WhereCount | Compared) -> str:
        match of:
            case Top(_, _, by, end):
                if isinstance(by, OfEdge):
                    return f"{end} {by.field} of {self.schema.relations[by.relation].name}"
                return f"{end} {by if isinstance(by, str) else self._count(by)}"
            case Where(_, _, field, op):
                return f"{field} {op}"
            case WhereCount(_, _, count, op):
                return f"number {self._count(count)} {op}"
            case Compared(_, _, field, op):
                return f"{field} {op} other"

    def _inner(self, of: NodeSet) -> Iterator[str]:
        """Yield each step and each condition of a set."""
        match of:
            case Walk(types, inner, relation, direction):
                yield f"step {self._step(relation, direction, types)}"
                yield from (
                    f"condition {self.schema.relations[relation].name} {one.field} {one.op}" for one in of.where
                )
                yield from self._inner(inner)
            case Meet(_, one, other) | Either(_, one, other) | Without(_, one, other):
                if not isinstance(of, Meet):
                    yield type(of).__name__.lower()
                yield from self._inner(one)
                yield from self._inner(other)
            case Top(_, inner) | Where(_, inner) | WhereCount(_, inner) | Compared(_, inner):
                yield f"condition {self._condition(of)}"
                yield from self._inner(inner)


def words_of(names: int, annotated: Annotated) -> Words:
    """Return the different stems of a question outside names (a mask of its tokens), and their pairs of neighbours.

    Function words are only in pairs: alone they say too little, and what is learned of them misleads other questions.
    """
    said: list[str] = []
    alone: list[str] = []
    for at, token in enumerate(annotated.tokens):
        if names >> at & 1:
            if said[-1:] != [_NAME]:
                said.append(_NAME)
        else:
            said.append(_NUMBER if token.word.isdigit() else stem(token.word))
            if token.word not in FUNCTION_WORDS or token.word in ANSWER_OF:
                alone.append(said[-1])
    pairs = (f"{one} {other}" for one, other in pairwise(said) if {one, other} != {_NAME})
    return tuple(dict.fromkeys([ALONE, *alone, *pairs]))


def names_of(one: Derivation) -> int:
    """Return the mask of the tokens that a meaning takes for names."""
    names = 0
    for step in one.steps():
        if isinstance(step.meaning, Named) and step.rule.startswith("name-"):
            names |= (1 << step.end) - (1 << step.start)
    return names


@dataclass(frozen=True, eq=False)
class LearnedScorer:
    """Adds what a trained planner says to the scores of the meanings of a question."""

    scorer: PlanScorer
    elements: Elements

    def __call__(self, roots: Sequence[Derivation], annotated: Annotated) -> list[Derivation]:
        """Return the meanings with their scores raised or lowered, best first."""
        by_names: dict[int, tuple[Words, dict[str, float]]] = {}
        for one in roots:
            names = names_of(one)
            if names not in by_names:
                by_names[names] = words_of(names, annotated), {}
            said, known = by_names[names]
            one.extra[WORDS] = said
            for element in self.elements(one.meaning):
                value = known.get(element)
                if value is None:
                    value = known[element] = _sum(self.scorer.weights.get(element, {}), said)
                one.score += value
        return sorted(roots, key=lambda one: -one.score)


def _sum(weights: Mapping[str, float], said: Words) -> float:
    return sum(weights[word] for word in said if word in weights) if weights else 0.0
