"""learn_corrections: learn from what annotators corrected, and show what that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from training import wiring
from training.jobs.questions import pointed, question_faults
from training.jobs.units import LEARNING, QUESTIONS
from training.models import QuestionSet
from training.services.annotation.learn import OTHERS, learn_corrections, lessons
from training.services.question_sets import find_set


@dataclass(frozen=True)
class LearnCorrectionsJob(JobKind):
    """Trains a learner on the corrections beside a question set, and asks before and after (Kind)."""

    units: ClassVar[Mapping[str, str]] = {**LEARNING, "": QUESTIONS}
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release")
    optional: ClassVar[tuple[str, ...]] = ("question_set",)
    makes: ClassVar[str] = "pipeline_version"

    learner: str = argument("planner", "What learns: planner, ranker, retriever or reranker.")
    settings: dict[str, Any] = argument({}, "Settings of the learner.")
    others: int = argument(OTHERS, "Other questions that are asked before and after.", low=0, high=10_000)
    allow_val: bool = argument(False, "Learn from corrections of questions of val too; reports say so.")
    activate: bool = argument(False, "Use the new version for searches at once, whatever it changed.")

    def parts(self) -> Mapping[str, float]:
        """Return the parts: the training, then the questions asked."""
        return {"training": 60.0, "corrected": 10.0, "others": 30.0 if self.others else 0.0}

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse unknown learners and settings, and a base without a correction to learn from."""
        faults: list[Fault] = []
        try:
            wiring.checked_settings(self.learner, self.settings)
        except InvalidRequest as error:
            faults += pointed(error.faults, {"/settings": "/arguments/settings", "/kind": "/arguments/learner"})
        with question_faults(faults):
            lessons(target.knowledge_base, self._set(target), others=self.others, allow_val=self.allow_val)
        return faults

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Learn, ask, and return the report."""
        return learn_corrections(
            knowledge_base=target.knowledge_base, learner=self.learner, question_set=self._set(target),
            settings=self.settings, others=self.others, allow_val=self.allow_val, activate=self.activate,
            release=target.release, run=run,
        )  # fmt: skip

    def _set(self, target: JobTarget) -> QuestionSet | None:
        return find_set(target.knowledge_base, target.question_set) if target.question_set else None
