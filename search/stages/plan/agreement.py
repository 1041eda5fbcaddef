"""How well the meanings that were tried agree with the words of the question, beyond what the grammar's rules saw.

The chart knows words by their letters and their synonyms. Here the encoder compares: each word that a meaning leaves
over with the relations and types that the meaning walks, and the whole question with the meaning in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from search.domain.graph import OPPOSITE
from search.stages.plan.annotate import Annotated
from search.stages.plan.derivation import Derivation, Features
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.lexicon import Affinities
from search.stages.plan.sets import (
    Asked,
    Compared,
    Counted,
    Either,
    Kind,
    Meet,
    Named,
    NodeSet,
    Top,
    Walk,
    Where,
    WhereCount,
    Without,
    codes,
)

_USUAL = 0.4
"""Cosine of a question and the wording of what it may mean that speaks neither for it nor against it."""
_UNSAID = frozenset(("float", "float-two", "root-unsaid", "rule:relation-like", "rule:meet", "rule:members"))


@dataclass(frozen=True, slots=True)
class _Places:
    """What is compared for a meaning: rows of words (`left` over; `free` of names), and elements of the schema.

    `own` are the elements that it walks, `unsaid` the relations among them that no word says.
    """

    left: list[int]
    free: list[int]
    own: list[int]
    unsaid: list[int]


@dataclass(frozen=True)
class Agreement:
    """Compares the meanings of one question with its words."""

    knowledge: Knowledge
    annotated: Annotated

    def __call__(self, read: Sequence[Derivation]) -> list[Features]:
        """Return the features of each meaning of the whole question; none for one that leaves it to the texts."""
        asked = [one for one in read if one.meaning is not None]
        masked = [self._masked(one) for one in asked]
        told = [self._told(one.meaning) for one in asked]
        words = self.annotated.content_words()
        places = [self._places(one, words) for one in asked]
        wanted = sorted({row for one in places for row in (*one.left, *one.free)})
        said = [words[row][1] for row in wanted]
        # One call of the encoder: the lexicon finds the vectors of its words in the encoder's cache.
        rows = self.knowledge.vectors.of([*masked, *told, *self.knowledge.lexicon.unknown(said)])
        affinity = np.zeros((len(words), self.knowledge.lexicon.elements))
        affinity[wanted] = self.knowledge.lexicon.of(said)
        found = {
            id(one): (*self._wording(one, float(rows[at] @ rows[len(asked) + at])), *_words(places[at], affinity))
            for at, one in enumerate(asked)
        }
        return [found.get(id(one), ()) for one in read]

    def _wording(self, one: Derivation, near: float) -> Features:
        return (("wording", near - _USUAL), ("wording-guessed", near - _USUAL if guesses(one) else 0.0))

    def _places(self, one: Derivation, words: Sequence[tuple[int, str]]) -> _Places:
        """Return what of the words and of the schema is compared for a meaning."""
        relations = self.knowledge.lexicon.relations
        walked = {walk.relation for walk in walks(one.meaning.of)}
        types = {code for mask in _masks(one.meaning.of) for code in codes(mask)}
        said, names = set(), 0
        for step in one.steps():
            if step.category == "R":
                said.add(step.meaning.relation)
            if isinstance(step.meaning, Named) and not step.children:
                names |= step.covered
        unsaid = sorted(walked - said)
        return _Places(
            [row for row, (at, _) in enumerate(words) if not one.covered >> at & 1],
            [row for row, (at, _) in enumerate(words) if unsaid and not names >> at & 1],
            sorted({*walked, *(relations + code for code in types)}), unsaid,
        )  # fmt: skip

    def _masked(self, one: Derivation) -> str:
        """Return the question with the names that a meaning starts from replaced by their types."""
        tokens = self.annotated.tokens
        names = {step.start: step for step in one.steps() if isinstance(step.meaning, Named) and step.rule}
        written, at = [], 0
        for place, token in enumerate(tokens):
            if token.start < at:
                continue
            if place in names:
                written.append(f"[{self._label(names[place].meaning.types)}]")
                at = tokens[names[place].end - 1].end
            else:
                written.append(token.word)
        return " ".join(written)

    def _told(self, asked: Asked) -> str:
        """Return a meaning as the words of its answer type and its walks."""
        told = ", ".join(self._walk(one) for one in walks(asked.of))
        return f"which {self._label(asked.types)}: {told}"

    def _walk(self, one: Walk) -> str:
        here, there = self._label(one.types), self._label(one.of.types)
        source, target = (there, here) if one.direction == "out" else (here, there)
        return f"{source} {self.knowledge.wording.relations[one.relation]} {target}"

    def _label(self, types: int) -> str:
        several = codes(types)
        return self.knowledge.wording.types[several[0]] if several else ""


def _words(places: _Places, affinity: Affinities) -> Features:
    """Compare the words that a meaning leaves over with what it walks, and its unsaid walks with all words."""
    left, free, own, unsaid = places.left, places.free, places.own, places.unsaid
    best = affinity[left][:, own].max(axis=1) if left and own else np.zeros(len(left))
    beyond = affinity[left].max(axis=1, initial=0.0) - best if left else np.zeros(0)
    support = affinity[free][:, unsaid].max(axis=0) if free else np.zeros(len(unsaid))
    return (
        ("left-like", float(best.sum())), ("left-beyond", float(beyond.sum())),
        ("unsaid-like", float(support.sum())), ("unsaid", float(len(unsaid))),
    )  # fmt: skip


def guesses(one: Derivation) -> bool:
    """Whether a meaning has a walk that no word says surely."""
    return any(name in _UNSAID for step in one.steps() for name, value in step.features if value)


def walks(of: NodeSet) -> Iterator[Walk]:
    """Yield the walks of a set, the outermost first; what is counted or denied is walked to, too."""
    match of:
        case Walk(_, inner, _, _):
            yield of
            yield from walks(inner)
        case Meet(_, one, other) | Either(_, one, other) | Without(_, one, other) | Compared(_, one, _, _, other):
            yield from walks(one)
            yield from walks(other)
        case Top(types, inner, Counted() as count) | WhereCount(types, inner, count):
            among = count.among or Kind(count.to)
            yield from walks(Walk(types, among, count.relation, OPPOSITE[count.direction]))
            yield from walks(inner)
        case Where(_, inner) | Top(_, inner):
            yield from walks(inner)


def _masks(of: NodeSet) -> Iterator[int]:
    """Yield the types of a set and of the sets within it, names left out: a name does not say its type."""
    match of:
        case Named():
            return
        case Kind(types):
            yield types
        case Walk(types, inner, _, _):
            yield types
            yield from _masks(inner)
        case Meet(_, one, other) | Either(_, one, other) | Without(_, one, other) | Compared(_, one, _, _, other):
            yield from _masks(one)
            yield from _masks(other)
        case Top(types, inner, Counted() as count) | WhereCount(types, inner, count):
            yield from _masks(count.among or Kind(count.to))
            yield from _masks(inner)
        case Where(_, inner) | Top(_, inner):
            yield from _masks(inner)
