"""Makes one question of one node: draws conditions that the node meets, finds all nodes that meet them, and says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from search.domain.graph import Node
from search.interfaces import Keys
from training.data.synthesis.base import Base
from training.data.synthesis.fields import Fields
from training.data.synthesis.parts import Draft, Way
from training.data.synthesis.passages import Passages
from training.data.synthesis.reading import Reader
from training.data.synthesis.recipes import KINDS, Recipe, shares_of
from training.data.synthesis.speech import Speaker, speaker_of
from training.data.synthesis.texts import names_in
from training.data.synthesis.tools import SynthesisTools
from training.data.synthesis.ways import MOST_EDGES, MOST_MEANT, Ways

MOST_ANSWERS = 15
"""Answers of a question; one with more is dropped, because its conditions say too little."""
MOST_NARROWED = 300
"""Nodes that the ways of a question may leave for its text and its filters to choose from."""
TRIES = 4
"""Draws of one kind for a node, for each hop of its longest way: long ways often lead to too many nodes. Then another
kind is tried."""
LONGEST_QUESTION = 600


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words, its draft, and the keys of all its answers, sorted."""

    text: str
    draft: Draft
    answers: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes questions of a base."""

    tools: SynthesisTools
    base: Base

    def question(self, node: Node, chance: np.random.Generator) -> Question | None:
        """Return a question with this node among its answers, or None if several draws gave none."""
        if not any(self.shares):
            return None
        for _ in range(2):
            recipe = KINDS[int(chance.choice(len(KINDS), p=self.shares))]
            for _ in range(TRIES * max(recipe.hops, default=1)):
                draft = self.draft(recipe, node, chance)
                if draft is not None and (made := self._checked(draft, node, chance)) is not None:
                    return made
        return None

    def draft(self, recipe: Recipe, node: Node, chance: np.random.Generator) -> Draft | None:
        """Return conditions of a kind that a node meets, or None if this draw led nowhere."""
        draft = Draft(recipe.kind, node.key, self.base.schema.type_codes[node.type])
        ways: list[Way] = []
        alone = len(recipe.hops) == 1 and not (recipe.text or recipe.filters)
        most = MOST_ANSWERS if alone else MOST_EDGES
        for at, hops in enumerate(recipe.hops):
            described = recipe.described and at == len(recipe.hops) - 1
            way = self._described(node.key, hops, chance) if described else self.ways.draw(node.key, hops, chance, most)
            if way is None or any(way.steps == one.steps and way.ends == one.ends for one in ways):
                return None
            ways.append(way)
        passage = self.passages.draw(node, chance) if recipe.text else None
        filters = self.fields.draw(node, chance) if recipe.filters else ()
        if (recipe.text and passage is None) or (recipe.filters and not filters):
            return None
        return replace(draft, ways=tuple(ways), passage=passage, filters=filters)

    def answers(self, draft: Draft, node: Node) -> tuple[int, ...] | None:
        """Return the keys of all nodes that meet a draft, sorted; None if they are too many, or too costly to find.

        Conditions on the graph and on fields are met exactly. Words of a text are looked for in all nodes that the
        other conditions leave; without such conditions, in the node itself and in those that the text index finds.
        """
        keys: Sequence[int] | Keys | None = None
        if draft.ways:
            keys = self.ways.found(draft.answer_type, draft.ways)
            narrowed = draft.filters or draft.passage is not None
            if keys is None or len(keys) > (MOST_NARROWED if narrowed else MOST_ANSWERS):
                return None
        if draft.filters:
            before = keys
            keys = (
                self.fields.meeting(draft.filters, [int(key) for key in keys])
                if keys is not None
                else self.fields.found(draft.answer_type, draft.filters)
            )
            if keys is None or (before is not None and len(keys) == len(before)):
                # A condition that excludes nobody is not asked for.
                return None
        if draft.passage is not None:
            if keys is None:
                keys = self.passages.found(draft.passage, node)
            elif len(keys) > MOST_NARROWED:
                return None
            else:
                keys = self.passages.meeting(draft.passage, keys)
        if keys is None or not 0 < len(keys) <= MOST_ANSWERS:
            return None
        found = tuple(sorted(int(key) for key in keys))
        return found if node.key in found else None

    def _checked(self, draft: Draft, node: Node, chance: np.random.Generator) -> Question | None:
        """Return the draft as a question, unless it has no answer, too many, or names one of them."""
        answers = self.answers(draft, node)
        if answers is None:
            return None
        text = " ".join(self.speaker.say(draft, chance).split())
        if len(text) > LONGEST_QUESTION or names_in(text, (node.name, *node.aliases)):
            return None
        others = [key for key in answers if key != node.key]
        if others and any(names_in(text, (one.name, *one.aliases)) for one in self.reader.nodes(others)):
            return None
        return Question(text, draft, answers)

    def _described(self, key: int, hops: int, chance: np.random.Generator) -> Way | None:
        """Return a way to a node that is described by its text."""
        walked = self.ways.walk(key, hops, chance)
        if walked is None:
            return None
        steps, end = walked
        (far,) = self.reader.nodes([end])
        passage = self.passages.draw(far, chance)
        if passage is None:
            return None
        ends = tuple(self.passages.found(passage, far))
        return Way(steps, ends, passage=passage) if len(ends) <= MOST_MEANT else None

    @cached_property
    def shares(self) -> list[float]:
        """The share of each kind."""
        known = self.fields.by_type
        names = [self.base.schema.node_types[code].name for code in self.base.types]
        filterable = sum(share for name, share in zip(names, self.base.shares, strict=True) if known[name])
        return shares_of(self.base, filterable)

    @cached_property
    def reader(self) -> Reader:
        """The reader of nodes."""
        return Reader(self.tools)

    @cached_property
    def ways(self) -> Ways:
        """The ways through the graph."""
        return Ways(self.tools, self.base)

    @cached_property
    def passages(self) -> Passages:
        """The passages of texts."""
        return Passages(self.tools, self.base, self.reader)

    @cached_property
    def fields(self) -> Fields:
        """The conditions on fields."""
        return Fields(self.tools, self.base, self.reader)

    @cached_property
    def speaker(self) -> Speaker:
        """The speaker of the base's language."""
        return speaker_of(self.base)
