"""Changed plans beside the plans of the words alone: both readings are in one list, by their probability."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from search.domain.follow_up import FollowUpReading
from search.domain.plan import Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.stages.plan.follow_up.beside import BesideChanges

CHANGED = ScoredPlan(Plan(target=Target("T", ("changed",))), "follow-up", 1.0)
OWN = ScoredPlan(Plan(target=Target("T", ("own",))), "schema", 1.0)


@dataclass
class Planned:
    """A planner that keeps the texts that it was asked."""

    asked: list[str] = field(default_factory=list)
    backend = "planned"

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        self.asked.append(question.text)
        return StepOutput([OWN], "planned", "degraded")


def listed(planner: Planned, reading: FollowUpReading | None) -> list[ScoredPlan]:
    text = reading.wording if reading else "a question"
    return BesideChanges(planner)(Question(text, reading=reading), Limit())


def test_a_question_that_follows_nothing_is_planned_as_it_is() -> None:
    planner = Planned()
    assert (listed(planner, None), planner.asked) == ([OWN], ["a question"])
    assert BesideChanges(planner).backend == "planned"


def test_words_that_are_surely_a_change_are_not_planned() -> None:
    planner = Planned()
    found = listed(planner, FollowUpReading("how many?", "the question before", (CHANGED,), 0.01, "said"))
    assert (found, planner.asked) == ([CHANGED], [])


@pytest.mark.parametrize(("anew", "first"), [(0.9, "schema"), (0.2, "follow-up")])
def test_both_readings_have_their_part_of_the_probability(anew: float, first: str) -> None:
    planner = Planned()
    found = listed(planner, FollowUpReading("words", "wording", (CHANGED,), anew, "read"))
    assert planner.asked == ["words"]
    assert {one.source: one.probability for one in found} == pytest.approx({"follow-up": 1 - anew, "schema": anew})
    assert found[0].source == first
    assert (found.detail, found.status) == ("read planned", "degraded")  # type: ignore[attr-defined]


def test_without_a_changed_plan_the_wording_is_planned() -> None:
    planner = Planned()
    assert listed(planner, FollowUpReading("and?", "before and?")) == [OWN]
    assert planner.asked == ["before and?"]
