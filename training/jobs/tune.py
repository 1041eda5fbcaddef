"""tune: choose how two lists are fused, the graph's and the text's or the reranker's and theirs, on questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.conf import settings

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import PIPELINE, JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from search.services.searches.pin import pins_as_json
from search.services.searches.pin_searches import pin_searches
from training.data.splits import TRAIN, VAL, refuse_split, refuse_splits
from training.jobs.questions import chosen, pointed, question_faults
from training.jobs.units import LEARNING
from training.services.tune import PARTS, tune
from training.services.tuned_lists import PARTS as FUSIONS
from training.services.tuned_lists import STAGE_2, check_tunable

PLACES = {"/pipeline": "/arguments/pipeline"}


@dataclass(frozen=True)
class TuneJob(JobKind):
    """Chooses the weights of fusion (Kind); what has been searched is not searched again after an interruption."""

    units: ClassVar[Mapping[str, str]] = LEARNING
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release", "question_set")
    makes: ClassVar[str] = "pipeline_version"

    pipeline: str = argument("", "The pipeline; the site's default if empty.", pick=PIPELINE)
    part: str = argument(
        STAGE_2,
        "Which fusion: that of the graph's list with the text's, or the final one, of the reranker's list with that.",
        choices=FUSIONS,
    )
    split: str = argument(
        VAL, "The split whose questions decide; without one, all questions do.", choices=(TRAIN, VAL, "")
    )
    limit: int = argument(0, "Number of questions, taken at even distances; 0 means all.", low=0, high=10_000_000)
    activate: bool = argument(True, "Use the new version for searches at once, if there is one.")

    def parts(self) -> Mapping[str, float]:
        """Return the searches, and the choice of the weights."""
        searches, weights = PARTS
        return {searches: 60.0, weights: 10.0}

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a pipeline that has no weights to choose, and questions that may not be used for it."""
        faults: list[Fault] = []
        try:
            check_tunable(self._pipeline(), self.part)
        except InvalidRequest as error:
            faults += pointed(error.faults, PLACES)
        with question_faults(faults):
            _, examples = chosen(target, self.split, self.limit)
            refuse_split(self.split or None, "Tuning", (TRAIN, VAL))
            refuse_splits(examples, "Tuning", (TRAIN, VAL))
        return faults

    def freeze(self, target: JobTarget) -> Mapping[str, Any]:
        """Return the specification, so that another version of the pipeline does not change what is tuned."""
        try:
            pins = pin_searches(
                knowledge_base=target.knowledge_base, pipelines=[self._pipeline()], settings={}, release=target.release
            )
            return {"pins": pins_as_json(pins)}
        except InvalidRequest:
            # The work of a command says itself what it refuses.
            return {}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Choose, and return the report."""
        question_set, examples = chosen(target, self.split, self.limit)
        return tune(
            knowledge_base=target.knowledge_base, examples=examples, split=self.split or None,
            pipeline=self._pipeline(), activate=self.activate, run=run, question_set=question_set,
            pinned=target.frozen.get("pins", ()), part=self.part,
        )  # fmt: skip

    def _pipeline(self) -> str:
        return self.pipeline or settings.GRASP_DEFAULT_PIPELINE
