"""The funnel of an evaluation: how many expected answers survive each stage of a pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from training.evaluation.lost.attribution import Attribution
from training.evaluation.lost.stages import LostStage, in_flow


@dataclass
class Funnel:
    """Sums over the attributions of one pipeline's questions.

    `questions` counts the questions without an expected answer in the first place, by the stage that lost the closest
    one: `lost_at` of a report. `answers` counts the expected answers that are not in the top `k`. `lists` counts the
    expected answers of the `examined` questions, those that have an attribution.
    """

    asked: int = 0
    examined: int = 0
    examined_answers: int = 0
    expected: int = 0
    questions: Counter[LostStage] = field(default_factory=Counter)
    answers: Counter[LostStage] = field(default_factory=Counter)
    lists: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, attribution: Attribution) -> None:
        """Add the attribution of one question."""
        self.asked += 1
        self.examined += 1
        self.expected += attribution.expected
        self.examined_answers += attribution.expected
        if attribution.not_first is not None:
            self.questions[attribution.not_first.stage] += 1
        self.answers.update(dict(attribution.lost))
        for one in attribution.lists:
            sums = self.lists.setdefault((one.name, one.role), [0, 0])
            sums[0] += one.top
            sums[1] += one.held

    def add_found(self, expected: int) -> None:
        """Add a question that lost none of its expected answers, and was therefore not examined."""
        self.asked += 1
        self.expected += expected

    @classmethod
    def of(cls, attributions: Iterable[Attribution]) -> Funnel:
        """Return the sums over these attributions."""
        funnel = cls()
        for attribution in attributions:
            funnel.add(attribution)
        return funnel

    @property
    def lost_at(self) -> dict[str, int]:
        """Stage → number of questions without an expected answer in the first place, in the order of the flow."""
        return in_flow({stage.value: number for stage, number in self.questions.items()})

    def to_json(self) -> dict[str, Any]:
        """Return the answers lost at and left after each stage, and the answers that each list contains."""
        stages, left = [], self.expected
        for stage in LostStage:
            if lost := self.answers[stage]:
                left -= lost
                stages.append({"stage": stage.value, "title": stage.heading, "lost": lost, "left": left})
        return {
            "questions": self.asked,
            "expected": self.expected,
            "stages": stages,
            "found": left,
            "examined": {"questions": self.examined, "expected": self.examined_answers},
            "lists": [
                {"name": name, "role": role, "top": top, "held": held}
                for (name, role), (top, held) in self.lists.items()
            ],
        }
