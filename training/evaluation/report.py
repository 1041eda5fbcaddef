"""report.json: measures with intervals, coverage, latency and slices of each pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from training.data.examples import Example
from training.evaluation.calibration import calibration
from training.evaluation.measures import Values, intervals, means, measure
from training.evaluation.runner import QuestionOutcome

MOST_SLICES = 50
"""Most values of a slice key. A key with more values identifies questions instead of grouping them, and is left out."""


def describe_pipeline(
    examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome], specification: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one pipeline's part of the report. Percentages are over all questions, failed ones too."""
    values = measured(examples, outcomes)
    errors = sum(1 for outcome in outcomes.values() if outcome.error)
    empty = sum(1 for outcome in outcomes.values() if not outcome.error and not outcome.ranking)
    return {
        "specification": dict(specification),
        "answered": len(outcomes) - errors - empty,
        "empty": empty,
        "errors": errors,
        "metrics": means(values),
        "intervals": intervals(values),
        "latency_ms": _latency(outcomes),
        "calibration": _calibration(examples, outcomes),
        "cached_model_calls": sum(outcome.cached_calls for outcome in outcomes.values()),
        "slices": _slices(examples, values),
        "lost_at": None,
    }


def measured(examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome]) -> Values:
    """Return each measure's value in percent for every question, in the order of the examples."""
    rankings = {example.id: [node for node, _ in outcomes[example.id].ranking] for example in examples}
    return measure(rankings, {example.id: example.answers for example in examples})


def _latency(outcomes: Mapping[str, QuestionOutcome]) -> dict[str, Any]:
    """Return percentiles, in milliseconds, of whole searches and, by role, of the stages that they ran."""
    done = [outcome for outcome in outcomes.values() if not outcome.error]
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
    """Return the calibration of the first plan's probability against whether the first result is an answer."""
    given, right = [], []
    for example in examples:
        outcome = outcomes[example.id]
        if outcome.probability is not None:
            given.append(outcome.probability)
            right.append(bool(outcome.ranking) and outcome.ranking[0][0] in example.answers)
    return calibration(given, right, "right")


def _slices(examples: Sequence[Example], values: Values) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for key in sorted({key for example in examples for key in example.slices}):
        groups: dict[str, list[int]] = {}
        for place, example in enumerate(examples):
            if key in example.slices:
                groups.setdefault(example.slices[key], []).append(place)
        if len(groups) <= MOST_SLICES:
            found[key] = {
                value: {
                    "questions": len(places),
                    "metrics": means({name: column[places] for name, column in values.items()}),
                }
                for value, places in sorted(groups.items())
            }
    return found
