"""The surface of a tuning: H@1 over k and the weight of the list whose weight is chosen, for each method of the grid.

A cell of the static surface is the best over the probabilities from which a plan leads. A cell of the dynamic surface
is the best over everything else of the grid: `weight` is then the graph's weight where it found 1 to 10 candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.stages.fuse import FusionWeights

Numbers = NDArray[np.float64]
EXACT = 1e-9


@dataclass(frozen=True)
class Surface:
    """Sums of outcomes over all questions: `worth` has the shape (k, weight) and orders by hits, then by MRR.

    `fixed` is the sum over the questions that no setting changes, `questions` their number with all others.
    """

    method: str
    k: tuple[float, ...]
    weight: tuple[float, ...]
    worth: Numbers
    fixed: float
    questions: int

    def to_json(self, chosen: FusionWeights, present: FusionWeights) -> dict[str, Any]:
        """Return the surface as rows of percentages, one row a k, with the places of the two settings on it."""
        total = self.worth + self.fixed
        # Each hit counts 2 · questions; the reciprocal ranks add up to less than that (tuning._worth).
        hits = np.floor(total / (2.0 * self.questions) + EXACT)
        reciprocal = total - hits * 2.0 * self.questions
        return {
            "method": self.method,
            "k": list(self.k),
            "weight": list(self.weight),
            "H@1": _percent(hits, self.questions),
            "MRR": _percent(reciprocal, self.questions),
            "chosen": self._place(chosen),
            "in_use": self._place(present),
        }

    def _place(self, weights: FusionWeights) -> list[int] | None:
        """Return the row and the column of settings, or None if they do not lie on this surface."""
        if weights.method != self.method:
            return None
        weight = weights.weight if self.method == "static" else weights.bucket_weights[0]
        if weights.k not in self.k or weight not in self.weight:
            return None
        return [self.k.index(weights.k), self.weight.index(weight)]


def static_surface(
    table: Numbers, k: Sequence[float], weights: Sequence[float], fixed: float, questions: int
) -> Surface:
    """Return the surface of the static method; `table` has the shape (leads, k, weight)."""
    return Surface("static", _floats(k), _floats(weights), table.max(axis=0), fixed, questions)


def dynamic_surface(
    worth: Callable[[int, int], Numbers], leads: int, k: Sequence[float], weights: Sequence[float], fixed: float,
    questions: int,
) -> Surface:  # fmt: skip
    """Return the surface of the dynamic method.

    `worth` returns, for the places of a lead and a k, a table whose first axis is the first bucket's weight.
    """
    rows = [
        np.max([worth(lead, place).reshape(len(weights), -1).max(axis=1) for lead in range(leads)], axis=0)
        for place in range(len(k))
    ]
    return Surface("dynamic", _floats(k), _floats(weights), np.array(rows), fixed, questions)


def _floats(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(map(float, values))


def _percent(sums: Numbers, questions: int) -> list[list[float]]:
    return [[round(100.0 * float(one) / questions, 2) for one in row] for row in sums]
