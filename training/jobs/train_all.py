"""train_all: train everything that a pipeline uses, in order, and switch on what held-out questions bear out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.conf import settings as site

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import LEARNER, PIPELINE, SPLIT, JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from training import wiring
from training.data.examples import BadQuestions, Example
from training.data.splits import TRAIN
from training.jobs.questions import chosen, pointed, question_faults, splits_of
from training.jobs.train_learner import parts_of_learner, scaled
from training.jobs.units import LEARNING, QUESTIONS
from training.models import QuestionSet
from training.services.synthesise import MOST
from training.services.train import BEFORE
from training.services.train_all import train_all
from training.services.train_parts import LEARN
from training.services.train_request import JUDGED, TrainRequest
from training.services.tune import PARTS as TUNING_PARTS

ALL = "all"
NO_QUESTIONS = "Name the question set, or say how many questions are to be synthesised."
PLACES = {
    "/settings": "/arguments/settings", "/learners": "/arguments/learners", "/pipeline": "/arguments/pipeline",
}  # fmt: skip


@dataclass(frozen=True)
class TrainAllJob(JobKind):
    """Trains every part of a pipeline in order, and switches on only what has surely gained (Kind).

    Each part is judged on questions that it has not learned from, by a paired test; the result says what each part has
    gained. After an interruption it goes on where it was.
    """

    units: ClassVar[Mapping[str, str]] = {**LEARNING, "": QUESTIONS}
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release")
    optional: ClassVar[tuple[str, ...]] = ("question_set",)
    makes: ClassVar[str] = "pipeline_version"

    pipeline: str = argument("", "The pipeline; the site's default if empty.", pick=PIPELINE)
    learners: tuple[str, ...] = argument(
        (),
        "Names of the learners to train; if empty, all of the pipeline except those that take long.",
        pick=LEARNER,
    )
    split: str = argument("", f"The split to learn from; {TRAIN} if empty and the set has splits.", pick=SPLIT)
    limit: int = argument(0, "Number of questions, taken at even distances; 0 means all.", low=0, high=10_000_000)
    settings: dict[str, Any] = argument({}, "Settings of the learners, such as {'planner.epochs': 5}.")
    judged: int = argument(JUDGED, "Most questions by which a part is judged.", low=20, high=1_000_000)
    allow_val: bool = argument(
        False, "Also train on test questions (inflates scores); trained parts and reports say so."
    )
    activate: bool = argument(True, "Use the new version for searches at once, if anything is borne out.")
    synthesised: int = argument(
        0,
        "Questions made of the knowledge base to learn from, beside those of a question set or alone.",
        low=0,
        high=MOST,
    )

    @classmethod
    def hints(cls) -> Mapping[str, Sequence[str]]:
        """Name the learners, and those that are trained on request only."""
        slow = [name for name in wiring.learners() if site.GRASP_LEARNERS[name].get("ON_REQUEST")]
        told = [f"There are: {', '.join(wiring.learners())}."]
        return {"learners": [*told, f"Only if it is named: {', '.join(slow)}."] if slow else told}

    @classmethod
    def keys(cls) -> Mapping[str, Mapping[str, Any]]:
        """Describe the settings of every learner."""
        return {"settings": {
            f"{learner}.{name}": schema
            for learner in wiring.learners() for name, schema in wiring.settings_schema(learner).items()
        }}  # fmt: skip

    @classmethod
    def fewest_questions(cls) -> int:
        """Return how many questions every learner takes that is trained without being named."""
        usual = [name for name in wiring.learners() if not site.GRASP_LEARNERS[name].get("ON_REQUEST")]
        return max(map(wiring.fewest_questions, usual), default=0)

    def parts(self) -> Mapping[str, float]:
        """Return the parts of each learner's work, and the searches that judge it."""
        try:
            return parts_of_all(TrainRequest("", (), self.pipeline, self.learners, synthesised=self.synthesised))
        except InvalidRequest:
            return {}

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the parts with their sizes, from the number of questions."""
        try:
            request = self._request(target)
            return scaled(parts_of_all(request), len(request.examples) + self.synthesised)
        except (InvalidRequest, BadQuestions):
            return self.parts()

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a pipeline, learners and settings that there are not, and questions that may not be learned from."""
        faults: list[Fault] = []
        if not target.question_set and not self.synthesised:
            return [Fault("/question_set", NO_QUESTIONS)]
        with question_faults(faults):
            try:
                self._request(target).check()
            except InvalidRequest as error:
                faults += pointed(error.faults, PLACES)
        return faults

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Train, and return the report."""
        return train_all(self._request(target), activate=self.activate, run=run)

    def _request(self, target: JobTarget) -> TrainRequest:
        question_set: QuestionSet | None = None
        examples: list[Example] = []
        if target.question_set:
            question_set, examples = chosen(target, self.split or (TRAIN if splits_of(target) else ""), self.limit)
        return TrainRequest(
            target.knowledge_base, examples, self.pipeline, self.learners, self.settings, self.allow_val, self.judged,
            question_set, target.release, self.synthesised,
        )  # fmt: skip


def parts_of_all(request: TrainRequest) -> dict[str, float]:
    """Return the parts of the whole work with their shares: those of each learner or tuning, and its judging.

    Raises InvalidRequest for a pipeline or a learner that is not there.
    """
    pipeline = request.named_pipeline
    found = {f"{BEFORE}: {pipeline}": 30.0}
    for part in request.parts():
        own = parts_of_learner(part.of, request.synthesised) if part.how == LEARN else dict.fromkeys(TUNING_PARTS, 20.0)
        trials = ["", "trial: "] if part.how == LEARN and not wiring.fold_option(part.of) else [""]
        found |= {f"{part.name}: {trial}{name}": share for trial in trials for name, share in own.items()}
        found[f"{part.name}: judging: {pipeline}"] = 30.0
    return found
