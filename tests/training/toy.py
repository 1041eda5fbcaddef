"""A second learner, which knows nothing of plans: it learns how long questions are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from search.domain.options import option
from search.domain.run_context import RunContext
from training.learning.task import Evaluated, LearnedTask, Material, TooFew, TrainingCard

WATCHED: list[Callable[[int], None]] = []
"""Called with the number of each step: a test puts something there."""


@dataclass(frozen=True)
class ToyLearner:
    """Learns the mean length of questions, step by step."""

    steps: int = option(3, "Steps.", low=1, high=10_000_000)
    least: int = option(2, "Questions that it takes.", low=1, high=100)

    def task(self, material: Material) -> ToyTask:
        """Return the task."""
        return ToyTask(self, material)


@dataclass(frozen=True)
class ToyTask:
    """The learner at work."""

    learner: ToyLearner
    material: Material

    def fit(self, run: RunContext) -> LearnedTask:
        """Learn."""
        if len(self.material.examples) < self.learner.least:
            raise TooFew(f"It takes {self.learner.least} questions.")
        saved = run.checkpoints.load("toy")
        first = json.loads(saved)["step"] if saved else 0
        for step in range(first, self.learner.steps):
            run.check()
            for watch in WATCHED:
                watch(step)
            run.progress("lengths", step + 1, self.learner.steps)
            run.metric("step", step, float(step))
            if step % 100 == 0:
                run.checkpoints.save("toy", json.dumps({"step": step + 1}).encode())
        mean = np.mean([len(example.text) for example in self.material.examples])
        return LearnedTask(
            {"mean": np.array([mean])}, {"depth": self.material.options.get("depth")}, {"toy.txt": b"toy"}
        )

    def evaluate(self, learned: LearnedTask, run: RunContext) -> Evaluated:
        """Measure."""
        return Evaluated({"mean": float(learned.tensors["mean"][0])}, {"toy": {"mean": 7.0}})

    def describe(self) -> TrainingCard:
        """Describe."""
        return TrainingCard("Toy", "It learns lengths.", "It is no good for anything.")
