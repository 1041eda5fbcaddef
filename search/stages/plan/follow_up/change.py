"""The plans that single pieces of a follow-up may make of a plan, each with what it costs to read the piece so.

Costs are differences of log probabilities between readings of the same words, chosen by hand on the demo bases: 0 is
the usual reading, 2 an unusual one, 4 one that the words speak against.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from search.domain.graph import ANY
from search.domain.plan import Anchor, Filter, Hop, Plan
from search.interfaces import Mention
from search.stages.plan.follow_up import edits
from search.stages.plan.follow_up.asked import Asked
from search.stages.plan.follow_up.edits import Entity, Leg
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.follow_up.values import SaidValue

_UNUSUAL = 2.0
_AGAINST = 4.0
_PER_HOP = 1.5
_INNER = 1.2
_PER_ANCHOR = 0.5
_SAID = 1.5
"""Discount of a walk over a relation that the words name."""
_NAMED = 0.5
"""Least affinity of a word to a relation from which the word names it."""
_MOST_WALKS = 8


@dataclass(frozen=True, slots=True)
class Option:
    """A plan after one piece of the words was read, and what it costs to read the piece so."""

    plan: Plan
    cost: float


@dataclass(frozen=True)
class Changes:
    """The readings of names and values of a follow-up."""

    asked: Asked
    ground: Ground

    def of_name(self, plan: Plan, mention: Mention, entities: Iterable[Entity]) -> Iterator[Option]:
        """Yield what a name may change: it replaces an anchor, is a further condition, or one that must not hold."""
        turned = self.asked.turned(mention.start, mention.end)
        for entity in entities:
            yield from self._excluded(plan, entity) if turned else self._named(plan, entity)

    def _named(self, plan: Plan, entity: Entity) -> Iterator[Option]:
        if any(_same(anchor, entity) for anchor in plan.anchors):
            yield Option(plan, 0.5)
        for at, pattern in enumerate(plan.exclude):
            if any(_same(anchor, entity) for anchor in pattern.anchors):
                yield Option(replace(plan, exclude=plan.exclude[:at] + plan.exclude[at + 1 :]), 0.4)
        yield from self._in_place(plan, entity)
        adding = 0.0 if self.asked.further else _UNUSUAL
        adding += _AGAINST if self.asked.instead else 0.0
        for var, legs, cost in self._placements(plan, entity):
            yield Option(edits.joined(plan, var, entity, legs), adding + cost)
        yield from self._in_role(plan, entity)
        if not self.asked.further:
            yield from self._in_any_role(plan, entity)

    def _in_place(self, plan: Plan, entity: Entity) -> Iterator[Option]:
        """Yield the plans in which the entity replaces an anchor of its type, or one whose hops its type fits."""
        adding = _AGAINST if self.asked.further else 0.0
        alike = [anchor for anchor in plan.anchors if not _same(anchor, entity)]
        for back, anchor in enumerate(reversed(alike)):
            changed = edits.replaced(plan, anchor.var, entity)
            if anchor.label == entity.label:
                yield Option(changed, adding + back * _PER_ANCHOR)
            elif self.ground.fits(changed):
                yield Option(changed, adding + _UNUSUAL + back * _PER_ANCHOR)

    def _in_role(self, plan: Plan, entity: Entity) -> Iterator[Option]:
        """Yield the plans in which a condition over the same relation is replaced: *in Japan* after *by Ostervik*."""
        against = _AGAINST if self.asked.further else 0.0
        for anchor in plan.anchors:
            rest = edits.without_anchor(plan, anchor.var)
            gone = {hop.rel for hop in plan.hops if hop not in rest.hops}
            for var, legs, cost in self._placements(rest, entity):
                if legs and legs[-1].relation in gone:
                    yield Option(edits.joined(rest, var, entity, legs), against + 1.0 + cost)

    def _in_any_role(self, plan: Plan, entity: Entity) -> Iterator[Option]:
        """Yield the plans in which the only condition is replaced by one of another kind."""
        if len(plan.anchors) == 1:
            rest = edits.without_anchor(plan, plan.anchors[0].var)
            for var, legs, cost in self._placements(rest, entity):
                yield Option(edits.joined(rest, var, entity, legs), (1.5 if self.asked.instead else 3.0) + cost)

    def _excluded(self, plan: Plan, entity: Entity) -> Iterator[Option]:
        for anchor in plan.anchors:
            if _same(anchor, entity):
                turned = edits.turned_round(plan, anchor.var)
                yield from [Option(turned, 0.0)] if turned is not None else []
        for pattern in plan.exclude:
            if any(_same(anchor, entity) for anchor in pattern.anchors):
                yield Option(plan, 0.2)
        labels = plan.target.labels
        if entity.label in labels and all(anchor.var != plan.target.var for anchor in plan.anchors):
            yield Option(edits.excluding(plan, plan.target.var, entity, ()), 0.0)
        other = _UNUSUAL if entity.label in labels else 0.0
        for var, legs, cost in self._placements(plan, entity):
            yield Option(edits.excluding(plan, var, entity, legs), other + 2 * cost)

    def _placements(self, plan: Plan, entity: Entity) -> list[tuple[str, tuple[Leg, ...], float]]:
        """Return where a walk from an entity may end: the variable, the walk, and its cost; the cheapest first."""
        bound = {anchor.var for anchor in plan.anchors}
        found = []
        for var, labels in self.ground.types(plan).items():
            if var in bound or (var == plan.target.var and not plan.target.labels):
                continue
            walks = list(self.ground.walks(entity, labels))
            for legs in walks:
                # A longer way round is seldom meant where a shorter one exists.
                cost = _PER_HOP * (2 * len(legs) - len(walks[0]) - 1) + (0.0 if var == plan.target.var else _INNER)
                found.append((var, legs, cost - _SAID * self.told(leg.relation for leg in legs)))
        return sorted(found, key=lambda one: one[2])[:_MOST_WALKS]

    def told(self, relations: Iterable[str]) -> float:
        """Return the best affinity, in [0, 1], of a free word of the follow-up to one of these relations."""
        texts = [word.text for word in self.asked.free]
        codes = [self.ground.schema.relation_codes[name] for name in relations if name != ANY]
        if not texts or not codes:
            return 0.0
        fit = float(self.ground.knowledge.lexicon.of(texts)[:, codes].max())
        return fit if fit >= _NAMED else 0.0

    def of_value(self, plan: Plan, several: Iterable[SaidValue]) -> Iterator[Option]:
        """Yield the filters that a value of fields may be, on each variable of the fields' types."""
        types = self.ground.types(plan)
        bound = {anchor.var for anchor in plan.anchors}
        for said in several:
            turned = self.asked.turned(said.start, said.end)
            if not turned and not said.part and all(said.label not in labels for labels in types.values()):
                yield from self._neighbour(plan, said)
            for var, labels in types.items():
                if said.label not in labels or len(labels) > 1 or var in bound:
                    continue
                cost = (0.0 if var == plan.target.var else _INNER) + (_INNER if said.part and not turned else 0.0)
                condition = _filter_of(said, var, turned)
                if self.asked.further or turned:
                    yield Option(replace(plan, filters=(*plan.filters, condition)), cost)
                else:
                    yield Option(edits.limited(plan, [condition]), cost)

    def _neighbour(self, plan: Plan, said: SaidValue) -> Iterator[Option]:
        """Yield the plans in which a neighbour of the answers has the value: *only from journals*."""
        for legs in self.ground.onward(frozenset(plan.target.labels)):
            if len(legs) == 1 and legs[0].to_label == said.label:
                var = edits.fresh(plan, "N")
                hop = Hop(plan.target.var, legs[0].relation, var, said.label, legs[0].direction)
                condition = _filter_of(said, var)
                added = replace(plan, hops=(*plan.hops, hop), filters=(*plan.filters, condition))
                yield Option(added, _INNER - _SAID * self.told([legs[0].relation]))


def _same(anchor: Anchor, entity: Entity) -> bool:
    if anchor.ids:
        return anchor.label in (entity.label, ANY) and bool(set(anchor.ids) & set(entity.ids))
    return anchor.label in (entity.label, ANY) and anchor.text.casefold() == entity.text.casefold()


def _filter_of(said: SaidValue, var: str, turned: bool = False) -> Filter:
    if len(said.values) == 1:
        return Filter(var, said.field, "!=" if turned else "=", said.values[0])
    return Filter(var, said.field, "not in" if turned else "in", list(said.values))
