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

from training.evaluation.measures import SEED, Values, bounds, resampled_means

EXACT = 14
"""Most questions with a difference for an exact test over all changes of signs; above it, `DRAWN` changes are drawn."""
DRAWN = 10_000
_AT_ONCE = 1_000
_SAME = 1e-9


def comparisons(values: Mapping[str, Values], seed: int = SEED) -> list[dict[str, Any]]:
    """Return a comparison of each pair of pipelines by each measure, in the order of `values`.

    `values` holds each pipeline's values by measure, all over the same questions.
    `difference` is the mean of a minus the mean of b, with its bootstrap interval;
    `wins`, `ties` and `losses` count questions for a. `p_holm` is `p` corrected
    for the pairs that are compared by the same measure.
    """
    names = list(next(iter(values.values()), {}))
    cases = [(a, b, name) for a, b in combinations(values, 2) for name in names]
    if not cases:
        return []
    places = {(label, name): at for at, (label, name) in enumerate((x, y) for x in values for y in names)}
    columns = np.stack([values[label][name] for label, name in places], axis=1)
    ones = [places[a, name] for a, _, name in cases]
    others = [places[b, name] for _, b, name in cases]
    gains = columns[:, ones] - columns[:, others]
    drawn = resampled_means(columns, seed)
    intervals = bounds(drawn[:, ones] - drawn[:, others])
    p = randomisation_tests(gains, seed)
    corrected = _corrected([name for _, _, name in cases], p)
    return [
        {
            "a": a, "b": b, "metric": name, "difference": round(float(gains[:, at].mean()), 2),
            "interval": intervals[at], "p": round(p[at], 6), "wins": int((gains[:, at] > _SAME).sum()),
            "ties": int((np.abs(gains[:, at]) <= _SAME).sum()), "losses": int((gains[:, at] < -_SAME).sum()),
            "p_holm": round(corrected[at], 6),
        }
        for at, (a, b, name) in enumerate(cases)
    ]  # fmt: skip


def _corrected(families: Sequence[str], p: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm's method within each family."""
    found = [0.0] * len(p)
    for family in dict.fromkeys(families):
        mine = [at for at, name in enumerate(families) if name == family]
        for at, one in zip(mine, holm([p[at] for at in mine]), strict=True):
            found[at] = one
    return found


def randomisation_test(differences: NDArray[np.float64], seed: int = SEED) -> float:
    """Return the p of one column; see `randomisation_tests`."""
    return randomisation_tests(differences[:, None], seed)[0]


def randomisation_tests(differences: NDArray[np.float64], seed: int = SEED) -> list[float]:
    """Return the two-sided p of a paired randomisation test on the mean of each column.

    `differences` has the shape (questions, columns). If the two pipelines are equally good, each difference has either
    sign with the same probability. p is the share of changes of signs whose mean is at least as far from 0 as the
    observed mean. The share is over all changes when at most `EXACT` differences are not 0; otherwise it is over
    `DRAWN` changes (always the same ones, for all columns) and the observed signs.
    """
    moved = (np.abs(differences) > _SAME).sum(axis=0)
    found = np.ones(differences.shape[1])
    for column in np.flatnonzero((moved > 0) & (moved <= EXACT)):
        found[column] = _exact(differences[:, column])
    if len(many := np.flatnonzero(moved > EXACT)):
        found[many] = _sampled(differences[:, many], moved[many], seed)
    return [float(one) for one in found]


def _exact(differences: NDArray[np.float64]) -> float:
    """Return the share of all changes of signs whose sum is as far from 0 as the observed sum."""
    moved = differences[np.abs(differences) > _SAME]
    seen = abs(moved.sum()) - _SAME * len(moved)
    signs = 1 - 2 * ((np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved))) & 1)
    return float((np.abs(signs @ moved) >= seen).mean())


def _sampled(differences: NDArray[np.float64], moved: NDArray[np.intp], seed: int) -> NDArray[np.float64]:
    """Return the share over drawn changes of signs, of each column."""
    seen = np.abs(differences.sum(axis=0)) - _SAME * moved
    chance = np.random.default_rng(seed)
    extreme = np.zeros(differences.shape[1])
    for first in range(0, DRAWN, _AT_ONCE):
        rows = min(_AT_ONCE, DRAWN - first)
        bits = np.unpackbits(chance.integers(0, 256, (rows, (len(differences) + 7) // 8), dtype=np.uint8), axis=1)
        signs = 1.0 - 2.0 * bits[:, : len(differences)]
        extreme += (np.abs(signs @ differences) >= seen).sum(axis=0)
    return (extreme + 1) / (DRAWN + 1)


def holm(p: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm's method, which controls the probability of any false positive."""
    corrected = [0.0] * len(p)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        highest = max(highest, min(1.0, (len(p) - rank) * p[place]))
        corrected[place] = highest
    return corrected
