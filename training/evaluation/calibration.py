"""Reliability of probabilities: expected calibration error (Guo et al. 2017, section 2) with its bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

BINS = 10


def calibration(probabilities: Sequence[float], worth: Sequence[float], name: str) -> dict[str, Any] | None:
    """Return `{"error", "bins"}` over ten bins of equal width; None when there are no probabilities.

    `worth` is the outcome of each entry, from 0 to 1, such as whether it was right; `name` is its key in the bins.

    `error` is the mean distance, over all entries, between the mean probability and the mean worth of the entry's bin.
    Empty bins are left out.
    """
    if not probabilities:
        return None
    given, hit = np.asarray(probabilities, dtype=np.float64), np.asarray(worth, dtype=np.float64)
    place = np.clip((given * BINS).astype(int), 0, BINS - 1)
    bins, error = [], 0.0
    for at in range(BINS):
        mine = place == at
        if mine.any():
            probability, share = float(given[mine].mean()), float(hit[mine].mean())
            error += abs(probability - share) * float(mine.mean())
            bins.append({
                "from": at / BINS, "to": (at + 1) / BINS, "questions": int(mine.sum()),
                "probability": round(probability, 4), name: round(share, 4),
            })  # fmt: skip
    return {"error": round(error, 4), "bins": bins}
