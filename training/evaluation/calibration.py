"""Reliability of probabilities: expected calibration error (Guo et al. 2017, section 2), its bins, and their intervals.

Guo, Pleiss, Sun and Weinberger, "On Calibration of Modern Neural Networks", ICML 2017: M = 15 bins of equal width,
where bin m holds the probabilities in ((m - 1) / M, m / M]. The interval of a share is Wilson's (1927), which stays
inside 0 and 1 and is honest for few questions (Brown, Cai and DasGupta, Statistical Science 2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

BINS = 15
NORMAL_95 = 1.959963984540054
"""Quantile of the standard normal distribution for a two-sided interval of 95%."""


def calibration(
    probabilities: Sequence[float], worth: Sequence[float], name: str, bins: int = BINS
) -> dict[str, Any] | None:
    """Return `{"error", "questions", "bins"}` over `bins` bins of equal width; None when there are no probabilities.

    `worth` is the outcome of each entry, from 0 to 1, such as whether it was right; `name` is its key in the bins.

    `error` is the mean distance, over all entries, between the mean probability and the mean worth of the entry's bin.
    Empty bins are left out. `interval` of a bin is the 95% interval of its mean worth.
    """
    if not probabilities:
        return None
    given, hit = np.asarray(probabilities, dtype=np.float64), np.asarray(worth, dtype=np.float64)
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.searchsorted(edges[1:-1], given, side="left")
    told, error = [], 0.0
    for at in range(bins):
        mine = place == at
        if mine.any():
            probability, share = float(given[mine].mean()), float(hit[mine].mean())
            error += abs(probability - share) * float(mine.mean())
            low, high = wilson(float(hit[mine].sum()), int(mine.sum()))
            told.append({
                "from": round(float(edges[at]), 4), "to": round(float(edges[at + 1]), 4), "questions": int(mine.sum()),
                "probability": round(probability, 4), name: round(share, 4),
                "interval": [round(low, 4), round(high, 4)],
            })  # fmt: skip
    return {"error": round(error, 4), "questions": len(given), "bins": told}


def wilson(right: float, count: int) -> tuple[float, float]:
    """Return the 95% score interval of a share, `right` of `count`; (0, 1) when `count` is 0."""
    if not count:
        return 0.0, 1.0
    share, square = right / count, NORMAL_95**2
    centre = (share + square / (2 * count)) / (1 + square / count)
    spread = math.sqrt(max(0.0, share * (1 - share)) / count + square / (4 * count**2))
    half = NORMAL_95 * spread / (1 + square / count)
    return max(0.0, centre - half), min(1.0, centre + half)
