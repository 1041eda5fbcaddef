"""Agreement of annotators: Krippendorff's alpha and Cohen's weighted kappa, with bootstrap intervals over items.

Alpha: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections C and D, with the differences of
section "nominal" and "ordinal"; grades may be missing, and items with fewer than two grades take no part. Kappa: Cohen,
"Weighted kappa", Psychological Bulletin 70 (1968), over the items that both annotators graded. Intervals: percentile
bootstrap over items (Hayes and Krippendorff, Communication Methods and Measures 2007, use the same principle for
alpha). Many items have the same grades, so a sample of items is drawn as a multinomial count of the distinct ones. That
is the same distribution, and its cost does not depend on the number of items.

A bootstrap knows only kinds of items that were seen: five items on which all agree would give an interval from 1 to 1.
Each end is therefore moved at least as far as kinds that were not seen could move it (`_reach_of_unseen`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 20_260
CONFIDENCE = 0.95
RELIABLE, TENTATIVE = 0.8, 0.667
"""Least alpha of data to rely on, and for tentative conclusions (Krippendorff, Content Analysis, 2004, p. 241)."""
LEAST_DEFINED = 0.95
"""Least share of the samples in which a coefficient must be defined; with fewer there is no interval."""

Matrix = NDArray[np.float64]


class Level(StrEnum):
    """What alpha takes grades for: names without an order, or steps of a scale."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"


class AgreementWeights(StrEnum):
    """How much kappa counts a disagreement: by the number of steps between two grades, or by its square."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class Claim(StrEnum):
    """What a coefficient allows to say. Nothing is claimed that the low end of its interval does not bear out."""

    NOTHING = ""
    TOO_FEW = "too few items to say"
    CHANCE = "no better than chance"
    LITTLE = "too little for conclusions"
    AT_LEAST_TENTATIVE = "at least enough for tentative conclusions"
    TENTATIVE = "enough for tentative conclusions"
    RELIABLE = "enough to rely on"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement: 1 is perfect agreement, 0 what chance would give, below 0 worse than chance.

    `value` is None where it is not defined, and `low` and `high` (95 %) where there is no interval; `why` is then the
    sentence that says so. `items` counts those that took part.
    """

    value: float | None
    low: float | None
    high: float | None
    items: int
    why: str = ""

    @property
    def claim(self) -> Claim:
        """What both ends of the interval allow to say; without an interval there is nothing to say."""
        if self.value is None:
            return Claim.NOTHING
        if self.low is None or self.high is None:
            return Claim.TOO_FEW
        if self.high <= 0:
            return Claim.CHANCE
        if self.high < TENTATIVE:
            return Claim.LITTLE
        if self.low < TENTATIVE:
            return Claim.TOO_FEW
        if self.low < RELIABLE:
            return Claim.TENTATIVE if self.high < RELIABLE else Claim.AT_LEAST_TENTATIVE
        return Claim.RELIABLE

    def to_json(self) -> dict[str, Any]:
        """Return the coefficient for reports and exports, rounded to six places."""
        interval = None if self.low is None or self.high is None else [round(self.low, 6), round(self.high, 6)]
        value = None if self.value is None else round(self.value, 6)
        return {"value": value, "interval": interval, "items": self.items, "why": self.why,
                "claim": self.claim.value}  # fmt: skip


def alpha(grades: Matrix, scale: Sequence[int], level: Level = Level.ORDINAL, seed: int = SEED) -> Coefficient:
    """Return Krippendorff's alpha of `grades`, shape (annotators, items), NaN where an annotator has not graded.

    `scale` has every grade that can be given, ascending. Raises ValueError for a grade that is not on it.
    """
    counts = _counts(grades, scale)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return Coefficient(None, None, None, 0, "No item has two grades yet, so there is nothing to compare.")
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    coincidences = _coincidences(patterns)

    def of(weights: Matrix) -> Matrix:
        return _alphas(weights @ patterns, weights @ coincidences, len(scale), level)

    return _with_interval(of, times, "Everybody gave one and the same grade to every item: alpha is not defined.", seed)


def alpha_of_grade(grades: Matrix, scale: Sequence[int], grade: int, seed: int = SEED) -> Coefficient:
    """Return alpha of one grade against all others together: how far annotators agree on when it is given.

    Grades are made a dichotomy, this one or another one, which locates the grades that a guideline leaves unclear.
    """
    chosen = np.where(np.isnan(grades), np.nan, (grades == grade).astype(np.float64))
    if not np.isin(grades[~np.isnan(grades)], np.asarray(scale)).all():
        raise ValueError(f"There are grades that are not on the scale {list(scale)}.")
    found = alpha(chosen, (0, 1), Level.NOMINAL, seed)
    if found.value is None and found.items:
        given = "always" if np.nanmax(chosen) == 1 else "never"
        return Coefficient(None, None, None, found.items, f"This grade was {given} given, so alpha is not defined.")
    return found


def kappa(
    first: Matrix,
    second: Matrix,
    scale: Sequence[int],
    weights: AgreementWeights = AgreementWeights.QUADRATIC,
    seed: int = SEED,
) -> Coefficient:
    """Return weighted kappa of two annotators, each of shape (items,), NaN where one has not graded.

    The distance of two grades is the number of steps between their places on `scale`. Raises ValueError for a grade
    that is not on it.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return Coefficient(None, None, None, 0, "The two have no item in common.")
    size = len(scale)
    cells = _places(first[both], scale) * size + _places(second[both], scale)
    kinds, times = np.unique(cells, return_counts=True)
    table = np.eye(size * size)[kinds]
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    distance = steps if weights is AgreementWeights.LINEAR else steps**2

    def of(drawn: Matrix) -> Matrix:
        seen = (drawn @ table).reshape(-1, size, size)
        expected = np.einsum("ri,rj->rij", seen.sum(axis=2), seen.sum(axis=1)) / seen.sum(axis=(1, 2))[:, None, None]
        return 1 - _divided((distance * seen).sum(axis=(1, 2)), (distance * expected).sum(axis=(1, 2)))

    return _with_interval(of, times, "Both gave one and the same grade to every item: kappa is not defined.", seed)


def _with_interval(of: Callable[[Matrix], Matrix], times: NDArray[Any], undefined: str, seed: int) -> Coefficient:
    """Return the coefficient of all items and its interval. `times` counts the items of each distinct kind."""
    items = int(times.sum())
    value = float(of(times[None, :].astype(np.float64))[0])
    if np.isnan(value):
        return Coefficient(None, None, None, items, undefined)
    drawn = of(np.random.default_rng(seed).multinomial(items, times / items, RESAMPLES).astype(np.float64))
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < LEAST_DEFINED * RESAMPLES:
        why = f"{items} item{'' if items == 1 else 's'} vary too little for an interval."
        return Coefficient(value, None, None, items, why)
    drawn_low, drawn_high = np.percentile(defined, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)])
    low, high = _reach_of_unseen(value, items)
    return Coefficient(value, min(low, float(drawn_low)), max(high, float(drawn_high)), items)


def _reach_of_unseen(value: float, items: int) -> tuple[float, float]:
    """Return how low and how high a coefficient could be because of kinds of items that none of these items shows.

    A kind with a share of u = 1 - 0.025^(1/n) is missing from n items with a probability of 2.5 % (Hanley and
    Lippman-Hand, JAMA 249, 1983: the rule of three). If its grades agreed as by chance, the coefficient would be
    value * (1 - u); if they agreed always, value + u * (1 - value).
    """
    unseen = 1 - ((1 - CONFIDENCE) / 2) ** (1 / items)
    return value * (1 - unseen), value + unseen * (1 - value)


def _counts(grades: Matrix, scale: Sequence[int]) -> Matrix:
    """Return how often each item got each grade, shape (items, grades)."""
    counts = np.zeros((grades.shape[1], len(scale)))
    for row in grades:
        graded = np.flatnonzero(~np.isnan(row))
        counts[graded, _places(row[graded], scale)] += 1
    return counts


def _places(grades: Matrix, scale: Sequence[int]) -> NDArray[np.intp]:
    """Return the places of grades on the scale."""
    known = np.asarray(scale, dtype=np.float64)
    places = np.minimum(np.searchsorted(known, grades), len(known) - 1)
    if not (known[places] == grades).all():
        raise ValueError(f"There are grades that are not on the scale {list(scale)}.")
    return places


def _coincidences(counts: Matrix) -> Matrix:
    """Return the pairs of grades in each item, ordered pairs weighted by 1 / (grades of the item - 1).

    `counts` has the shape (items, grades), the result (items, grades * grades).
    """
    pairs = np.einsum("ui,uj->uij", counts, counts)
    size = counts.shape[1]
    pairs[:, np.arange(size), np.arange(size)] -= counts
    pairs /= (counts.sum(axis=1) - 1)[:, None, None]
    return pairs.reshape(len(counts), size * size)


def _alphas(totals: Matrix, pairs: Matrix, size: int, level: Level) -> Matrix:
    """Return alpha of each sample, NaN where a sample has one grade only.

    `totals` has the shape (samples, grades), `pairs` (samples, grades * grades). Grades that count are those of items
    with two or more of them, so the totals are the margins of the coincidences.
    """
    if level is Level.NOMINAL:
        distance = np.broadcast_to(1 - np.eye(size), (len(totals), size, size))
    else:
        # The sum of the totals from c to k, less half of both ends, is the distance between the middles of their ranks.
        middles = np.cumsum(totals, axis=1) - totals / 2
        distance = (middles[:, :, None] - middles[:, None, :]) ** 2
    whole = totals.sum(axis=1)
    seen = (distance * pairs.reshape(-1, size, size)).sum(axis=(1, 2)) / whole
    expected = np.einsum("rij,ri,rj->r", distance, totals, totals) / (whole * (whole - 1))
    return 1 - _divided(seen, expected)


def _divided(above: Matrix, below: Matrix) -> Matrix:
    """Return the quotient, NaN where the divisor is 0."""
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
