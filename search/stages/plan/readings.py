"""All readings of a question: scored candidates with and without conditions, whole types, and the question as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from search.bindings import own_bindings
from search.domain.linking import LinkedPlan
from search.domain.plan import Filter, Plan
from search.domain.trace import Limit
from search.interfaces import GraphStore, NodeStore
from search.language.cues import ConditionWord, Span, Turning
from search.language.question import AnalysedQuestion, Word, counted_by
from search.stages.plan.conditions import Binder, Bound
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.denied import denied, is_turned
from search.stages.plan.conditions.elsewhere import Elsewhere
from search.stages.plan.conditions.fields import FieldMeanings
from search.stages.plan.conditions.heads import of_the_noun
from search.stages.plan.conditions.negative import denial_said, denied_by, says_denial
from search.stages.plan.conditions.paths import back_unsaid, parted, roundabout, unsaid_steps, walked_against
from search.stages.plan.conditions.whether import whether
from search.stages.plan.conditions.whole_types import unused_share, whole_type_sum, whole_types
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.limits import FilterOutcome, FilterProbe, Limiter, Limits
from search.stages.plan.meaning import LEFT, NO_LIMITS, STRAY, UNLIKE, WORTH, Meaning, strays
from search.stages.plan.named_itself import NamedItself
from search.stages.plan.named_with import NamedWith
from search.stages.plan.scoring.align import elements
from search.stages.plan.scoring.features import missed_share, only_speaks
from search.stages.plan.scoring.risk import left_over, unused_names
from search.stages.plan.scoring.score import Scored, Weights
from search.stages.plan.unused import unused_conditions
from search.stages.plan.write import Writer

_NUMBERS = math.log(9)
"""Weight of the filters of numbers: a number was meant as the filter that was read from it nine times in ten."""
_BOUND = 6
"""Number of candidates, the best ones, to which conditions are bound."""
APART = 8.0
"""A candidate whose sum is so much below the best one gets no conditions."""
_COUNTED = 4.0
"""The same for the filters of numbers, which take a query each."""
_KINDS = 3.0
"""What yes or no adds to the sum that is said of kinds of a named thing, which the walk from it does not reach."""
_TURNED_ROUND = 3.0
"""What a hop against the direction of the wording takes from the sum."""
_ROUNDABOUT = 1.5
"""What a hop on to nodes of the same type takes from the sum where no word says it: the walk without it is as near."""
_UNEVEN = 3.0
"""What two names of a list take from the sum that are reached over other relations: *both fever and weight loss*."""
_DENIES = 12.0
"""What a walk over a relation that denies takes from the sum where the question denies nothing: `safe in pregnancy` is
not `contraindicated in pregnancy`, though its words are near. No sum of the other features makes up for it."""
_DENIAL = 3.0
"""What a walk of one hop over a relation that denies adds to the sum where the question has a word that denies."""
_UNUSED = 2.0
"""What each name that a plan leaves out takes from its sum, for names of another case than the stored ones; `Weights`
weighs the others. At most two count."""
_MISSED_NAME = -Weights().missed
"""What the share of left out names has taken from the sum of a walk that the question asks to reach them."""
_ORDERED = 1.0
"""What a superlative takes from the sum of the reading that leaves the question to text, which knows no order."""
_NAMED = 1.5
"""What a name takes from the sum of the reading that leaves the question to text."""
_NOUN = 0.5
"""What it adds to the sum of a superlative that only those are ordered whose names end with the noun behind it."""
_MISSED = 0.5
"""A plan without names is tried only if the surest name that it leaves out weighs at most this."""


@dataclass(frozen=True)
class Readings:
    """Makes the readings of one question."""

    question: AnalysedQuestion
    knowledge: Knowledge
    nodes: NodeStore
    writer: Writer
    limiter: Limiter
    graph: GraphStore | None
    binder: Binder
    limit: Limit
    numbers: bool
    _left: dict[Meaning, list[Word]] = field(default_factory=dict, init=False)

    def of(self, best: Sequence[tuple[PlanCandidate, float]], scored: Scored) -> Iterator[Meaning]:
        """Yield every reading: candidates without conditions and those to which something is bound, text alone last."""
        yield from self._of_graph(best, scored)
        # What is asked for in place of a denial, no walk tells: what such walks weigh counts for the text, unless some
        # word says a relation.
        said = any(map(self.knowledge.lexicon.said_relations, self._outside_names()))
        denied = [total for candidate, total in best if not said and self._denies_unsaid(candidate)]
        yield Meaning(None, float(np.logaddexp.reduce([self._text_sum(scored), *denied])))

    def _of_graph(self, best: Sequence[tuple[PlanCandidate, float]], scored: Scored) -> Iterator[Meaning]:
        unbound, cued = self.binder.nothing, self.binder.has_cues
        top = max((total for _, total in best), default=scored.text)
        adjusted = [(candidate, total + self._fitted(candidate)) for candidate, total in best]
        for place, (candidate, total) in enumerate(adjusted):
            near = cued and place < _BOUND and total > top - APART
            several = self._limits(candidate) if near and total > top - _COUNTED else [NO_LIMITS]
            yield Meaning(candidate, total, unbound, Limits(notes=several[0].notes))
            for limits in several if near else ():
                yield from self._with_conditions(candidate, total, limits)
            yield from self._of_whether(candidate, total)
        itself = NamedItself(self.question, self.knowledge, self.nodes, self.limiter.years, unbound, self.left)
        first = max((total for _, total in adjusted), default=scored.text)
        yield from itself.of(first)
        yield from NamedWith(itself, self._limits, self._bound_to).of(first)
        if not cued or (best and unused_share(self.question, self.knowledge) > _MISSED):
            return
        weights = Weights()
        shift = scored.text - weights.text
        for candidate, fit in whole_types(self.question, self.knowledge, self.nodes, self.limiter.years):
            read = (one for limits in self._limits(candidate) for one in self._with_conditions(candidate, 0.0, limits))
            for meaning in read:
                spans = (*meaning.bound.spans, *meaning.limits.spans)
                base = whole_type_sum(
                    self.question, self.knowledge, candidate, fit, spans, meaning.bound.columns, weights
                )
                left = len(self.left(meaning)) * (STRAY if strays(self.question, meaning, self.left(meaning)) else LEFT)
                yield replace(meaning, total=meaning.total + base + shift - left)

    def _of_whether(self, candidate: PlanCandidate, total: float) -> Iterator[Meaning]:
        """Yield the readings that ask whether a candidate's walk reaches another name of the question."""
        core = Core(self.question, candidate, self.knowledge)
        if self._denies_unsaid(candidate):
            return
        speaks = [only_speaks(name, self.knowledge.lexicon) for name in self.question.names]
        for condition in whether(core, self.nodes):
            unbound = (*self.binder.nothing.unbound, *self._unsaid(candidate))
            # The other name is no name left out: the answer is it.
            other = _MISSED_NAME * missed_share(self.question, candidate.mentions, speaks)
            # A walk that reaches kinds of what is named says more than one the other way, which reaches nothing.
            other += _KINDS * condition.of_kinds
            yield Meaning(candidate, total + WORTH * condition.score + other, Bound((condition,), unbound))

    def _denies_unsaid(self, candidate: PlanCandidate) -> bool:
        """Whether a walk of a candidate goes over a relation that denies, though the question denies nothing."""
        over = {relation for path in candidate.paths for relation in denied_by(self.knowledge, path)}
        # A turning word with names behind it denies something of these, not of the name that the walk starts from.
        turned = any(not self.question.names_in(one.scope) for one in self.question.turnings)
        return bool(over) and not turned and not says_denial(self.question, self.knowledge, over)

    def _denial(self, candidate: PlanCandidate) -> tuple[Span, ...]:
        """Return the spans of the words that deny by themselves, if a walk of one hop says them."""
        denies = any(len(path.steps) == 1 and denied_by(self.knowledge, path) for path in candidate.paths)
        return denial_said(self.question, self.knowledge) if denies else ()

    def _unsaid(self, candidate: PlanCandidate) -> list[Span]:
        """Return the content words of the question if they do not say every hop of a walk: then it is not understood.

        The first hop needs no word where the type of the name has no other relation.
        """
        held = [(name.mention.start, name.mention.end) for name in self.question.names]
        content = self.question.without(candidate.mentions).content
        outside = [word for word in content if not any(start <= word.start < end for start, end in held)]
        # An expression such as *used for* may consist of function words alone.
        said = [word.text for word in self.question.said if word in outside or " " in word.text]
        if any(
            unsaid_steps(self.knowledge, path, said)
            or self._says_other(path, said)
            or back_unsaid(self.question, self.knowledge, path, said)
            for path in candidate.paths
        ):
            return [(word.start, word.start + len(word.text)) for word in outside or content]
        return []

    def strays(self, candidate: PlanCandidate) -> bool:
        """Whether a walk of several hops has one that nothing says: neither its relation nor the type it leads to.

        The type says no hop on to nodes of the same type, and what is counted only one from the named thing: papers
        with four *authors* in 2019 are not said to be by who edited a volume of 2019.
        """
        known = self.knowledge
        content = self.question.without(candidate.mentions).content
        said = [word.text for word in content]
        spans = [counted_by(self.question, cue) for cue in self.question.cues.quantities]
        further = [w.text for w in content if not any(one and one[0] <= w.start < one[1] for one in spans)]
        for path in candidate.paths:
            unsaid = unsaid_steps(known, path, said) if len(path.steps) > 1 else []
            types = [path.start, *(step.to_type for step in path.steps)]
            for at, (here, step) in enumerate(zip(types, path.steps, strict=False)):
                column = known.lexicon.relations + step.to_type
                telling = further if at else said
                told = step.to_type != here and any(known.lexicon.explains((column,), word) for word in telling)
                if step in unsaid and not told:
                    return True
        return False

    def is_ambiguous(self, candidate: PlanCandidate) -> bool:
        """Whether a walk starts from one of several types of nodes with its name, and no word says its first hop.

        Whether *how many films did X make* means what has the tag X or what the person X directed, nobody can tell.
        """
        lexicon = self.knowledge.lexicon
        said = [word.text for word in self.question.without(candidate.mentions).content]
        # Where several names are joined, they tell which of their nodes are meant.
        return len(candidate.branches) == 1 and any(
            len(set(self.nodes.types(self.question.names[branch.start.mention].mention.keys).tolist())) > 1
            and not any(
                lexicon.explains((branch.path.steps[0].relation, lexicon.relations + branch.path.start), word)
                for word in said
            )
            for branch in candidate.branches
        )

    def _outside_names(self) -> list[str]:
        """Return the content words of the question that stand in none of its names."""
        every = tuple(range(len(self.question.names)))
        return [word.text for word in self.question.without(every).content]

    def _says_other(self, path: Metapath, said: Sequence[str]) -> bool:
        """Whether a word says a relation by its letters, and none that a walk goes over: *interact with*."""
        own = {step.relation for step in path.steps}
        lexicon = self.knowledge.lexicon
        parts = (part for text in said for part in ([text] if lexicon.is_expression(text) else text.split()))
        return any(best and own.isdisjoint(best) for best in map(lexicon.said_relations, parts))

    def left(self, meaning: Meaning) -> list[Word]:
        """Return the content words that a reading leaves over; none of the reading as text, which keeps all."""
        candidate, known = meaning.candidate, self.knowledge
        if candidate is None:
            return []
        if (kept := self._left.get(meaning)) is not None:
            return kept
        spans = (*meaning.bound.spans, *meaning.limits.spans, *self._denial(candidate))
        columns = (
            *elements(candidate.paths, known.lexicon.relations, candidate.types[:1]), *meaning.bound.columns,
        )  # fmt: skip
        used = (*candidate.mentions, *(at for condition in meaning.bound.conditions for at in condition.names))
        left = left_over(self.question, used, columns, known.lexicon, spans, meaning.bound.unbound)
        self._left[meaning] = left
        return left

    def unused(self, meaning: Meaning) -> list[ConditionWord]:
        """Return the condition words that a reading does nothing with."""
        denial = () if meaning.candidate is None else self._denial(meaning.candidate)
        return unused_conditions(self.question, self.knowledge, meaning, denial)

    def _text_sum(self, scored: Scored) -> float:
        if scored.source == "learned":
            return scored.text
        ordered = _ORDERED if self.question.superlatives else 0.0
        return scored.text - ordered - _NAMED * unused_share(self.question, self.knowledge)

    def _fitted(self, candidate: PlanCandidate) -> float:
        """Return what the wording's directions and the sureness of names add to the sum of a candidate; at most 0.

        A relation that joins a type with itself may be walked against the direction that the wording says.
        """
        read, known = self.question, self.knowledge
        total = -_DENIES if self._denies_unsaid(candidate) else 0.0
        total += _DENIAL if self._denial(candidate) else 0.0
        total -= _UNUSED * min(2, len(unused_names(read, candidate.mentions, known.lexicon, exact=False)))
        for branch in candidate.branches:
            mention = read.names[branch.start.mention].mention
            total -= UNLIKE * (1.0 - mention.similarity)
            total -= _ROUNDABOUT * roundabout(read, known, candidate.mentions, branch.path)
        total -= _UNEVEN * parted(read, candidate)
        return total - _TURNED_ROUND * walked_against(read, known, candidate)

    def _with_conditions(self, candidate: PlanCandidate, total: float, limits: Limits) -> Iterator[Meaning]:
        """Yield the readings of a candidate with at least one condition; `limits` are its filters of numbers."""
        number = _NUMBERS + math.log(limits.share) if limits.filters else 0.0
        noun = of_the_noun(Core(self.question, candidate, self.knowledge), self.nodes)
        for bound in self.binder.of(candidate, filtered=bool(limits.filters)):
            unbound, unsaid = (
                tuple(span for span in spans if span not in limits.spans) for spans in (bound.unbound, bound.unsaid)
            )
            bound = replace(bound, unbound=unbound, unsaid=unsaid)
            bound = replace(bound, conditions=tuple(_beside(bound.conditions, limits)))
            if bound.conditions or limits.filters:
                own = total + WORTH * bound.score + number
                yield Meaning(candidate, own, bound, limits)
                if noun and any(one.order for one in bound.conditions):
                    yield Meaning(candidate, own + _NOUN, replace(bound, conditions=(*bound.conditions, noun)), limits)

    def _bound_to(self, candidate: PlanCandidate, limits: Limits) -> Iterator[Meaning]:
        return self._with_conditions(candidate, 0.0, limits)

    def _limits(self, candidate: PlanCandidate) -> list[Limits]:
        """Return the filters that the numbers of the question may be for a candidate, at least one entry."""
        read = self.question
        core, elsewhere = (
            Core(read, candidate, self.knowledge), Elsewhere(FieldMeanings(self.knowledge, self.limiter.years))
        )  # fmt: skip
        own = [one for one in read.cues.quantities if elsewhere.owner(core, one) in (None, core.type_code)]
        if not own or not self.numbers or self.graph is None:
            return [NO_LIMITS]
        asked = (denied(one, read) if is_turned(one, read) else one for one in own)
        numbers = [one for one in asked if one is not None]
        plan = self.writer.plan(candidate, read.names, "", "normal")
        fits: FilterProbe = self.fits(plan) if candidate.size else lambda _: "some"
        several = self.limiter.of(read, numbers, candidate, fits)
        return [self._with_turnings(one) for limits in several for one in limits.each]

    def _with_turnings(self, limits: Limits) -> Limits:
        """Return filters with the spans of the turning words before their numbers, which they express too."""
        turnings = [one for start, _ in limits.spans if (one := self._turning(start)) is not None]
        return replace(limits, spans=(*limits.spans, *((one.start, one.end) for one in turnings)))

    def fits(self, plan: Plan) -> FilterProbe:
        """Return a callable that asks the engine whether any node that the plan finds passes given filters."""
        graph = self.graph
        if graph is None:
            raise ValueError("there is no engine that could be asked about filters")
        bound = own_bindings(plan, self.nodes)

        def fits(filters: tuple[Filter, ...]) -> FilterOutcome:
            asked = replace(plan, filters=filters)
            if not (asked.anchors or asked.runs_over_type):
                return "some"
            found = graph.execute(LinkedPlan(asked, bound), self.limit, rows=1)
            return "some" if found.candidates else "cut" if found.truncated else "none"

        return fits

    def _turning(self, at: int) -> Turning | None:
        """Return the turning word in whose scope an offset lies."""
        return next((one for one in self.question.turnings if one.scope[0] <= at < one.scope[1]), None)


def _beside(conditions: Sequence[Condition], limits: Limits) -> Iterator[Condition]:
    """Yield the conditions of cues that are not filters of numbers already."""
    for one in conditions:
        if one.cue not in limits.spans:
            yield one
