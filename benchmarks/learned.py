"""The effect of training the planner, by number of training questions: movies' val questions, first plans alone.

No artifact is registered: the weights stay in this process.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bases import imported
from benchmarks.common import percentiles, show, table
from benchmarks.question_sets import SETS
from benchmarks.reading_outcome import Reader, ReadOutcome
from search.domain.run_context import RunContext
from search.neural.plan_scorer import WEIGHTS, PairWeights
from search.stages.plan import Planner
from training.data.examples import Example, read_examples, spread
from training.learning.planner import PlannerLearner, PlannerLesson, PlannerTask

SIZES = (0, 50, 200, 500, 2_000, 6_000)


class InMemory:
    """Trained planners by name, kept in memory (interfaces.PlanScorers)."""

    def __init__(self, learned: Mapping[str, PairWeights]) -> None:
        self._known = learned

    def get(self, artifact: str, fold: int = -1) -> PairWeights:
        """Return the planner with that name."""
        return self._known[artifact]


def main() -> None:
    """Print one row for each number of training questions: seconds, quality, by hops, time for each question."""
    name, folder = imported("movies")
    reader = Reader.of(name, ["plan.artifact="])
    assert isinstance(reader.planner, Planner)
    train = read_examples(folder / "questions.jsonl.gz", "train")
    val = SETS["movies"][0].examples()
    hops = sorted({example.slices["kind"] for example in val})
    rows: list[tuple[Any, ...]] = []
    for size in SIZES:
        began = time.perf_counter()
        planner = _trained(reader.planner, spread(train, size)) if size else reader.planner
        seconds = time.perf_counter() - began
        taught = replace(reader, planner=planner)
        read = [taught.outcome("movies", example) for example in val]
        by_hops = [_first([one for one in read if one.kind == count]) for count in hops]
        whole = 100 * float(np.mean([one.whole for one in read]))
        rows.append((f"{size:,}", seconds, _first(read), whole, *by_hops, *percentiles([one.seconds for one in read])))
        show(f"{size:,} questions: {rows[-1][1:]}")
    columns = ("questions", "seconds", "first %", "set %", *hops, "p50 ms", "p95 ms")
    table(f"The trained planner on movies, val, {len(val)} questions; right first answers by hops", columns, rows)


def _first(read: Sequence[ReadOutcome]) -> float:
    return 100 * float(np.mean([one.right for one in read]))


def _trained(planner: Planner, examples: Sequence[Example]) -> Planner:
    keys = [planner.nodes.keys(example.answers) for example in examples]
    answers = [np.array(sorted(key for key in own if key is not None), dtype=np.int32) for own in keys]
    learned = PlannerTask(PlannerLearner(), PlannerLesson(examples, answers, planner)).fit(RunContext())
    weights = PairWeights.of("bench", json.loads(learned.files[WEIGHTS]))
    return replace(planner, plan_scorers=InMemory({"bench": weights}), artifact="bench")
