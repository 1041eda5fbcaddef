"""The settings of the learned planner, in a module that loads no model library, so that every door can check them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from search.domain.errors import Fault
from search.domain.options import option
from training.learning.enough import too_few


@dataclass(frozen=True)
class PlannerSettings:
    """The settings of a training of the planner."""

    FEWEST: ClassVar[int] = 10
    """Questions with answers that a training takes at least."""
    FEWEST_ALONE: ClassVar[int] = FEWEST
    """Synthesised questions that it takes at least where there are no others."""

    folds: int = option(3, "Parts that each are scored by what was learned from the others.", low=2, high=20)
    epochs: int = option(10, "Passes over the questions, if `steps` allows so many.", low=1, high=200)
    steps: int = option(500, "Steps at most: many questions are passed over less often.", low=1, high=1_000_000)
    batch: int = option(64, "Questions a step.", low=1, high=4096)
    rate: float = option(0.001, "Height of the learning rate.", low=1e-6, high=1.0)
    decay: float = option(0.1, "Weight decay: how strongly it is held to what it knew before.", low=0.0, high=10.0)
    hidden: int = option(24, "Units of the perceptron over the features.", low=1, high=1024)
    seed: int = option(0, "Decides the folds and the order of the questions.", low=0, high=2**31 - 1)
    measured: int = option(
        300, "Questions, drawn from those given, on which the graph's list is measured.", low=0, high=100_000
    )

    def too_few(self, real: int, synthesised: int) -> Fault | None:
        """Return what is missing to learn from so many questions of people and synthesised ones; None if nothing is."""
        return too_few(real, synthesised, self.FEWEST, self.FEWEST_ALONE, together=True)
