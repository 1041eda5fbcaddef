"""judge_version: how good a version of a pipeline is on questions that nothing in it has learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from search.domain.run_context import RunContext
from search.models import PipelineVersion
from search.services.searches.pin import PipelineChoice
from search.services.searches.pin_searches import pin_searches
from training.data.examples import Example
from training.evaluation.measures import MEASURES, Values
from training.evaluation.verdict import ComparisonVerdict, not_on, verdict
from training.models import Outcome, QuestionSet
from training.services.cross_fitting import cross_fitted
from training.services.evaluate import evaluate


@dataclass(frozen=True, eq=False)
class JudgedVersion:
    """The measures of a version, one value for each question, and the evaluation that they come from.

    `fair` says of each question whether nothing has learned from it, or only parts that have kept a model without it.
    """

    evaluation: str
    values: Values
    fair: NDArray[np.bool_]

    def at(self, places: NDArray[np.intp]) -> JudgedVersion:
        """Return the same of the questions at these places only."""
        values = {name: column[places] for name, column in self.values.items()}
        return JudgedVersion(self.evaluation, values, self.fair[places])


def judge_version(
    *, knowledge_base: str, pipeline: str, version: PipelineVersion | None, examples: Sequence[Example],
    release: str, question_set: QuestionSet | None, run: RunContext,
) -> JudgedVersion:  # fmt: skip
    """Search every question with a version (None: the site's), each with models of the folds that have not seen it.

    The searches are an evaluation with a page of its own. If `run` has begun it already, it goes on. Raises the
    exceptions of `evaluate`.
    """
    choice = PipelineChoice(pipeline, version.version if version else 0, label=pipeline)
    report = evaluate(
        knowledge_base=knowledge_base, examples=examples, split=None, pipelines=[choice], settings={}, run=run,
        question_set=question_set, cross_fitted=True, release=release, repeated=0, attribute=False,
    )  # fmt: skip
    pins = pin_searches(knowledge_base=knowledge_base, pipelines=[choice], settings={}, release=release)
    crossed = cross_fitted(pins[choice.label], examples)
    rows = Outcome.objects.filter(evaluation=UUID(report["evaluation"])).order_by("question__position")
    found = list(rows.values_list("measures", flat=True))
    values = {name: np.array([float(one[name]) for one in found]) for name in MEASURES}
    return JudgedVersion(
        report["evaluation"], values, np.array([pin is not None for pin in crossed.pins], dtype=np.bool_)
    )


def compare(before: JudgedVersion, after: JudgedVersion, asked: str = "held-out questions") -> ComparisonVerdict:
    """Compare two versions by the paired test of `verdict`, on the questions that are fair to both."""
    fair = before.fair & after.fair
    if not fair.any():
        reason = "No question is left that it has not learned from: the artifact has kept no models of its folds."
        return ComparisonVerdict(False, f"{reason} {not_on('nothing could be tested')}", 0, {}, {}, ())
    old = {name: column[fair] for name, column in before.values.items()}
    new = {name: column[fair] for name, column in after.values.items()}
    return verdict(old, new, asked)
