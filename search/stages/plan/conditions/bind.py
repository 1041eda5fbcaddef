"""Binds all cues of a question to one candidate plan, as one or a few combinations of their meanings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from search.domain.filtering import NAME
from search.domain.plan import Filter
from search.domain.plan.parts import MAX_ANCHORS, MAX_CONDITIONS, MAX_EXCLUSIONS, MAX_HOPS
from search.domain.trace import Limit
from search.interfaces import NodeStore
from search.language.cues import DateRange, Span
from search.language.quantities import Quantity
from search.language.question import AnalysedQuestion
from search.stages.plan.conditions.among import counting_selected
from search.stages.plan.conditions.comparisons import Comparisons
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.counted import said_of_counted
from search.stages.plan.conditions.counts import Counts
from search.stages.plan.conditions.dates import dates_of
from search.stages.plan.conditions.elsewhere import Elsewhere
from search.stages.plan.conditions.exclusions import Exclusions
from search.stages.plan.conditions.fields import FieldMeanings
from search.stages.plan.conditions.having import having
from search.stages.plan.conditions.orders import Orders, graded
from search.stages.plan.conditions.shows import asks_for_field, shows_of
from search.stages.plan.conditions.values import values_of
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate
from search.stages.plan.enumeration.propose import Proposer
from search.stages.plan.write import TARGET
from search.stages.plan.years import YearFields

_VARIANTS = 4
"""Largest number of combinations of meanings for one candidate plan."""
_RIVAL = 0.6
"""A further meaning of a cue is tried if its score is at least this share of the best one's."""


_NEAR, _FAR = 2, 3
"""Hops of the walks of an exclusion: the usual ones, and the farthest."""


@dataclass(frozen=True)
class Bound:
    """A combination of conditions; `unbound` are the spans of the cues that mean nothing for the candidate plan.

    `unsaid` are those of compared numbers and dates: a text that says them is no better, but without them a plan is
    never sure.
    `score` is the sum of the scores of the conditions.
    """

    conditions: tuple[Condition, ...] = ()
    unbound: tuple[Span, ...] = ()
    unsaid: tuple[Span, ...] = ()

    @property
    def score(self) -> float:
        """Sum of the scores of the conditions."""
        return sum(condition.score for condition in self.conditions)

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the lexicon for the relations and types of the conditions."""
        return tuple(column for condition in self.conditions for column in condition.columns)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The spans of the question that the conditions express."""
        return tuple(span for condition in self.conditions for span in condition.spans)


@dataclass
class Binder:
    """Binds the cues of one question; it keeps the walks from excluded names, which all candidates share."""

    question: AnalysedQuestion
    proposer: Proposer
    nodes: NodeStore
    years: YearFields
    limit: Limit
    _walks: dict[tuple[int, int], Sequence[Branch]] = field(default_factory=dict, init=False)

    @property
    def has_cues(self) -> bool:
        """Whether the question says anything that could become a condition, numbers included."""
        asked, cues = self.question, self.question.cues
        return bool(
            cues.asking
            or asked.turnings
            or asked.superlatives
            or any(graded(asked))
            or asked.comparisons
            or asked.values
            or cues.dates
            or cues.quantities
            or asks_for_field(asked, self.proposer.knowledge)
        )

    @property
    def nothing(self) -> Bound:
        """The combination without conditions: every cue means nothing."""
        return Bound((), self._unbound(()), self._unsaid(()))

    def of(self, candidate: PlanCandidate, *, filtered: bool = False) -> list[Bound]:
        """Return the combinations of meanings for a candidate plan, best first; the first has all best meanings.

        `filtered` says that numbers of the question are filters of the plan already.
        """
        core = Core(self.question, candidate, self.proposer.knowledge)
        several = list(self._meanings(core))
        several += said_of_counted(core, [meanings for meanings in several if meanings])
        first = tuple(meanings[0] for meanings in several if meanings)
        unbound = self._unbound(first)
        combined = [first]
        for meanings in several:
            for other in meanings[1:]:
                if other.score >= _RIVAL * meanings[0].score:
                    combined.append(tuple(other if one is meanings[0] else one for one in first))
        if not candidate.branches and not first and not filtered:
            combined = [(condition,) for condition in all_of_type(core)] or combined
        counting = [_that_fit(counting_selected(_one_order(one)), candidate) for one in combined]
        bound = [Bound(one, unbound, self._unsaid(one)) for one in counting]
        return sorted(bound, key=lambda one: -one.score)[:_VARIANTS]

    def _meanings(self, core: Core) -> Iterator[list[Condition]]:
        """Yield the possible meanings of each cue, best first."""
        fields = FieldMeanings(core.knowledge, self.years)
        yield from Exclusions(self.nodes).of(core, self.walks)
        yield from Orders(fields).of(core)
        yield from Comparisons(fields, self.nodes).of(core)
        yield from values_of(core)
        yield from having(core)
        yield from dates_of(core, fields)
        yield from Counts(Orders(fields)).of(core)
        yield from Elsewhere(fields).of(core)
        yield from shows_of(core, fields)

    def walks(self, name: int, code: int) -> Sequence[Branch]:
        """Return the walks of at most two hops from a name to a type; of three where no shorter one leads there."""
        for hops in (_NEAR, _FAR):
            if (name, hops) not in self._walks:
                self._walks[name, hops] = self.proposer.walks_from(self.question, name, hops, self.limit)
            if found := [branch for branch in self._walks[name, hops] if branch.path.end == code]:
                return found
        return ()

    def _unbound(self, conditions: Sequence[Condition]) -> tuple[Span, ...]:
        """Return the spans of turning words, superlatives and comparisons that no condition expresses."""
        asked = self.question
        cues: list[Span] = [(one.start, one.end) for one in asked.turnings]
        cues += [(one.start, one.end) for one in asked.superlatives]
        cues += [(one.start, one.end) for one in asked.comparisons]
        told = {span for condition in conditions for span in condition.spans}
        left = {(asked.names[at].mention.start, asked.names[at].mention.end) for at in self._unused(conditions)}
        return tuple(span for span in [*cues, *sorted(left)] if span not in told)

    def _unsaid(self, conditions: Sequence[Condition]) -> tuple[Span, ...]:
        """Return the spans of the compared numbers and dates that no condition expresses, or not as closely as said.

        Where a condition leads to nodes over the relation that another one counts, the number is not expressed either:
        it is said of these nodes alone.
        """
        cues = self.question.cues
        compared: list[Quantity | DateRange] = [*(one for one in cues.quantities if one.op != "="), *cues.dates]
        numbers = [one for one in compared if not self._in_name(one)]
        joined = {hop.rel for condition in conditions for hop in condition.hops}
        narrowed = {one.cue for one in conditions for f in one.filters if _narrowed(f, joined)}
        told = {span for condition in conditions for span in condition.spans} - narrowed
        return tuple(span for one in numbers if (span := (one.start, one.end)) not in told)

    def _in_name(self, number: Quantity | DateRange) -> bool:
        """Whether a number or date is a part of a name."""
        asked = self.question
        return any(
            role != "number" and name.mention.start < number.end and number.start < name.mention.end
            for name, role in zip(asked.names, asked.roles, strict=True)
        )

    def _unused(self, conditions: Sequence[Condition]) -> set[int]:
        """Return the excluded names that no condition uses."""
        used = {at for condition in conditions for at in condition.names}
        longest = {
            at
            for at, role in enumerate(self.question.roles)
            if role == "excluded" and not any(self.question.names[u].contains(self.question.names[at]) for u in used)
        }
        return longest - used


def _narrowed(condition: Filter, joined: Collection[str]) -> bool:
    """Whether a filter counts all nodes over one of the relations, and not only those that a condition selects."""
    return condition.count is not None and not condition.count.among and condition.count.rel in joined


def _one_order(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Return the conditions with only the best order among them: a plan has one."""
    orders = [one for one in conditions if one.order is not None]
    kept = max(orders, key=lambda one: one.score, default=None)
    return tuple(one for one in conditions if one.order is None or one is kept)


def _that_fit(conditions: Sequence[Condition], candidate: PlanCandidate) -> tuple[Condition, ...]:
    """Return the conditions that a plan has room for beside the walks of a candidate, in their order."""
    kept: list[Condition] = []
    room = {
        "filters": MAX_CONDITIONS, "exclude": MAX_EXCLUSIONS, "anchors": MAX_ANCHORS - len(candidate.branches),
        "hops": MAX_HOPS - sum(len(path.steps) for path in candidate.paths),
    }  # fmt: skip
    for one in conditions:
        needed = {part: len(getattr(one, part)) for part in room}
        if all(number <= room[part] for part, number in needed.items() if number):
            room = {part: left - needed[part] for part, left in room.items()}
            kept.append(one)
    return tuple(kept)


def all_of_type(core: Core) -> list[Condition]:
    """Return the condition that every node meets, where the question asks how many there are: every node has a name."""
    asking = core.question.cues.asking
    if asking is None or asking.ask != "how many":
        return []
    return [Condition((asking.start, asking.end), 1.0, filters=(Filter(TARGET, NAME, "exists"),))]
