"""Fits the logistic function that calibrates a probability (Platt scaling), with weights that are never negative."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from search.domain.logistic import Logistic

HELD = 0.001
"""Strength with which weights are held to 0, against the mean loss of a question, where inputs have variance 1."""
NOTHING = 1e-6
"""A weight up to this is left out."""
Numbers = NDArray[np.float64]


def platt_targets(right: NDArray[np.bool_]) -> Numbers:
    """Return the targets of Platt 1999, section 2.2: (n + 1) / (n + 2) for `n` right ones, 1 / (m + 2) for `m` wrong.

    With few questions they keep the probability away from 0 and 1.
    """
    count = int(right.sum())
    return np.where(right, (count + 1) / (count + 2), 1 / (len(right) - count + 2))


def fit_logistic(names: Sequence[str], inputs: Numbers, targets: Numbers, counts: Numbers | None = None) -> Logistic:
    """Return the logistic function with the least logarithmic loss; no weight is negative.

    `inputs` has the shape (questions, names). `targets` are the probabilities that are fitted: 1 where it was right and
    0 where it was wrong, or those of `platt_targets`. `counts` is how much each question counts beside the others;
    None: all alike. An input that is the same everywhere gets no weight.
    """
    shares = np.ones(len(inputs)) if counts is None else np.asarray(counts, dtype=np.float64)
    shares = shares / shares.sum()
    spreads = inputs.std(axis=0)
    varies = spreads > 1e-9
    scaled = np.where(varies, (inputs - inputs.mean(axis=0)) / np.where(varies, spreads, 1.0), 0.0)

    def loss(values: Numbers) -> tuple[float, Numbers]:
        sums = scaled @ values[:-1] + values[-1]
        told = 1 / (1 + np.exp(-sums))
        lost = shares @ (np.logaddexp(0, sums) - targets * sums) + HELD * float(values[:-1] @ values[:-1]) / 2
        slope = shares * (told - targets)
        return float(lost), np.append(slope @ scaled + HELD * values[:-1], slope.sum())

    bounds = [(0.0, None)] * len(names) + [(None, None)]
    best = minimize(loss, np.zeros(len(names) + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = np.where(varies & (best[:-1] > NOTHING), best[:-1] / np.where(varies, spreads, 1.0), 0.0)
    constant = float(best[-1] - weights @ inputs.mean(axis=0))
    return Logistic({name: float(value) for name, value in zip(names, weights, strict=True) if value}, constant)
