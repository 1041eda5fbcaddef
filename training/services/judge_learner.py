"""judge_learner: train a learner, and judge it on whole searches of held-out questions, with everything else in use.

Every question is searched without and with the new part. A learner that keeps models of folds is judged on all of its
questions, each searched with the model that has not learned from it. Another one is tried on a part of the questions
first, and judged on the rest. A paired test decides (`training.evaluation.verdict`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search import wiring as search_wiring
from search.domain.run_context import RunContext
from search.models import PipelineVersion
from training import wiring
from training.data.examples import Example
from training.data.hashes import question_hash
from training.evaluation.verdict import ComparisonVerdict, not_on
from training.learning.folds import folds_of, patterns_of
from training.services.find_release import find_release
from training.services.judge_version import JudgedVersion, compare, judge_version
from training.services.train_request import JUDGING_SEED, TRIAL_FOLDS, TrainRequest, judging

ONLY_MADE_ONES = (
    "an order of results that synthesised questions alone have taught gained nothing on questions that people asked; "
    "it can be promoted by hand"
)
TRIAL, JUDGING = "trial", "judging"
"""Names of the parts of the work: learning from a part of the questions, and the searches that judge."""

Make = Callable[[TrainRequest, RunContext], tuple[PipelineVersion, dict[str, Any]]]
"""Trains from the questions of a request, and returns the version, which is not active, and the report."""


@dataclass(frozen=True, eq=False)
class JudgedLearner:
    """What was learned, what the report says of it, and the verdict. `after` are the measures with it.

    After a `trial`, what is in use has learned from all questions, so `after` does not measure it.
    """

    version: PipelineVersion
    report: dict[str, Any]
    verdict: ComparisonVerdict
    after: JudgedVersion | None
    trial: bool = False


def judge_learner(
    request: TrainRequest, learner: str, before: JudgedVersion, make: Make, run: RunContext
) -> JudgedLearner:
    """Train a learner with `make` and compare the version with the one that `before` measures, on `judging(request)`.

    Raises the exceptions of `make` and of `judge_version`.
    """
    if request.examples and not wiring.fold_option(learner):
        return _tried_out(request, before, make, run)
    version, report = make(request, run)
    after = judged(request, version, judging(request, run), run.part(JUDGING))
    verdict = compare(before, after, request.asked)
    if verdict.better and not request.examples and wiring.learns_from_searches(learner):
        verdict = verdict.refused(ONLY_MADE_ONES)
    return JudgedLearner(version, report, verdict, after)


def judged(
    request: TrainRequest, version: PipelineVersion | None, examples: list[Example], run: RunContext
) -> JudgedVersion:
    """Return the measures of a version (None: the site's) on these questions."""
    return judge_version(
        knowledge_base=request.knowledge_base, pipeline=request.named_pipeline, version=version, examples=examples,
        release=request.release, question_set=request.question_set, run=run,
    )  # fmt: skip


def held_back(request: TrainRequest) -> NDArray[np.bool_]:
    """Return for each question of a request whether a trial keeps it back; a pattern of questions is kept together."""
    texts = [example.text for example in request.examples]
    mentions = search_wiring.tools(find_release(request.knowledge_base, request.release)).mentions
    return folds_of(texts, TRIAL_FOLDS, JUDGING_SEED, patterns_of(texts, mentions)) == 0


def _tried_out(request: TrainRequest, before: JudgedVersion, make: Make, run: RunContext) -> JudgedLearner:
    """Learn from a part of the questions, judge by the rest, and learn from all if that is right."""
    back = held_back(request)
    learned = [one for one, held in zip(request.examples, back, strict=True) if not held]
    held = {question_hash(one) for one, held in zip(request.examples, back, strict=True) if held}
    asked = judging(request, run)
    places = np.array([at for at, one in enumerate(asked) if question_hash(one) in held], dtype=np.intp)
    version, report = make(replace(request, examples=learned), run.part(TRIAL))
    if not len(places):
        verdict = ComparisonVerdict(False, not_on("no question is left to judge it by"), 0, {}, {}, ())
        return JudgedLearner(version, report, verdict, None, trial=True)
    after = judged(request, version, [asked[at] for at in places], run.part(JUDGING))
    verdict = compare(before.at(places), after, f"{request.asked} of {len(asked):,}")
    if verdict.better:
        version, report = make(request, run)
    return JudgedLearner(version, report, verdict, after, trial=True)
