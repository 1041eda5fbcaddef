"""A logistic function of named inputs that makes a probability of what a model knows (Platt scaling, Platt 1999).

Platt, "Probabilistic Outputs for Support Vector Machines", 1999, has one input, the model's score. Here there are
several, and no weight is negative: inputs are chosen so that more of any of them never speaks against being right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

FURTHEST = 6.0
"""Largest log-odds of a probability that is an input: beyond it, a model says nothing more."""
_FURTHEST_SUM = 30.0


@dataclass(frozen=True)
class Logistic:
    """A logistic function: the weight of each input by name (none is negative), and a constant."""

    weights: Mapping[str, float]
    constant: float

    def probability(self, inputs: Mapping[str, float]) -> float:
        """Return the probability for these inputs; an input without a weight counts nothing."""
        total = sum(self.weights.get(name, 0.0) * value for name, value in inputs.items())
        return 1.0 / (1.0 + math.exp(-max(-_FURTHEST_SUM, min(_FURTHEST_SUM, total + self.constant))))

    @classmethod
    def read(cls, data: Mapping[str, Any], names: Sequence[str]) -> Self:
        """Return the function that a file or an artifact holds; `names` are the inputs that it may have.

        Raises ValueError if it holds none.
        """
        told: Any = data.get("weights")
        weights: Mapping[str, Any] = told if isinstance(told, Mapping) else {"": None}
        values = [*weights.values(), data.get("constant")]
        finite = all(isinstance(value, int | float) and math.isfinite(value) for value in values)
        if not finite or not set(weights) <= set(names):
            raise ValueError(f"a calibration has a number for its constant and for inputs among {', '.join(names)}")
        if min(values[:-1], default=0.0) < 0:
            raise ValueError("no weight of a calibration is negative")
        return cls(dict(weights), values[-1])

    def to_json(self) -> dict[str, Any]:
        """Return the function as a JSON object, with four decimals."""
        weights = {name: round(value, 4) for name, value in self.weights.items()}
        return {"weights": weights, "constant": round(self.constant, 4)}


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, between -`FURTHEST` and `FURTHEST`."""
    bounded = min(max(probability, 1e-9), 1 - 1e-9)
    return max(-FURTHEST, min(FURTHEST, math.log(bounded / (1 - bounded))))
