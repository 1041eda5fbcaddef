"""report.json: measures with intervals, coverage, latency and slices of each pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.data.examples import Example
from training.evaluation.calibration import calibration, wilson
from training.evaluation.cost import cost_of_a_question
from training.evaluation.judged import judged_part
from training.evaluation.lost import in_flow
from training.evaluation.measures import SEED, Values, intervals, means, measure
from training.evaluation.runner import QuestionOutcome

MOST_SURE = 50
"""Most wrong first answers, called almost surely right, whose questions a report lists."""
MOST_SLICES = 50
"""Most values of a slice key. A key with more values identifies questions instead of grouping them, and is left out."""


def describe_pipeline(
    examples: Sequence[Example],
    outcomes: Mapping[str, QuestionOutcome],
    specification: Mapping[str, Any],
    *,
    values: Values | None = None,
    answer_types: Mapping[str, str] | None = None,
    seed: int = SEED,
) -> dict[str, Any]:
    """Return one pipeline's part of the report. Percentages are over all questions, failed ones too.

    `outcomes` and `answer_types` are by question's id. `values` are the measures of each question in the order of the
    examples; None means that they are computed here.
    """
    values = measured(examples, outcomes) if values is None else values
    states = Counter(outcome.state for outcome in outcomes.values())
    lost = Counter(outcome.lost_at for outcome in outcomes.values() if outcome.lost_at)
    return {
        "specification": dict(specification),
        "answered": states["answered"],
        "empty": states["empty"],
        "errors": states["error"],
        "metrics": means(values),
        "intervals": intervals(values, seed=seed),
        "latency_ms": latency(outcomes.values()),
        "calibration": _calibration(examples, outcomes),
        "sure": _sure(examples, outcomes),
        "a_question": cost_of_a_question(outcomes.values()),
        "cached_model_calls": sum(outcome.cached_calls for outcome in outcomes.values()),
        "slices": _slices(_groups(examples, outcomes, answer_types or {}), values),
        "lost_at": in_flow(lost) or None,
        "judged": judged_part(examples, outcomes, seed),
    }


def measured(examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome]) -> Values:
    """Return each measure's value in percent for every question, in the order of the examples."""
    rankings = {example.id: [node for node, _ in outcomes[example.id].ranking] for example in examples}
    return measure(rankings, {example.id: example.answers for example in examples})


def latency(outcomes: Iterable[QuestionOutcome]) -> dict[str, Any]:
    """Return percentiles, in milliseconds, of whole searches and, by role, of the stages that they ran."""
    done = [outcome for outcome in outcomes if not outcome.error]
    stages: dict[str, list[float]] = {}
    for outcome in done:
        for role, seconds in outcome.stages.items():
            stages.setdefault(role, []).append(seconds)
    whole: dict[str, Any] = _percentiles([outcome.seconds for outcome in done])
    return whole | {"stages": {role: _percentiles(seconds) for role, seconds in stages.items()}}


def _percentiles(seconds: Sequence[float]) -> dict[str, float | None]:
    """Return p50 and p95 in milliseconds."""
    if not seconds:
        return {"p50": None, "p95": None}
    low, high = np.percentile([1000 * one for one in seconds], [50, 95])
    return {"p50": round(float(low), 2), "p95": round(float(high), 2)}


def _calibration(examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome]) -> dict[str, Any] | None:
    """Return the calibration of the shown probability against whether the first result is an answer.

    Questions without one, such as those that a plan leaves to text without a trained ranker, take no part.
    """
    given, right = [], []
    for example in examples:
        outcome = outcomes[example.id]
        if outcome.probability is not None:
            given.append(outcome.probability)
            right.append(_right(example, outcome))
    return calibration(given, right, "right")


def _sure(examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome]) -> dict[str, Any] | None:
    """Return how many questions had a plan that pages call almost surely right, and how many of them a wrong answer.

    `per_100` is the number of wrong ones of 100 questions asked, with its 95% interval; `first` holds the ids of the
    first wrong ones. None if no outcome says whether its plan led.
    """
    if all(outcome.leads is None for outcome in outcomes.values()):
        return None
    sure = [example for example in examples if outcomes[example.id].leads]
    wrong = [example.id for example in sure if not _right(example, outcomes[example.id])]
    asked = max(1, len(examples))
    low, high = wilson(len(wrong), len(examples))
    return {
        "questions": len(sure), "wrong": len(wrong), "per_100": round(100 * len(wrong) / asked, 2),
        "interval": [round(100 * low, 2), round(100 * high, 2)], "first": wrong[:MOST_SURE],
    }  # fmt: skip


def _right(example: Example, outcome: QuestionOutcome) -> bool:
    return bool(outcome.ranking) and outcome.ranking[0][0] in example.answers


def _groups(
    examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome], answer_types: Mapping[str, str]
) -> dict[str, list[str | None]]:
    """Return the value of each question by slice key, in the order of the examples; None when it has no value.

    The keys are those of the questions, `answer_type` and `plan_shape`. A question's own key of one of these two names
    is kept instead.
    """
    computed: dict[str, list[str | None]] = {
        "answer_type": [answer_types.get(example.id) or None for example in examples],
        "plan_shape": [outcomes[example.id].plan_shape or None for example in examples],
    }
    own = sorted({key for example in examples for key in example.slices})
    return {name: values for name, values in computed.items() if any(values)} | {
        key: [example.slices.get(key) for example in examples] for key in own
    }


def _hits_interval(hits: NDArray[np.float64]) -> list[float]:
    """Return the 95% interval of H@1 in percent. Slices may be small, where a bootstrap would be too sure."""
    low, high = wilson(float(hits.sum()) / 100, len(hits))
    return [round(100 * low, 2), round(100 * high, 2)]


def _slices(groups: Mapping[str, Sequence[str | None]], values: Values) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for key, of_question in groups.items():
        members: dict[str, list[int]] = {}
        for place, value in enumerate(of_question):
            if value is not None:
                members.setdefault(value, []).append(place)
        if len(members) <= MOST_SLICES:
            found[key] = {
                value: {
                    "questions": len(places),
                    "metrics": means({name: column[places] for name, column in values.items()}),
                    "intervals": {"H@1": _hits_interval(values["H@1"][places])},
                }
                for value, places in sorted(members.items())
            }
    return found
