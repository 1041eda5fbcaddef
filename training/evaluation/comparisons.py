"""Comparisons of pipelines: paired randomisation tests, corrected for the number of tests.

The test is Fisher's, on the mean difference, as Smucker, Allan and Carterette (CIKM 2007, "A comparison of statistical
significance tests for information retrieval evaluation") recommend; the correction is Holm's (1979).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.evaluation.measures import SEED, Values, intervals

EXACT = 14
"""Most questions with a difference for an exact test over all changes of signs; above it, `DRAWN` changes are drawn."""
DRAWN = 10_000
_AT_ONCE = 500
_SAME = 1e-9


def comparisons(values: Mapping[str, Values]) -> list[dict[str, Any]]:
    """Return a comparison of each pair of pipelines by each measure, in the order of `values`.

    `values` holds each pipeline's values by measure, all over the same questions.
    `difference` is the mean of a minus the mean of b, with its bootstrap interval;
    `wins`, `ties` and `losses` count questions for a. `p_holm` is `p` corrected
    for the pairs that are compared by the same measure.
    """
    found: list[dict[str, Any]] = []
    for a, b in combinations(values, 2):
        gains = {name: values[a][name] - values[b][name] for name in values[a]}
        bounds = intervals(gains)
        for name, gain in gains.items():
            found.append({
                "a": a, "b": b, "metric": name, "difference": round(float(gain.mean()), 2), "interval": bounds[name],
                "p": randomisation_test(gain), "wins": int((gain > _SAME).sum()),
                "ties": int((np.abs(gain) <= _SAME).sum()), "losses": int((gain < -_SAME).sum()),
            })  # fmt: skip
    for name in dict.fromkeys(one["metric"] for one in found):
        family = [one for one in found if one["metric"] == name]
        for one, corrected in zip(family, holm([one["p"] for one in family]), strict=True):
            one["p_holm"] = round(corrected, 6)
    return [one | {"p": round(one["p"], 6)} for one in found]


def randomisation_test(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p of a paired randomisation test on the mean difference.

    If the two pipelines are equally good, each difference has either sign with the same probability. p is the share of
    changes of signs whose mean is at least as far from 0 as the observed mean. The share is over all changes, or over
    `DRAWN` changes (always the same ones) and the observed signs.
    """
    moved = differences[np.abs(differences) > _SAME]
    if not len(moved):
        return 1.0
    seen = abs(moved.sum()) - _SAME * len(moved)
    if len(moved) <= EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved))) & 1)
        return float((np.abs(signs @ moved) >= seen).mean())
    chance = np.random.default_rng(SEED)
    extreme = 0
    for first in range(0, DRAWN, _AT_ONCE):
        signs = 1 - 2 * chance.integers(0, 2, (min(_AT_ONCE, DRAWN - first), len(moved)), dtype=np.int8)
        extreme += int((np.abs(signs.astype(np.float64) @ moved) >= seen).sum())
    return (extreme + 1) / (DRAWN + 1)


def holm(p: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm's method, which controls the probability of any false positive."""
    corrected = [0.0] * len(p)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        highest = max(highest, min(1.0, (len(p) - rank) * p[place]))
        corrected[place] = highest
    return corrected
