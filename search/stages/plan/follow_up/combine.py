"""All readings of a follow-up as changed plans: the pieces of its words, read one after the other.

Each piece (a name, a value, a number, an order, what is asked) has several readings; the cheapest combinations are
kept. A piece may also stay unread, which is dear, and words that no part of the changed plan explains cost as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from search.domain.plan import Plan
from search.language.names import Named
from search.language.quantities import Quantity
from search.language.question import Word
from search.language.words import stem
from search.stages.plan.conditions.denied import denied
from search.stages.plan.follow_up import edits
from search.stages.plan.follow_up.asked import Asked, is_schema_word
from search.stages.plan.follow_up.change import Changes, Option
from search.stages.plan.follow_up.cues_of_type import CuesOfType, field_words, on
from search.stages.plan.follow_up.edits import Entity
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.follow_up.onward import Onward
from search.stages.plan.follow_up.take_back import taken_back
from search.stages.plan.follow_up.values import SaidValue

_UNREAD = 8.0
"""Cost of a piece that is left out of a reading."""
_PART_UNREAD = 1.0
"""The same of a word that is only a part of values."""
_LEFT = 2.0
"""Cost of a content word that nothing in the plan explains; it goes into the residual text."""
_INNER = 1.2
_NEXT = 1.5
"""Cost of each further meaning of an order on the same type."""
_MOST = 24
"""Largest number of combinations that are kept after each piece."""
_EXPLAINED = 0.8
"""Least affinity to an element of the plan from which a word counts as explained."""

_DOUBT = 3.0
"""Cost of a meaning that fits its words not at all; one that fits them wholly costs nothing."""
_IGNORED = 4.0
"""Cost of a turning word with which nothing is done."""

Piece = Callable[[Plan], Iterable[Option]]


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed plan, what its reading costs, and the words that it leaves over, which are its residual text."""

    plan: Plan
    cost: float
    left: tuple[str, ...]


@dataclass(frozen=True)
class Combinations:
    """Changed plans for the words of a follow-up."""

    asked: Asked
    ground: Ground

    def of(self, before: Plan) -> list[Changed]:
        """Return the changed plans, the cheapest first; plans that no engine could execute are left out."""
        states = [Option(replace(before, ask="which"), 0.0)]
        for piece, unread in self._pieces():
            following = []
            for state in states:
                options = list(piece(state.plan))
                following += [Option(one.plan, state.cost + one.cost) for one in options]
                following.append(Option(state.plan, state.cost + (unread if options else 0.0)))
            states = _cheapest(following)
        found = (self._rest(state, before) for state in states if self._allowed(state.plan))
        return sorted(found, key=lambda one: one.cost)

    def _allowed(self, plan: Plan) -> bool:
        return self.ground.fits(plan)

    def _pieces(self) -> Iterator[tuple[Piece, float]]:
        """Yield the pieces in the order in which they change a plan: first what goes, at last what is asked of it.

        With each comes the cost of leaving it unread.
        """
        asked = self.asked
        yield lambda plan: taken_back(plan, asked, self.ground), _UNREAD
        if not asked.narrows:
            yield Onward(asked, self.ground).of, _UNREAD
        for name in asked.names:
            if any(one.reference[0] <= name.mention.start < one.reference[1] for one in asked.cues.comparisons):
                continue
            entities = self.ground.entities(name)
            same = [one for one in asked.values if (one.start, one.end) == (name.mention.start, name.mention.end)]
            yield partial(self._name, name, entities, same), _UNREAD
        named = {(name.mention.start, name.mention.end) for name in asked.names}
        for span in dict.fromkeys((one.start, one.end) for one in asked.values):
            if span not in named:
                several = [one for one in asked.values if (one.start, one.end) == span]
                yield partial(self._value, several), self._value_unread(several)
        for quantity in asked.cues.quantities:
            yield partial(self._quantity, quantity), _UNREAD
        yield from ((partial(self._date, at), _UNREAD) for at in range(len(asked.cues.dates)))
        yield from ((partial(self._comparison, at), _UNREAD) for at in range(len(asked.cues.comparisons)))
        yield from ((partial(self._superlative, at), _UNREAD) for at in range(len(asked.cues.superlatives)))
        yield self._sorted, _UNREAD
        yield self._ask, _UNREAD

    def _name(self, name: Named, entities: Sequence[Entity], same: Sequence[SaidValue], plan: Plan) -> Iterator[Option]:
        yield from self._changes.of_name(plan, name.mention, entities)
        yield from self._changes.of_value(plan, same)

    def _value_unread(self, several: Sequence[SaidValue]) -> float:
        """Return the cost of leaving a value unread: little for a word that may mean a type, relation or field."""
        if self.asked.turned(several[0].start, several[0].end):
            return _UNREAD
        text = self.asked.text[several[0].start : several[0].end]
        if all(one.part for one in several):
            return _PART_UNREAD
        return _INNER if is_schema_word(text.lower(), self.ground) else _UNREAD

    def _value(self, several: Sequence[SaidValue], plan: Plan) -> Iterator[Option]:
        yield from self._changes.of_value(plan, several)

    @cached_property
    def _cues(self) -> CuesOfType:
        return CuesOfType(self.asked, self.ground)

    @cached_property
    def _changes(self) -> Changes:
        return Changes(self.asked, self.ground)

    def _quantity(self, quantity: Quantity, plan: Plan) -> Iterator[Option]:
        turned = self.asked.turned(quantity.start, quantity.end)
        meant = denied(quantity, self.asked.whole) if turned else quantity
        if meant is None:
            return
        for var, label, base in self._measurable(plan):
            for limits in self._cues.limits(meant, label):
                if found := on(var, limits.filters):
                    yield Option(edits.limited(plan, found), base - math.log(limits.share))

    def _date(self, at: int, plan: Plan) -> Iterator[Option]:
        for var, label, cost in self._measurable(plan):
            for one in self._cues.dates(label)[at]:
                yield Option(edits.limited(plan, on(var, one.filters)), cost + _DOUBT * (1 - one.score))

    def _measurable(self, plan: Plan) -> Iterator[tuple[str, str, float]]:
        """Yield each variable with its type and the cost of a condition on it; the target is the usual one."""
        bound = {anchor.var for anchor in plan.anchors}
        for var, labels in self.ground.types(plan).items():
            for label in sorted(labels) if len(labels) <= 2 and var not in bound else ():
                yield var, label, 0.0 if var == plan.target.var else _INNER

    def _comparison(self, at: int, plan: Plan) -> Iterator[Option]:
        for label in self._labels(plan):
            for one in self._cues.comparisons(label)[at]:
                [anchor], [condition] = one.anchors, one.filters
                var = edits.fresh(plan, "C")
                compared = replace(condition, var=plan.target.var, value=replace(condition.value, var=var))
                anchors = (*plan.anchors, replace(anchor, var=var))
                added = replace(plan, anchors=anchors, filters=(*plan.filters, compared))
                yield Option(added, _DOUBT * (1 - one.score))

    def _superlative(self, at: int, plan: Plan) -> Iterator[Option]:
        cue = self.asked.cues.superlatives[at]
        behind = self.asked.text[cue.end :].lstrip()
        first = self.asked.words.patterns["first"].match(behind) is not None
        for label in self._labels(plan):
            for place, one in enumerate(self._cues.orders(label)[at]):
                order = one.order
                if order is not None:
                    limit = None if first and cue.limit == 1 else order.limit or None
                    yield Option(edits.ordered(plan, order.by, order.direction, limit), _NEXT * place)

    def _sorted(self, plan: Plan) -> Iterator[Option]:
        spans = self.asked.words.spans("sorted", self.asked.text)
        if not spans:
            return
        said = self.asked.text[spans[0][1] :]
        down, up = self.asked.words.says("down", said), self.asked.words.says("up", said)
        for label in self._labels(plan):
            for at, (by, usual) in enumerate(self._cues.sorted_by(said, label)):
                yield Option(edits.ordered(plan, by, "desc" if down else "asc" if up else usual, None), _NEXT * at)

    def _ask(self, plan: Plan) -> Iterator[Option]:
        words, text = self.asked.words, self.asked.text
        if words.says("number", text) or (self.asked.cues.asking and self.asked.cues.asking.ask == "how many"):
            order = plan.order if plan.order and plan.order.limit else None
            yield Option(replace(plan, ask="how many", order=order), 0.0)
        elif words.begins("whether", text):
            yield Option(replace(plan, ask="whether"), 0.0)
        elif words.says("which", text):
            yield Option(plan, 0.0)

    def _labels(self, plan: Plan) -> list[str]:
        labels = self.ground.types(plan).get(plan.target.var, frozenset())
        return sorted(labels) if len(labels) <= 2 else []

    def _rest(self, state: Option, before: Plan) -> Changed:
        """Return a reading with the cost of the words that its plan does not explain, as its residual text.

        Words in the scope of a turning word are not looked for in texts: they say what must not be. With words left
        over, nothing is counted, and neither yes nor no is said.
        """
        words, text = self._unexplained(state.plan), self.asked.text
        left = [text[word.start : word.start + len(word.text)] for word in words]
        sought = [
            said
            for word, said in zip(words, left, strict=True)
            if not self.asked.turned(word.start, word.start + len(word.text))
        ]
        ignored = [
            text[cue.start : cue.end] for cue in self.asked.cues.turnings if _same_conditions(state.plan, before)
        ]
        plan = edits.about(state.plan, " ".join(sought))
        if left or ignored:
            plan = replace(plan, ask="which")
        return Changed(plan, state.cost + _LEFT * len(left) + _IGNORED * len(ignored), (*ignored, *left))

    def _unexplained(self, plan: Plan) -> list[Word]:
        ground, free = self.ground, self.asked.free
        if not free:
            return []
        lexicon = ground.knowledge.lexicon
        rows = lexicon.of([word.text for word in free])
        said = rows[:, self._elements(plan)].max(axis=1, initial=0.0)
        fields = self._fields(plan)
        return [
            word
            for word, affinity in zip(free, said, strict=True)
            if affinity < _EXPLAINED and stem(word.text) not in fields and not self._in_value(word, plan)
        ]

    def _in_value(self, word: Word, plan: Plan) -> bool:
        """Whether a word says values of a field that a filter of the plan is on."""
        used = {one.field for one in plan.filters}
        return any(one.field in used and one.start <= word.start < one.end for one in self.asked.values)

    def _elements(self, plan: Plan) -> list[int]:
        """Return the columns of the lexicon for the relations and types of a plan, its conditions included."""
        schema, lexicon = self.ground.schema, self.ground.knowledge.lexicon
        hops = [*plan.hops, *(hop for pattern in plan.exclude for hop in pattern.hops)]
        names = {hop.rel for hop in hops}
        if plan.order is not None and not isinstance(plan.order.by, str):
            names.add(plan.order.by.rel)
        columns = [schema.relation_codes[name] for name in names if name in schema.relation_codes]
        types = {name for labels in self.ground.types(plan).values() if len(labels) <= 2 for name in labels}
        types |= {anchor.label for pattern in plan.exclude for anchor in pattern.anchors}
        return columns + [lexicon.relations + schema.type_codes[name] for name in types if name in schema.type_codes]

    def _fields(self, plan: Plan) -> frozenset[str]:
        """Return the stems of the names of the fields that filters and order of a plan use."""
        used = {one.field for one in plan.filters}
        if plan.order is not None and isinstance(plan.order.by, str):
            used.add(plan.order.by)
        found: set[str] = set()
        for kind in self.ground.schema.node_types:
            for name, stems in field_words(kind).items():
                found |= stems if name in used else frozenset()
        return frozenset(found)


def _same_conditions(plan: Plan, before: Plan) -> bool:
    """Whether a plan has the conditions of the plan before, so that no turning word has turned anything."""
    return (plan.anchors, plan.filters, plan.exclude) == (before.anchors, before.filters, before.exclude)


def _cheapest(options: Iterable[Option]) -> list[Option]:
    """Return the cheapest options, each plan once."""
    kept: list[Option] = []
    for one in sorted(options, key=lambda option: option.cost):
        if all(one.plan != other.plan for other in kept):
            kept.append(one)
        if len(kept) == _MOST:
            break
    return kept
