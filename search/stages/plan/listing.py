"""Scored candidates → plans with probabilities: conditions are bound and tried, then one softmax compares all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from search.domain.linking import Binding, LinkedPlan
from search.domain.plan import Ask, Filter, Operator, Plan, PlanSource, ScoredPlan, Target
from search.domain.trace import Limit, StepOutput
from search.interfaces import GraphStore, NodeStore
from search.language.cues import Turning
from search.language.question import AnalysedQuestion, Word
from search.stages.plan.conditions import Binder, Bound
from search.stages.plan.conditions.paths import both_ways, direction_said
from search.stages.plan.conditions.whole_types import unused_share, whole_type_sum, whole_types
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.target import answer_types
from search.stages.plan.limits import FilterOutcome, FilterProbe, Limiter, Limits
from search.stages.plan.scoring.align import elements
from search.stages.plan.scoring.calibrate import Grounds, calibrated, untrained
from search.stages.plan.scoring.risk import explained, left_over, level, text_of, unused_names
from search.stages.plan.scoring.score import Scored, Weights
from search.stages.plan.write import Writer, mutual

_WORTH = 4.0
"""Weight of a condition with score 1, on the scale of the sums of `Weights`."""
_NUMBERS = math.log(9)
"""Weight of the filters of numbers: a number was meant as the filter that was read from it nine times in ten."""
_BOUND = 6
"""Number of candidates, the best ones, to which conditions are bound."""
_APART = 8.0
"""A candidate whose sum is so much below the best one gets no conditions."""
_COUNTED = 4.0
"""The same for the filters of numbers, which take a query each."""
_TURNED_ROUND = 3.0
"""What a hop against the direction of the wording takes from the sum."""
_UNUSED = 2.0
"""What each name that a plan leaves out takes from its sum, for names of another case than the stored ones; `Weights`
weighs the others. At most two count."""
_UNLIKE = 4.0
"""What a name that has nothing in common with its stretch of the question would take from the sum."""
_TURNED: dict[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!="}
"""Comparison → its opposite, for numbers behind a turning word; a range has none."""
_LEFT = 1.5
"""What each word that a plan without names leaves over takes from its sum: such words may say what the text holds."""
_NAMED = 1.5
"""What a name takes from the sum of the reading that leaves the question to text."""
_MISSED = 0.5
"""A plan without names is tried only if the surest name that it leaves out weighs at most this."""
_TRIED = 12
"""Largest number of plans with conditions that are tried on the graph."""


_NOTHING, _NO_LIMITS = Bound(), Limits()


@dataclass(frozen=True)
class Meaning:
    """A candidate with conditions and the filters of numbers: one reading of the question, with its sum.

    The candidate is None for the reading that leaves the question to text.
    """

    candidate: PlanCandidate | None
    total: float
    bound: Bound = _NOTHING
    limits: Limits = _NO_LIMITS

    @property
    def filters(self) -> tuple[Filter, ...]:
        """All its filters."""
        return (*(one for condition in self.bound.conditions for one in condition.filters), *self.limits.filters)

    @property
    def selects(self) -> bool:
        """Whether it must be tried on the graph: nodes may fail its conditions. Numbers alone have been tried."""
        return any(condition.selects for condition in self.bound.conditions)


@dataclass(frozen=True)
class Lister:
    """Makes the list of plans of one question."""

    question: AnalysedQuestion
    knowledge: Knowledge
    nodes: NodeStore
    writer: Writer
    limiter: Limiter
    graph: GraphStore | None
    binder: Binder
    limit: Limit
    source: PlanSource
    numbers: bool

    def __call__(
        self, best: Sequence[tuple[PlanCandidate, float]], scored: Scored, whole: str, most: int, least: float,
        temperature: float,
    ) -> StepOutput[ScoredPlan]:  # fmt: skip
        """Return at most `most` plans, best first; those less probable than `least` are left out, except the best.

        `whole` is the text of the question. The detail names the numbers of the question that are not filters of the
        best plan, and why.
        """
        meanings = [*self._meanings(best, scored), Meaning(None, self._text_sum(scored))]
        kept = self._that_find(sorted(meanings, key=lambda one: -one.total), most)
        sums = np.array([one.total for one in kept]) / temperature
        shares = np.exp(sums - sums[0])
        shares /= shares.sum()
        believed = int((shares >= min(least, shares[0])).sum())
        shares = shares[:believed] / shares[:believed].sum()
        listed: dict[str, ScoredPlan] = {}
        meant: dict[str, Meaning] = {}
        for place, (meaning, share) in enumerate(zip(kept, shares.tolist(), strict=False)):
            # Only one plan can be right. The first has the second as its rival, every other one has the first.
            rival = float(shares[0 if place else 1]) if len(shares) > 1 else 0.0
            plan = self._plan(meaning, float(share), rival, whole)
            key = repr(replace(plan, risk_level="normal"))
            same = listed.get(key)
            meant.setdefault(key, meaning)
            listed[key] = (
                ScoredPlan(plan, scored.source, share) if same is None
                else replace(same, probability=same.probability + share)
            )  # fmt: skip
        first = next((one for one in kept if one.candidate is not None), None)
        detail = " ".join(first.limits.notes) if first is not None else ""
        return StepOutput(self._calibrated(list(listed.items()), meant, scored.source), detail)

    def _calibrated(
        self, listed: list[tuple[str, ScoredPlan]], meant: dict[str, Meaning], source: PlanSource
    ) -> list[ScoredPlan]:
        """Return the plans, best first, the first with its calibrated probability and what that stands on."""
        listed.sort(key=lambda pair: -pair[1].probability)
        (key, best), rival = listed[0], listed[1][1].probability if len(listed) > 1 else 0.0
        grounds = self._grounds(meant[key], best.probability, rival)
        return calibrated([plan for _, plan in listed], grounds, untrained() if source == "schema" else None)

    def _grounds(self, meaning: Meaning, share: float, rival: float) -> Grounds:
        if meaning.candidate is None:
            return Grounds(share, rival, text=True)
        left = self._left(meaning, meaning.candidate)
        conditions = meaning.bound.conditions
        used = {*meaning.candidate.mentions, *(at for condition in conditions for at in condition.names)}
        return Grounds(
            share,
            rival,
            explained(self.question, meaning.candidate.mentions, left),
            len(left),
            float(min((self.question.names[at].sure for at in used), default=1.0)),
            len(meaning.bound.unbound),
            float(min((condition.score for condition in conditions), default=1.0)),
            sum(len(path.steps) for path in meaning.candidate.paths),
        )

    def _left(self, meaning: Meaning, candidate: PlanCandidate) -> list[Word]:
        """Return the content words that a reading leaves over."""
        known = self.knowledge
        spans = (*meaning.bound.spans, *meaning.limits.spans)
        columns = (
            *elements(candidate.paths, known.lexicon.relations, candidate.types[:1]), *meaning.bound.columns,
        )  # fmt: skip
        return left_over(self.question, candidate.mentions, columns, known.lexicon, spans, meaning.bound.unbound)

    def _text_sum(self, scored: Scored) -> float:
        if scored.source == "learned":
            return scored.text
        return scored.text - _NAMED * unused_share(self.question, self.knowledge.spoken)

    def _meanings(self, best: Sequence[tuple[PlanCandidate, float]], scored: Scored) -> Iterator[Meaning]:
        """Yield every reading: candidates without conditions, then those to which something is bound."""
        unbound, cued = self.binder.nothing, self.binder.has_cues
        top = max((total for _, total in best), default=scored.text)
        adjusted = [(candidate, total + self._fitted(candidate)) for candidate, total in best]
        for place, (candidate, total) in enumerate(adjusted):
            near = cued and place < _BOUND and total > top - _APART
            limits = self._limits(candidate) if near and total > top - _COUNTED else _NO_LIMITS
            yield Meaning(candidate, total, unbound, Limits(notes=limits.notes))
            if near:
                yield from self._with_conditions(candidate, total, limits)
        if not cued or (best and unused_share(self.question, self.knowledge.spoken) > _MISSED):
            return
        weights = Weights()
        shift = scored.text - weights.text
        for candidate, fit in whole_types(self.question, self.knowledge, self.nodes):
            for meaning in self._with_conditions(candidate, 0.0, self._limits(candidate)):
                spans = (*meaning.bound.spans, *meaning.limits.spans)
                base = whole_type_sum(
                    self.question, self.knowledge, candidate, fit, spans, meaning.bound.columns, weights
                )
                left = len(self._left(meaning, candidate)) * _LEFT
                yield replace(meaning, total=meaning.total + base + shift - left)

    def _fitted(self, candidate: PlanCandidate) -> float:
        """Return what the wording's directions and the sureness of names add to the sum of a candidate; at most 0.

        A relation that joins a type with itself may be walked against the direction that the wording says.
        """
        read, known = self.question, self.knowledge
        total = -_UNUSED * min(2, len(unused_names(read, candidate.mentions, exact=False)))
        for branch in candidate.branches:
            mention = read.names[branch.start.mention].mention
            total -= _UNLIKE * (1.0 - mention.similarity)
            here = branch.path.start
            for step in branch.path.steps:
                if both_ways(known, here, step) and not mutual(known.schema.relations[step.relation]):
                    said = direction_said(read, known, step.relation, mention.start, mention.end)
                    total -= _TURNED_ROUND if said not in (None, step.direction) else 0.0
                here = step.to_type
        return total

    def _with_conditions(self, candidate: PlanCandidate, total: float, limits: Limits) -> Iterator[Meaning]:
        """Yield the readings of a candidate with at least one condition; `limits` are its filters of numbers."""
        number = _NUMBERS if limits.filters else 0.0
        for bound in self.binder.of(candidate):
            bound = replace(bound, unbound=tuple(span for span in bound.unbound if span not in limits.spans))
            if bound.conditions or limits.filters:
                yield Meaning(candidate, total + _WORTH * bound.score + number, bound, limits)

    def _limits(self, candidate: PlanCandidate) -> Limits:
        read = self.question
        if not read.cues.quantities or not self.numbers or self.graph is None:
            return _NO_LIMITS
        numbers = [replace(one, op=_TURNED.get(one.op, one.op)) if self._turning(one.start) else one
                   for one in read.cues.quantities]  # fmt: skip
        plan = self.writer.plan(candidate, read.names, "", "normal")
        limits = self.limiter.of(read, numbers, candidate, self._fits(plan))
        turnings = [one for start, _ in limits.spans if (one := self._turning(start)) is not None]
        spans = ((one.start, one.end) for one in turnings)
        return replace(limits, spans=(*limits.spans, *spans))

    def _turning(self, at: int) -> Turning | None:
        """Return the turning word in whose scope an offset lies."""
        return next((one for one in self.question.turnings if one.scope[0] <= at < one.scope[1]), None)

    def _that_find(self, meanings: Sequence[Meaning], most: int) -> list[Meaning]:
        """Return the first readings that find at least one node, at most `most`."""
        found: list[Meaning] = []
        tried = 0
        for meaning in meanings:
            if meaning.selects and self.graph is not None:
                tried += 1
                plan = self._plan(meaning, 1.0, 0.0, "")
                if tried > _TRIED or self._fits(replace(plan, order=None))(plan.filters) == "none":
                    continue
            found.append(meaning)
            if len(found) == most:
                break
        if all(one.candidate is not None for one in found):
            found += [one for one in meanings if one.candidate is None and one.total > meanings[0].total - _APART]
        return found

    def _fits(self, plan: Plan) -> FilterProbe:
        """Return a callable that asks the engine whether any node that the plan finds passes given filters."""
        graph = self.graph
        if graph is None:
            raise ValueError("there is no engine that could be asked about filters")
        ids = [node_id for _, anchor in plan.all_anchors for node_id in anchor.ids]
        nodes = iter(self.nodes.references([key for key in self.nodes.keys(ids) if key is not None]))
        bindings = tuple(
            Binding(anchor.var, next(nodes), 1.0, at) for at, anchor in plan.all_anchors for _ in anchor.ids
        )

        def fits(filters: tuple[Filter, ...]) -> FilterOutcome:
            asked = replace(plan, filters=filters)
            if not (asked.anchors or asked.runs_over_type):
                return "some"
            found = graph.execute(LinkedPlan(asked, bindings), self.limit, rows=1)
            return "some" if found.candidates else "cut" if found.truncated else "none"

        return fits

    def _plan(self, meaning: Meaning, probability: float, rival: float, whole: str) -> Plan:
        candidate = meaning.candidate
        if candidate is None:
            return self._text_plan(whole)
        read, bound, left = self.question, meaning.bound, self._left(meaning, candidate)
        # The probability of a trained planner already includes how many of the answers the graph gives.
        share = 1.0 if self.source == "learned" else explained(read, candidate.mentions, left)
        risk = level(probability, rival, share)
        if bound.unbound and risk in ("normal", "aggressive"):
            risk = "weak"
        text = " ".join(filter(None, [text_of(read, left), *self._unread(bound, text_of(read, left))]))
        plan = self.writer.plan(candidate, read.names, text, risk)
        conditions = bound.conditions
        return replace(
            plan,
            anchors=(*plan.anchors, *(one for condition in conditions for one in condition.anchors)),
            filters=meaning.filters,
            exclude=tuple(one for condition in conditions for one in condition.exclude),
            order=next((condition.order for condition in conditions if condition.order is not None), None),
            ask=self._ask(),
        )

    def _unread(self, bound: Bound, left: str) -> Iterator[str]:
        """Yield the words of the cues that mean nothing in the plan, where they are not among the words left over."""
        for start, end in bound.unbound:
            if (said := self.question.text[start:end]) and said not in left:
                yield said

    def _ask(self) -> Ask:
        asking = self.question.cues.asking
        return "how many" if asking is not None and asking.ask == "how many" else "which"

    def _text_plan(self, whole: str) -> Plan:
        """Return the plan that leaves the question to text: no anchor, `no_trade`, the answer type if it is clear."""
        read = self.question
        fit = answer_types(read.without(tuple(range(len(read.names)))), self.knowledge.lexicon)
        labels = tuple(
            node_type.name
            for code, node_type in enumerate(self.knowledge.schema.node_types)
            if fit[code] >= 1.0 and code in self.knowledge.answerable
        )
        return Plan(target=Target("T", labels, whole.strip()), risk_level="no_trade")
