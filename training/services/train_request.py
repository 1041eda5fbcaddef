"""train_request: what is trained by a training of everything, and which questions judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings as site

from search.domain.errors import Fault, InvalidRequest, pointer
from search.domain.run_context import RunContext
from training import wiring
from training.data.examples import Example
from training.data.splits import TRAIN, VAL, refuse_splits
from training.models import QuestionSet
from training.services.find_release import find_release
from training.services.synthesise import synthesised_questions
from training.services.train_documents import learns_documents
from training.services.train_parts import LEARN, TrainPart, parts_of_pipeline

JUDGED = 1_000
"""Most questions by which a part is judged, evenly spaced over all."""
FEW, JUDGING_SEED = 300, 20_263
"""Number and seed of the synthesised questions that judge where nobody has asked any."""
TRIAL_FOLDS = 5
"""A learner without models of folds is tried on all but one of so many parts of the questions."""


@dataclass(frozen=True)
class TrainRequest:
    """What is trained for which knowledge base, from which questions, and how."""

    knowledge_base: str
    examples: Sequence[Example]
    pipeline: str = ""
    learners: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the learners, as `{"learner.setting": value}`."""
    allow_val: bool = False
    judged: int = JUDGED
    question_set: QuestionSet | None = None
    release: str = ""
    synthesised: int = 0
    """Questions that each learner makes of the knowledge base and learns from too."""

    @property
    def named_pipeline(self) -> str:
        """The pipeline; the site's default if none is named."""
        return self.pipeline or str(site.GRASP_DEFAULT_PIPELINE)

    @property
    def asked(self) -> str:
        """The questions that judge, in words."""
        return "held-out questions" if self.examples else "synthesised questions of another seed"

    def parts(self) -> list[TrainPart]:
        """Return what is trained and tuned, in order. Raises InvalidRequest."""
        return parts_of_pipeline(self.named_pipeline, self.learners)

    def check(self) -> None:
        """Raise InvalidRequest for unknown names and settings, BadQuestions for questions of other splits."""
        refuse_splits(self.examples, "Training", (TRAIN, VAL) if self.allow_val else (TRAIN,))
        parts = self.parts()
        trained = [part.of for part in parts if part.how == LEARN]
        others = {key.partition(".")[0]: key for key in self.settings}
        faults = [
            Fault(pointer("settings", key), f"{key[:80]!r} is of no learner that is trained: {', '.join(trained)}.")
            for learner, key in others.items() if learner not in trained
        ]  # fmt: skip
        if faults:
            raise InvalidRequest(faults)
        for learner in trained:
            settings = wiring.checked_settings(learner, self.settings_of(learner))
            if learns_documents(settings):
                message = "A new encoder makes another release; train it by itself first (`train retriever`)."
                raise InvalidRequest([Fault(pointer("settings", f"{learner}.documents"), message)])

    def settings_of(self, learner: str) -> dict[str, Any]:
        """Return the settings of one learner by name."""
        start = f"{learner}."
        return {key.removeprefix(start): value for key, value in self.settings.items() if key.startswith(start)}


def judging(request: TrainRequest, run: RunContext) -> list[Example]:
    """Return the questions that judge: those of people or, where there are none, synthesised ones of another seed.

    A synthesised question that a learner has made too is not fair to it, so it is left out of the comparison.
    """
    if request.examples:
        return sample(request.examples, request.judged)
    release = find_release(request.knowledge_base, request.release)
    silent = replace(run, progress=lambda part, done, total: run.check())
    return list(synthesised_questions(release, min(request.judged, FEW), JUDGING_SEED, silent).examples)


def sample(examples: Sequence[Example], most: int) -> list[Example]:
    """Return at most `most` questions, evenly spaced over all."""
    step = max(1.0, len(examples) / most)
    return [examples[int(place * step)] for place in range(min(len(examples), most))]
