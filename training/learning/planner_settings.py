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
    tried: int = option(
        25, "Meanings of a question that are executed; a search executes fewer, the likeliest.", low=2, high=100
    )
    steps: int = option(60, "Steps of a fit at most.", low=1, high=200)
    seed: int = option(0, "Decides the folds.", low=0, high=2**31 - 1)

    def too_few(self, real: int, synthesised: int) -> Fault | None:
        """Return what is missing to learn from so many questions of people and synthesised ones; None if nothing is."""
        return too_few(real, synthesised, self.FEWEST, self.FEWEST_ALONE, together=True)
