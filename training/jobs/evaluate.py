"""evaluate: ask the questions of a set of one or more pipelines, and make the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import SPLIT, VERSION, JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from search.services.searches.pin import Pin, pins_as_json
from search.services.searches.pin_searches import pin_searches
from training.data.examples import BadQuestions
from training.evaluation.measures import SEED
from training.jobs.questions import chosen, pointed, question_faults
from training.jobs.units import ASKING
from training.services.evaluate import REPEATED, evaluate, expected_parts
from training.services.evaluations.choose_pipelines import choose_pipelines

USUAL_QUESTIONS = 200
PLACES = {"/settings": "/arguments/settings", "/pipeline": "/arguments/pipelines"}


@dataclass(frozen=True)
class EvaluateJob(JobKind):
    """Tests each pipeline on all questions (Kind); after an interruption it goes on with those that are left."""

    units: ClassVar[Mapping[str, str]] = ASKING
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release", "question_set")

    pipelines: tuple[str, ...] = argument(
        (),
        "All that this site can run if none is named. The API takes versions and settings too: grasp@2 fuse.k=5.",
        pick=VERSION,
    )
    split: str = argument("", "Only the questions of this split.", pick=SPLIT)
    limit: int = argument(0, "Number of questions, taken at even distances; 0 means all.", low=0, high=10_000_000)
    settings: dict[str, Any] = argument({}, 'Settings of the pipelines, such as {"fuse.k": 5}.')
    cross_fitted: bool = argument(
        False, "Search the planner's training questions with a scorer that has not learned from them."
    )
    seed: int = argument(SEED, "Of the intervals, the tests and the repeated sample.", low=0, high=2**31 - 1)
    repeated: int = argument(REPEATED, "Questions of each pipeline that are asked a second time.", low=0, high=100_000)
    processes: int = argument(0, "Processes that ask at once; 0 means as many as are worth it.", low=0, high=64)
    attribute: bool = argument(True, "Find out at which stage the answers were lost that were not found.")
    output: str = argument("", "Folder for the report and the files in TREC's formats; nothing is written if empty.")

    def parts(self) -> Mapping[str, float]:
        """Return a part for each pipeline, and those that ask some questions again."""
        return expected_parts(self._pipelines(), USUAL_QUESTIONS, self.repeated)

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the parts with their sizes, from the number of questions."""
        try:
            _, examples = chosen(target, self.split, self.limit)
        except (InvalidRequest, BadQuestions):
            return self.parts()
        return expected_parts(self._pipelines(), len(examples), self.repeated)

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse pipelines and settings that there are not, and a set without questions of the split."""
        faults: list[Fault] = []
        try:
            self._pins(target)
        except InvalidRequest as error:
            faults += pointed(error.faults, PLACES)
        with question_faults(faults):
            chosen(target, self.split, self.limit)
        if self.output and not Path(self.output).is_absolute():
            faults.append(Fault("/arguments/output", f"output is the full path of a folder, not {self.output[:80]!r}."))
        return faults

    def freeze(self, target: JobTarget) -> Mapping[str, Any]:
        """Return the specifications, so that another version of a pipeline does not change what is evaluated."""
        try:
            return {"pins": pins_as_json(self._pins(target))}
        except InvalidRequest:
            # The work of a command says itself what it refuses.
            return {}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Ask, and return the report."""
        question_set, examples = chosen(target, self.split, self.limit)
        return evaluate(
            knowledge_base=target.knowledge_base, examples=examples, split=self.split or None,
            pipelines=self._pipelines(), settings=self.settings, output=Path(self.output) if self.output else None,
            run=run, question_set=question_set, cross_fitted=self.cross_fitted, release=target.release,
            seed=self.seed, repeated=self.repeated, processes=self.processes, attribute=self.attribute,
            pinned=target.frozen.get("pins", ()), partial=True, left_out=choose_pipelines(self.pipelines).left_out,
        )  # fmt: skip

    def _pins(self, target: JobTarget) -> dict[str, Pin]:
        return pin_searches(
            knowledge_base=target.knowledge_base, pipelines=self._pipelines(), settings=self.settings,
            release=target.release,
        )  # fmt: skip

    def _pipelines(self) -> list[str]:
        return list(choose_pipelines(self.pipelines).names)
