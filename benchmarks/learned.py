"""The effect of training the planner, by number of training questions: movies' val questions, graph alone.

No artifact is registered: the weights stay in this process.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bases import opened
from benchmarks.common import percentiles, show, table
from benchmarks.planner import answered, hits
from search.domain.run_context import RunContext
from search.neural.plan_scorer import LearnedPlanScorer
from search.stages.plan import Planner
from training.data.examples import Example, read_examples, spread
from training.evaluation.measures import means, measure
from training.learning.planner import Lesson, PlannerLearner, PlannerTask
from training.learning.task import Learned

SIZES = (0, 50, 200, 500, 2_000, 6_000)


class InMemory:
    """Trained planners by name, kept in memory (interfaces.PlanScorers)."""

    def __init__(self, learned: Mapping[str, Learned]) -> None:
        self._known = {name: LearnedPlanScorer(name, one.served, one.tensors) for name, one in learned.items()}

    def get(self, artifact: str, fold: int = -1) -> LearnedPlanScorer:
        """Return the planner with that name."""
        return self._known[artifact]


def main() -> None:
    """Print one row for each number of training questions: seconds, quality, H@1 by hops, time for each question."""
    tools, folder = opened("movies")
    plain = Planner(tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema)
    train = read_examples(folder / "questions.jsonl.gz", "train")
    val = read_examples(folder / "questions.jsonl.gz", "val")
    hops = sorted({example.slices["hops"] for example in val})
    rows: list[tuple[Any, ...]] = []
    for size in SIZES:
        began = time.perf_counter()
        planner = _trained(plain, spread(train, size)) if size else plain
        seconds = time.perf_counter() - began
        rankings, times = answered(planner, tools, val)
        whole = means(measure(rankings, {example.id: example.answers for example in val}))
        by_hops = [hits(rankings, [e for e in val if e.slices["hops"] == count]) for count in hops]
        rows.append((f"{size:,}", seconds, *(whole[m] for m in ("H@1", "H@5", "R@20", "MRR")), *by_hops,
                     *percentiles(times)))  # fmt: skip
        show(f"{size:,} questions: {rows[-1][1:]}")
    columns = ("questions", "seconds", "H@1", "H@5", "R@20", "MRR", *(f"{count} hops" for count in hops),
               "p50 ms", "p95 ms")  # fmt: skip
    table(f"The trained planner on movies, val, {len(val)} questions; H@1 by hops", columns, rows)


def _trained(planner: Planner, examples: Sequence[Example]) -> Planner:
    keys = [planner.nodes.keys(example.answers) for example in examples]
    answers = [np.array(sorted(key for key in own if key is not None), dtype=np.int32) for own in keys]
    learned = PlannerTask(PlannerLearner(measured=0), Lesson(examples, answers, planner)).fit(RunContext())
    return replace(planner, plan_scorers=InMemory({"bench": learned}), artifact="bench")
