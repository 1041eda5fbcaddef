"""The settings of the learned ranker, in a module that loads no model library, so that every door can check them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from search.domain.errors import Fault
from search.domain.options import option
from training.learning.enough import too_few


@dataclass(frozen=True)
class RankerSettings:
    """The settings of a training of the ranker."""

    FEWEST: ClassVar[int] = 20
    """Questions with answers that a training takes at least."""
    FEWEST_ALONE: ClassVar[int] = FEWEST
    """Synthesised questions that it takes at least where there are no others."""

    folds: int = option(5, "Parts that each are ranked by what was learned from the others.", low=2, high=20)
    apart: bool = option(
        False, "Keep questions about the same part of the graph in the same fold, so that the folds are as new to each "
        "other as new questions are.",
    )  # fmt: skip
    seeds: int = option(3, "Models whose mean score ranks.", low=1, high=20)
    rounds: int = option(120, "Trees of a model.", low=1, high=5_000)
    rate: float = option(0.08, "Learning rate: how much each tree adds.", low=1e-4, high=1.0)
    leaves: int = option(7, "Most leaves of a tree.", low=2, high=1_024)
    least: int = option(60, "Fewest candidates in a leaf.", low=1, high=100_000)
    features: float = option(0.3, "Part of the signals that each tree may read.", low=0.01, high=1.0)
    bagging: float = option(0.8, "Part of the candidates that each tree learns from.", low=0.01, high=1.0)
    decay: float = option(5.0, "Penalty of large values in leaves (L2).", low=0.0, high=1_000.0)
    truncation: int = option(5, "Places at the top whose order counts.", low=1, high=1_000)
    strength: float = option(
        10.0, "How freely the model of the answer's type may fit (inverse of its L2 penalty).", low=1e-4, high=1e4
    )
    seed: int = option(0, "Decides the folds, and what each tree may see.", low=0, high=2**30)

    def too_few(self, real: int, synthesised: int) -> Fault | None:
        """Return what is missing to learn from so many questions of people and synthesised ones; None if nothing is."""
        return too_few(real, synthesised, self.FEWEST, self.FEWEST_ALONE)
