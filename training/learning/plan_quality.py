"""Quality of learned weights: how often the first meaning is the nearest one, its F1, and its calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from training.evaluation.calibration import calibration as by_bins
from training.learning.pair_fit import PairPart
from training.learning.plan_meanings import Values

TEMPERATURES = np.geomspace(0.5, 4.0, 43)
_SAME = 1e-6


def best_temperature(scored: Sequence[tuple[PairPart, Values]], check: Callable[[], None] = lambda: None) -> float:
    """Return the temperature of `TEMPERATURES` that calibrates first meanings best, on questions not learned from.

    The loss is the cross entropy of the probability of what the first meaning finds and its F1. `scored` are parts of a
    table with the scores of their meanings. `check` is called before each temperature and raises an exception when the
    run must stop.
    """

    def loss(temperature: float) -> float:
        check()
        total = 0.0
        for part, sums in scored:
            shares, fits = part.firsts(sums / temperature)
            shares = shares.clip(_SAME, 1 - _SAME)
            total -= float(fits @ np.log(shares) + (1 - fits) @ np.log(1 - shares))
        return total

    return float(min(TEMPERATURES, key=loss))


def measures(scored: Sequence[tuple[PairPart, Values]], questions: int) -> dict[str, float]:
    """Return percentages of the questions, by the first meaning of each.

    `right`: no meaning that was tried is nearer to the answers, and it finds some. `whole`: it finds just the answers.
    `f1` is the mean F1 of what it finds. Questions without meanings count as wrong.
    """
    fits = np.concatenate([part.firsts(sums)[1] for part, sums in scored])
    best = np.concatenate([part.nearest() for part, _ in scored])
    found = {
        "right": ((fits > 0) & (fits >= best - _SAME)).sum(), "whole": (fits >= 1 - _SAME).sum(), "f1": fits.sum(),
    }  # fmt: skip
    return {name: round(100 * float(value) / questions, 2) for name, value in found.items()}


def calibration(scored: Sequence[tuple[PairPart, Values]], temperature: float) -> dict[str, Any]:
    """Return the mean probability and the mean F1 of the first meaning, in bins of its probability.

    `error` is the mean distance between the two, over all questions that have a meaning.
    """
    firsts = [part.firsts(sums / temperature) for part, sums in scored]
    shares, fits = (np.concatenate(several).tolist() for several in zip(*firsts, strict=True))
    return by_bins(shares, fits, "f1") or {"error": 0.0, "bins": []}
