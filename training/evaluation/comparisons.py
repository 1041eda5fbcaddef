"""Whether one pipeline is better than another: paired randomisation tests, corrected for how many there are.

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
"""Up to so many questions that differ, every way of swapping them is counted; above, `DRAWN` are drawn."""
DRAWN = 10_000
_AT_ONCE = 500
_SAME = 1e-9


def comparisons(values: Mapping[str, Values]) -> list[dict[str, Any]]:
    """Return each pair of pipelines compared by each measure, in the order in which they were given.

    `values` holds each pipeline's values by measure, all over the same questions. `difference` is that of the means, a
    less b, with its bootstrap interval; `wins`, `ties` and `losses` count questions for a. `p_holm` is `p` corrected
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

    Were the two alike, each difference could as well have the other sign. p is the share of such changes of signs whose
    mean is as far from 0 as the one seen: of all of them, or of `DRAWN` (always the same ones) and the one seen itself.
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
    """Return the values corrected by Holm's method, which holds the chance of any false finding at the level."""
    corrected = [0.0] * len(p)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        highest = max(highest, min(1.0, (len(p) - rank) * p[place]))
        corrected[place] = highest
    return corrected
