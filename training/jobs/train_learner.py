"""The base class of the jobs that train a learner. A kind is a subclass that names its learner and its parts.

The name of the kind in `GRASP_JOBS` is `train_` and the learner's name in `GRASP_LEARNERS`: the command `train` records
its work under it. A subclass may add arguments of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import SPLIT, JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from search.services.jobs.kinds import kind_class, kind_names
from training import wiring
from training.data.examples import BadQuestions, Example
from training.data.splits import TRAIN, VAL, refuse_splits
from training.data.synthesis import PART
from training.jobs.questions import chosen, pointed, question_faults, splits_of
from training.jobs.units import LEARNING
from training.models import QuestionSet
from training.services.judge_learner import JUDGING, TRIAL
from training.services.synthesise import MOST
from training.services.train import BEFORE, train

USUAL, FEW = 1_000, 100
"""Questions for which `shares` are about right, and the number below which a training takes no less time."""
SEARCHES = 50.0
"""Seconds in which `USUAL` questions are searched."""
MADE_A_SECOND = 300.0
"""Questions that are made of a knowledge base in a second."""
PLACES = {"/settings": "/arguments/settings", "/synthesised": "/arguments/synthesised"}


@dataclass(frozen=True)
class TrainLearnerJob(JobKind):
    """Trains a learner (Kind); it goes on from its checkpoints after an interruption."""

    units: ClassVar[Mapping[str, str]] = {**LEARNING, "": ""}
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release")
    optional: ClassVar[tuple[str, ...]] = ("question_set",)
    makes: ClassVar[str] = "pipeline_version"
    learner: ClassVar[str] = ""
    """The learner's name in `GRASP_LEARNERS`."""
    shares: ClassVar[Mapping[str, float]] = {}
    """Part → its expected share of the time. The parts are those that the learner reports by `run.progress`."""

    split: str = argument("", f"The split to learn from; {TRAIN} if empty and the set has splits.", pick=SPLIT)
    limit: int = argument(0, "Number of questions, taken at even distances; 0 means all.", low=0, high=10_000_000)
    settings: dict[str, Any] = argument({}, "Settings of the learner.")
    allow_val: bool = argument(False, "Let questions of val be learned from; the trained part and reports say so.")
    activate: bool = argument(
        True, "Use the new version for searches at once, if a paired test on held-out questions bears it out."
    )
    unproven: bool = argument(False, "Use it at once without judging it, whatever it changed.")

    synthesised: int = argument(
        0,
        "Questions made of the knowledge base to learn from, beside those of a question set or alone.",
        low=0,
        high=MOST,
    )

    @classmethod
    def keys(cls) -> Mapping[str, Mapping[str, Any]]:
        """Describe the settings of the learner."""
        return {"settings": wiring.settings_schema(cls.learner)}

    @classmethod
    def hints(cls) -> Mapping[str, Sequence[str]]:
        """Say how many synthesised questions it takes without others."""
        alone = wiring.fewest_alone(cls.learner)
        return {"synthesised": [f"Without a question set it takes {alone} at least."]} if alone else {}

    @classmethod
    def fewest_questions(cls) -> int:
        """Return how many questions the learner takes at least."""
        return wiring.fewest_questions(cls.learner)

    def takes_gpu(self) -> bool:
        """Whether the learner may be trained on a GPU."""
        return self.settings.get("device") != "cpu"

    def own_parts(self) -> Mapping[str, float]:
        """Return the parts of the learning, with the seconds that they take for `USUAL` questions."""
        return {**({PART: made_seconds(self.synthesised)} if self.synthesised else {}), **self.shares}

    def parts(self) -> Mapping[str, float]:
        """Return the parts of the work: those of the learning and, if it is judged, the searches before and after."""
        own = self.own_parts()
        if not self.activate or self.unproven:
            return own
        pipeline, _ = wiring.option_of(self.learner)
        tried = not wiring.fold_option(self.learner)
        trial = {f"{TRIAL}: {name}": seconds for name, seconds in own.items()} if tried else {}
        return {f"{BEFORE}: {pipeline}": SEARCHES, **trial, **own, f"{JUDGING}: {pipeline}": SEARCHES}

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the parts with their sizes, from the number of questions."""
        try:
            _, examples = self._questions(target)
        except (InvalidRequest, BadQuestions):
            return self.parts()
        return scaled(self.parts(), len(examples) + self.synthesised)

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse settings that the learner does not have, and questions that may not be learned from."""
        faults: list[Fault] = []
        try:
            wiring.checked_settings(self.learner, self.settings)
        except InvalidRequest as error:
            faults += pointed(error.faults, PLACES)
        if not target.question_set and not self.synthesised:
            message = "Name the question set, or say how many questions are to be synthesised."
            return [*faults, Fault("/question_set", message)]
        with question_faults(faults):
            _, examples = self._questions(target)
            refuse_splits(examples, "Training", (TRAIN, VAL) if self.allow_val else (TRAIN,))
            if not faults and (missing := wiring.too_few(self.learner, self.settings, len(examples), self.synthesised)):
                faults += pointed([missing], PLACES)
        return faults

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Train, and return the report."""
        question_set, examples = self._questions(target)
        return train(
            kind=self.learner, knowledge_base=target.knowledge_base, examples=examples, settings=self.settings,
            activate=self.activate, unproven=self.unproven, allow_val=self.allow_val, run=run,
            question_set=question_set, release=target.release, synthesised=self.synthesised,
        )  # fmt: skip

    def _questions(self, target: JobTarget) -> tuple[QuestionSet | None, list[Example]]:
        if not target.question_set:
            return None, []
        split = self.split or (TRAIN if splits_of(target) else "")
        return chosen(target, split, self.limit)


def made_seconds(number: int) -> float:
    """Return the size of making so many questions of a knowledge base."""
    return number / MADE_A_SECOND


def scaled(parts: Mapping[str, float], questions: int) -> dict[str, float]:
    """Return the parts with their sizes for this number of questions; making them has its own."""
    share = max(FEW, questions) / USUAL
    return {name: seconds if name.endswith(PART) else seconds * share for name, seconds in parts.items()}


def job_name(learner: str) -> str:
    """Return the name that the kind of job of a learner has in `GRASP_JOBS`."""
    return f"train_{learner}"


def parts_of_learner(
    learner: str, synthesised: int = 0, settings: Mapping[str, Any] | None = None, judged: bool = False
) -> dict[str, float]:
    """Return the parts of a learner's work with their shares; none for a learner without a kind of job.

    `judged` says whether the searches that judge it are among them.
    """
    name = job_name(learner)
    if name not in kind_names():
        return {}
    kind: Any = kind_class(name)
    return dict(kind(synthesised=synthesised, settings=dict(settings or {}), unproven=not judged).parts())
