"""report.json: measures with intervals, coverage, latency and slices of each pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from training.data.examples import Example
from training.evaluation.measures import Values, intervals, means, measure
from training.evaluation.runner import QuestionOutcome

MOST_SLICES = 50
"""A key with more values than this tells questions apart instead of grouping them, and is left out."""


def describe_pipeline(
    examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome], specification: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one pipeline's part of the report. Percentages are over all questions asked, whatever became of them."""
    rankings = {example.id: [node for node, _ in outcomes[example.id].ranking] for example in examples}
    values = measure(rankings, {example.id: example.answers for example in examples})
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
        "slices": _slices(examples, values),
        "lost_at": None,
    }


def _latency(outcomes: Mapping[str, QuestionOutcome]) -> dict[str, float | None]:
    times = [1000 * outcome.seconds for outcome in outcomes.values() if not outcome.error]
    if not times:
        return {"p50": None, "p95": None}
    return {"p50": round(float(np.percentile(times, 50)), 2), "p95": round(float(np.percentile(times, 95)), 2)}


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
