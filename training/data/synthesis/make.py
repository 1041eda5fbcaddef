"""Makes one question of one node: draws conditions that the node meets, finds all nodes that meet them, and says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from search.domain.graph import Node
from search.domain.plan import Ask
from search.interfaces import Keys
from training.data.synthesis.base import Base
from training.data.synthesis.conditions import MadeConditions
from training.data.synthesis.fields import SCANNED, MadeFields
from training.data.synthesis.parts import MadeDraft, MadeWay
from training.data.synthesis.passages import MadePassages
from training.data.synthesis.reading import SynthesisReader
from training.data.synthesis.recipes import KINDS, Recipe, shares_of
from training.data.synthesis.speech import Speaker, speaker_of
from training.data.synthesis.texts import names_in
from training.data.synthesis.tools import SynthesisTools
from training.data.synthesis.ways import MOST_EDGES, MOST_MEANT, MadeWays

MOST_ANSWERS = 15
"""Answers of a question; one with more is dropped, because its conditions say too little."""
MOST_NARROWED = 300
"""Nodes that the ways of a question may leave for its text and its filters to choose from."""
MOST_COUNTED = 60
"""Answers of a question that asks how many there are."""
TRIES = 4
"""Draws of one kind for a node, for each hop of its longest way: long ways often lead to too many nodes. Then another
kind is tried."""
LONGEST_QUESTION = 600
DESCRIBED = 0.6
"""Share of the ways of a question in bare words that end at a node described by its text; the others end at a name."""


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question in words, its draft, and the keys of all its answers, sorted."""

    text: str
    draft: MadeDraft
    answers: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes questions of a base."""

    tools: SynthesisTools
    base: Base
    kinds: Sequence[Recipe] = KINDS

    def question(self, node: Node, chance: np.random.Generator) -> MadeQuestion | None:
        """Return a question with this node among its answers, or None if several draws gave none."""
        if not any(self.shares):
            return None
        for _ in range(2):
            recipe = self.kinds[int(chance.choice(len(self.kinds), p=self.shares))]
            for _ in range(TRIES * max(recipe.hops, default=1)):
                draft = self.draft(recipe, node, chance)
                if draft is not None and (made := self._checked(draft, node, chance)) is not None:
                    return made
        return None

    def draft(self, recipe: Recipe, node: Node, chance: np.random.Generator) -> MadeDraft | None:
        """Return conditions of a kind that a node meets, or None if this draw led nowhere."""
        answer_type = self.base.schema.type_codes[node.type]
        draft = MadeDraft(recipe.kind, node.key, answer_type, ask=recipe.ask, bare=recipe.bare)
        ways: list[MadeWay] = []
        narrowed = recipe.text or recipe.filters or recipe.exclude or recipe.order or recipe.compared
        most = MOST_EDGES if narrowed or len(recipe.hops) > 1 else most_answers(recipe.ask)
        for at, hops in enumerate(recipe.hops):
            described = recipe.described and at == len(recipe.hops) - 1
            if recipe.bare:
                described = chance.random() < DESCRIBED
            way = self._described(node.key, hops, chance) if described else self.ways.draw(node.key, hops, chance, most)
            if way is None or any(way.steps == one.steps and way.ends == one.ends for one in ways):
                return None
            ways.append(way)
        passage = self.passages.draw(node, chance) if recipe.text else None
        filters = self.fields.draw(node, chance) if recipe.filters else ()
        if (recipe.text and passage is None) or (recipe.filters and not filters):
            return None
        draft = replace(draft, ways=tuple(ways), passage=passage, filters=filters)
        return self._conditioned(recipe, draft, node, chance) if narrowed else draft

    def _conditioned(
        self, recipe: Recipe, draft: MadeDraft, node: Node, chance: np.random.Generator
    ) -> MadeDraft | None:
        """Return a draft with the exclusion, the order or the comparison of its kind; None if there is none to draw."""
        if not (recipe.exclude or recipe.order or recipe.compared):
            return draft
        if recipe.compared:
            compared = self.conditions.comparison(node, chance)
            return None if compared is None else replace(draft, compared=compared)
        keys = self._left(draft)
        if keys is None or len(keys) < 2:
            return None
        if recipe.exclude:
            draw = self.conditions.exclusion if recipe.exclude == "named" else self.conditions.lack
            way = draw(node.key, keys, chance)
            if way is None or any(one.steps == way.steps and one.ends == way.ends for one in draft.ways):
                return None
            return replace(draft, exclusions=(way,))
        by = self.conditions.by_field if recipe.order == "field" else self.conditions.by_count
        order = by(draft.answer_type, keys, chance)
        return None if order is None else replace(draft, order=order)

    def _left(self, draft: MadeDraft) -> Keys | None:
        """Return the nodes that meet the ways and the filters of a draft; None if they are too many to look at."""
        keys: Sequence[int] | Keys | None
        if draft.ways:
            keys = self.ways.found(draft.answer_type, draft.ways)
            if keys is None or len(keys) > MOST_NARROWED:
                return None
            return self._filtered(draft, keys)
        if draft.filters:
            found = self.fields.found(draft.answer_type, draft.filters)
            return None if found is None else np.array(found, dtype=np.int32)
        own = self.base.of_type(draft.answer_type)
        return own if len(own) <= SCANNED else None

    def _filtered(self, draft: MadeDraft, keys: Keys) -> Keys:
        if not draft.filters:
            return keys
        return np.array(self.fields.meeting(draft.filters, [int(key) for key in keys]), dtype=np.int32)

    def answers(self, draft: MadeDraft, node: Node) -> tuple[int, ...] | None:
        """Return the keys of all nodes that meet a draft, sorted; None if they are too many, or too costly to find.

        Conditions on the graph and on fields are met exactly. Words of a text are looked for in all nodes that the
        other conditions leave; without such conditions, in the node itself and in those that the text index finds.
        """
        if draft.exclusions or draft.order is not None or draft.compared is not None:
            return self._condition_met(draft)
        most = most_answers(draft.ask)
        keys: Sequence[int] | Keys | None = None
        if draft.ways:
            keys = self.ways.found(draft.answer_type, draft.ways)
            narrowed = draft.filters or draft.passage is not None
            if keys is None or len(keys) > (MOST_NARROWED if narrowed else most):
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
        if keys is None or not 0 < len(keys) <= most:
            return None
        found = tuple(sorted(int(key) for key in keys))
        return found if node.key in found else None

    def _condition_met(self, draft: MadeDraft) -> tuple[int, ...] | None:
        """Return the answers of a draft with an exclusion, an order or a comparison; None if there is none to give."""
        left = self._left(draft)
        keys = self.conditions.met(draft, left) if left is not None else None
        if keys is None or not 0 < len(keys) <= most_answers(draft.ask):
            return None
        return tuple(sorted(int(key) for key in keys))

    def _checked(self, draft: MadeDraft, node: Node, chance: np.random.Generator) -> MadeQuestion | None:
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
        return MadeQuestion(text, draft, answers)

    def _described(self, key: int, hops: int, chance: np.random.Generator) -> MadeWay | None:
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
        return MadeWay(steps, ends, passage=passage) if len(ends) <= MOST_MEANT else None

    @cached_property
    def shares(self) -> list[float]:
        """The share of each kind."""
        known = self.fields.by_type
        names = [self.base.schema.node_types[code].name for code in self.base.types]
        filterable = sum(share for name, share in zip(names, self.base.shares, strict=True) if known[name])
        return shares_of(self.base, filterable, self.kinds)

    @cached_property
    def reader(self) -> SynthesisReader:
        """The reader of nodes."""
        return SynthesisReader(self.tools)

    @cached_property
    def ways(self) -> MadeWays:
        """The ways through the graph."""
        return MadeWays(self.tools, self.base)

    @cached_property
    def passages(self) -> MadePassages:
        """The passages of texts."""
        return MadePassages(self.tools, self.base, self.reader)

    @cached_property
    def fields(self) -> MadeFields:
        """The conditions on fields."""
        return MadeFields(self.tools, self.base, self.reader)

    @cached_property
    def conditions(self) -> MadeConditions:
        """The exclusions, orders and comparisons."""
        return MadeConditions(self.tools, self.base, self.reader, self.ways, self.fields)

    @cached_property
    def speaker(self) -> Speaker:
        """The speaker of the base's language."""
        return speaker_of(self.base)


def most_answers(ask: Ask) -> int:
    """Return the largest number of answers of a question."""
    return MOST_COUNTED if ask == "how many" else MOST_ANSWERS
