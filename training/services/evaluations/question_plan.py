"""question_plan: which question of an evaluation is asked of which specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.domain.errors import StageError
from search.services.searches.pin import Pin
from training.data.examples import Example
from training.models import Evaluation
from training.services.cross_fitting import CrossFitted
from training.services.cross_fitting import cross_fitted as cross_fitting
from training.services.evaluations.ask import EvaluationTask, Unbuilt
from training.services.evaluations.rows import read_examples


@dataclass(frozen=True)
class QuestionPlan:
    """What an evaluation has to ask: the examples, the pins of each label, and the pins that searches use."""

    examples: Sequence[Example]
    pins: Mapping[str, Pin]
    crossed: Mapping[str, CrossFitted]
    used: list[Pin]
    pin_of: Mapping[tuple[str, int], int]
    attribute: bool

    def tasks(self, label: str, places: Sequence[int], *, again: bool = False) -> list[EvaluationTask]:
        """Return the tasks of a label; questions with the same pin follow each other, so its files are loaded once.

        Where answers were lost is not found out `again`.
        """
        lost = self.attribute and not again
        found = [
            EvaluationTask(label, place, self.pin_of[label, place], one.text, one.id, one.answers if lost else ())
            for place, one in ((place, self.examples[place]) for place in places)
        ]
        return sorted(found, key=lambda task: task.pin)


def question_plan(evaluation: Evaluation, pins: Mapping[str, Pin]) -> QuestionPlan:
    """Return the plan of an evaluation; a question may have a pin fitted without it, if the evaluation asks so."""
    examples = read_examples(evaluation)
    crossing = bool(evaluation.options.get("cross_fitted"))
    crossed = {label: cross_fitting(pin, examples if crossing else ()) for label, pin in pins.items()}
    used: list[Pin] = list(pins.values())
    pin_of: dict[tuple[str, int], int] = {}
    for at, (label, pin) in enumerate(pins.items()):
        places: dict[str, int] = {pin.specification_hash: at}
        for place in range(len(examples)):
            own = crossed[label].pins[place] if crossing else None
            if own is not None and own.specification_hash not in places:
                places[own.specification_hash] = len(used)
                used.append(own)
            pin_of[label, place] = places[(own or pin).specification_hash]
    return QuestionPlan(examples, pins, crossed, used, pin_of, bool(evaluation.options.get("attribute")))


def buildable(evaluation: Evaluation, plan: QuestionPlan, unbuilt: Unbuilt) -> dict[str, Pin]:
    """Return the pins by label without those that cannot be built, whose reasons are noted with the evaluation.

    Raises StageError if none is left, or if the evaluation is not `partial` and one is missing.
    """
    reasons: dict[str, str] = {}
    for (label, _), at in plan.pin_of.items():
        if at in unbuilt:
            stage, reason, permanent = unbuilt[at]
            reasons[label] = f"{stage}: {reason}"
            if not evaluation.options.get("partial") or len(plan.pins) == 1:
                raise StageError(stage, reason, permanent=permanent)
    built = {label: pin for label, pin in plan.pins.items() if label not in reasons}
    if not built:
        raise StageError("evaluation", " ".join(f"{label}: {why}." for label, why in reasons.items()), permanent=True)
    # A pipeline that could not be built when the evaluation was interrupted may be there when it goes on.
    before = {name: why for name, why in evaluation.options.get("left_out", {}).items() if name not in plan.pins}
    evaluation.options["left_out"] = before | reasons
    return built
