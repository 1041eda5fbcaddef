"""The changed plans of a follow-up beside the plans of its words alone, in one list."""

from __future__ import annotations

from dataclasses import dataclass, replace

from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.interfaces import PlanStage

_LEAST = 0.02
"""Least probability of a question of its own for which it is planned; below it, its plans would change no result."""


@dataclass(frozen=True)
class BesideChanges:
    """A planner that also lists the changed plans of a follow-up; for any other question it is the planner alone."""

    planner: PlanStage

    @property
    def backend(self) -> str:
        """The name of the planner's engine, if it has one."""
        return str(getattr(self.planner, "backend", ""))

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return the plans, best first.

        A follow-up that may be a question of its own is planned from its own words; these plans have the probability
        of that reading together, and the changed plans have the rest. Raises the errors of the planner.
        """
        reading = question.reading
        if reading is None or not reading.plans:
            return self.planner(question, limit)
        if reading.anew < _LEAST:
            return StepOutput(reading.plans, reading.detail)
        listed = self.planner(replace(question, text=reading.words), limit)
        changed = [replace(one, probability=(1 - reading.anew) * one.probability) for one in reading.plans]
        anew = [replace(one, probability=reading.anew * one.probability) for one in listed]
        return StepOutput(
            sorted([*changed, *anew], key=lambda one: -one.probability),
            " ".join(filter(None, [reading.detail, getattr(listed, "detail", "")])),
            getattr(listed, "status", "ok"),
        )
