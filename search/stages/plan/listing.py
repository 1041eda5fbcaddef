"""Scored candidates → plans with probabilities: readings are tried on the graph, then one softmax compares all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from search.domain.plan import Ask, Plan, PlanSource, ScoredPlan, Target
from search.domain.trace import StepOutput
from search.stages.plan.conditions import Bound
from search.stages.plan.conditions.paths import unsupported
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge.target import answer_types, asks_for_thing, head_words
from search.stages.plan.meaning import Meaning
from search.stages.plan.nothing import Nothing
from search.stages.plan.readings import APART, Readings
from search.stages.plan.risk import level
from search.stages.plan.scoring.calibrate import Grounds, calibrated, untrained
from search.stages.plan.scoring.risk import (
    explained,
    sure_names_left,
    text_of,
    unknown_names,
    unsaid_names,
    unsaid_topics,
)
from search.stages.plan.scoring.score import Scored

_UNSURE = 0.5
"""How surely a plan says what a number does, if it counts and words are left over (*authors of more than two papers
about parsing*), or if no condition expresses the number."""
_TRIED = 12
"""Largest number of plans with conditions that are tried on the graph."""


@dataclass(frozen=True)
class Lister:
    """Makes the list of plans of one question.

    `says` tells whether any text of the knowledge base has a word, `described` what *something* means (`described.py`).
    """

    readings: Readings
    source: PlanSource
    says: Callable[[str], bool]
    described: Callable[[], tuple[str, ...]] = tuple
    _nothing: dict[Meaning, bool] = field(default_factory=dict, init=False)

    def __call__(
        self, best: Sequence[tuple[PlanCandidate, float]], scored: Scored, whole: str, most: int, least: float,
        temperature: float,
    ) -> StepOutput[ScoredPlan]:  # fmt: skip
        """Return at most `most` plans, best first; those less probable than `least` are left out, except the best.

        `whole` is the text of the question. The detail names the numbers of the question that are not filters of the
        best plan, and why.
        """
        meanings = sorted(self.readings.of(best, scored), key=lambda one: -one.total)
        nothing = Nothing(self.readings, self._finds_nothing).of(meanings)
        kept = self._that_find(meanings, most)
        if nothing is not None:
            kept = [nothing, *(one for one in kept if one.total < nothing.total)]
        sums = np.array([one.total for one in kept]) / temperature
        shares = np.exp(sums - sums[0])
        shares /= shares.sum()
        believed = int((shares >= min(least, shares[0])).sum())
        shares = shares[:believed] / shares[:believed].sum()
        if kept[0].is_whether or nothing is not None:
            # That the best walk reaches nothing is an answer, which another walk must not undo.
            shares = shares[:1]
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

    def of_walk(self, candidate: PlanCandidate) -> tuple[Plan, float]:
        """Return the likeliest plan of a candidate that finds a node, with the question's conditions.

        The second value is the share of the question's words that this plan explains, in [0, 1].
        """
        walk, *others = self.readings.of_walk(candidate)
        found = (one for one in sorted(others, key=lambda one: -one.total) if one.total > walk.total)
        meant = next((one for one in found if not one.limits.unmet and not self._finds_nothing(one)), walk)
        share = explained(self.readings.question, candidate.mentions, self.readings.left(meant))
        return self._plan(meant, 1.0, 0.0, ""), share

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
            return Grounds(share, rival, text=True, unknown=len(unsaid_names(self.readings.question, self.says)))
        read, left = self.readings.question, self.readings.left(meaning)
        conditions = meaning.bound.conditions
        used = {*meaning.candidate.mentions, *(at for condition in conditions for at in condition.names)}
        return Grounds(
            share,
            rival,
            explained(read, meaning.candidate.mentions, left),
            # That names end with a word does not show that all that are meant bear it.
            len(left) + read.of_its_head,
            float(min((read.names[at].sure for at in used), default=1.0)),
            len(meaning.bound.unbound) + len(meaning.bound.unsaid),
            float(min((condition.score for condition in conditions), default=1.0)),
            sum(len(path.steps) for path in meaning.candidate.paths),
            unknown=len(unknown_names(read, sorted(used), left))
            + len(unsaid_topics(read, left, self.says))
            + self._lacks_field(meaning)
            # What must not be is found first by its words, if no condition leaves it out.
            + any((one.start, one.end) in meaning.bound.unbound for one in read.turnings)
            + len(sure_names_left(read, sorted(used), left, self.readings.knowledge.lexicon)),
            meant=self._meant(meaning),
            unsaid=self.readings.strays(meaning.candidate)
            or self.readings.is_ambiguous(meaning.candidate)
            or unsupported(read, self.readings.knowledge, meaning.candidate),
            unused=len(self.readings.unused(meaning)),
        )

    def _lacks_field(self, meaning: Meaning) -> bool:
        """Whether a question asks for a property (*how expensive is X*) that a reading does not give.

        It gives one by a field that it shows, or by the type of its answers: a year says when.
        """
        asked, candidate = self.readings.question.cues.field, meaning.candidate
        lexicon = self.readings.knowledge.lexicon
        if asked is None or candidate is None or any(one.show for one in meaning.bound.conditions):
            return False
        own = tuple(lexicon.relations + code for code in candidate.types)
        return not any(lexicon.explains(own, word) for word in asked.scale)

    def _meant(self, meaning: Meaning) -> float:
        """Return how surely the numbers of a reading are meant so, where no other reading stands for the doubt.

        A number of which nothing is said may mean another field, one that no condition expresses is not met by all that
        is found, and words left over may say which nodes are counted. So is yes, where it is said of a kind of what is
        asked for.
        """
        counts = any(one.count for one in meaning.filters) and self.readings.left(meaning)
        kinds = any(one.of_kinds for one in meaning.bound.conditions)
        return meaning.limits.fit * (_UNSURE if counts or kinds or meaning.bound.unsaid else 1.0)

    def _that_find(self, meanings: Sequence[Meaning], most: int) -> list[Meaning]:
        """Return the first readings that find at least one node, at most `most`."""
        found: list[Meaning] = []
        tried = 0
        for meaning in meanings:
            tried += meaning.selects
            # Numbers that fit nothing, or of which that is not known, are filters only where nothing is the answer.
            # What asks for yes or no has an answer even then.
            fails = not meaning.is_whether and self._finds_nothing(meaning)
            if meaning.limits.unmet or (meaning.selects and tried > _TRIED) or fails:
                continue
            found.append(meaning)
            if len(found) == most:
                break
        if all(one.candidate is not None for one in found):
            found += [one for one in meanings if one.candidate is None and one.total > meanings[0].total - APART]
        return found

    def _finds_nothing(self, meaning: Meaning) -> bool:
        """Whether no node meets a reading. What the engine could not look through counts as found."""
        if meaning.is_apart:
            return True
        if not meaning.selects or self.readings.graph is None:
            return False
        if (known := self._nothing.get(meaning)) is None:
            plan = replace(self._plan(meaning, 1.0, 0.0, ""), order=None)
            known = self._nothing[meaning] = self.readings.fits(plan)(plan.filters) == "none"
        return known

    def _plan(self, meaning: Meaning, probability: float, rival: float, whole: str) -> Plan:
        candidate = meaning.candidate
        if candidate is None:
            return self._text_plan(whole)
        read, bound, left = self.readings.question, meaning.bound, self.readings.left(meaning)
        # The probability of a trained planner already includes how many of the answers the graph gives.
        share = explained(read, candidate.mentions, left)
        risk = level(probability, rival, share)
        if bound.unbound and risk in ("normal", "aggressive"):
            risk = "weak"
        text = " ".join(filter(None, [text_of(read, left), *self._unread(bound, text_of(read, left))]))
        plan = self.readings.writer.plan(candidate, read.names, text, risk)
        conditions = bound.conditions
        order = next((condition.order for condition in conditions if condition.order is not None), None)
        if order is not None and left:
            # The first of all are not the first of those whose documents say the words left over.
            order = replace(order, limit=None)
        return replace(
            plan,
            anchors=(*plan.anchors, *(one for condition in conditions for one in condition.anchors)),
            hops=(*plan.hops, *(one for condition in conditions for one in condition.hops)),
            filters=meaning.filters,
            show=next((condition.show for condition in conditions if condition.show), ""),
            exclude=tuple(one for condition in conditions for one in condition.exclude),
            order=order,
            ask=self._ask(meaning, text),
        )

    def _unread(self, bound: Bound, left: str) -> Iterator[str]:
        """Yield the words of the cues that mean nothing in the plan, where they are not among the words left over."""
        for start, end in bound.unbound:
            if (said := self.readings.question.text[start:end]) and said not in left:
                yield said

    def _ask(self, meaning: Meaning, left: str) -> Ask:
        """Return what a plan asks for; whether there is any only if it says everything that an answer must be."""
        asking = self.readings.question.cues.asking
        if meaning.is_whether:
            return "whether"
        strays = meaning.candidate is not None and self.readings.strays(meaning.candidate)
        if asking is None or (asking.ask == "whether" and (left or strays)):
            return "which"
        return asking.ask

    def _text_plan(self, whole: str) -> Plan:
        """Return the plan that leaves the question to text: no anchor, `no_trade`, the answer type if it is clear."""
        known = self.readings.knowledge
        read = self.readings.question.without(tuple(range(len(self.readings.question.names))))
        fit, named = answer_types(read, known.lexicon), known.lexicon.names_types(head_words(read))
        labels = tuple(
            kind.name
            for code, kind in enumerate(known.schema.node_types)
            if fit[code] >= 1.0 and named[code] and code in known.answerable
        )
        if not labels and asks_for_thing(read):
            labels = self.described()
        return Plan(target=Target("T", labels, whole.strip()), risk_level="no_trade")
