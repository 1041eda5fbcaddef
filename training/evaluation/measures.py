"""H@1, H@5, R@20, MRR and R-precision by ir-measures, in percent, over all questions asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
import numpy as np
from numpy.typing import NDArray

MEASURES = {
    "H@1": ir_measures.Success @ 1,
    "H@5": ir_measures.Success @ 5,
    "R@20": ir_measures.R @ 20,
    "MRR": ir_measures.RR @ 100,
    "R-precision": ir_measures.Rprec,
}
DEPTH = 100
RESAMPLES = 2_000
SEED = 20_260

Values = dict[str, NDArray[np.float64]]


def measure(rankings: Mapping[str, Sequence[str]], answers: Mapping[str, Sequence[str]]) -> Values:
    """Return each measure's value in percent for every question of `answers`, in their order.

    `rankings` holds node ids from best to worst by question; a question without a ranking scores 0 and stays in the
    mean. R@20 divides by the number of answers (STaRK's convention). R-precision is the share of answers among as many
    first results as there are answers.
    """
    places = {question: place for place, question in enumerate(answers)}
    # Questions are numbered for ir-measures, so that question ids of any form are safe.
    qrels = [
        ir_measures.Qrel(str(place), answer, 1) for question, place in places.items() for answer in answers[question]
    ]
    run = [
        ir_measures.ScoredDoc(str(places[question]), node, float(-rank))
        for question, ranking in rankings.items()
        for rank, node in enumerate(ranking[:DEPTH])
    ]
    values = {name: np.zeros(len(places)) for name in MEASURES}
    names = {measure: name for name, measure in MEASURES.items()}
    if run:
        for found in ir_measures.iter_calc(list(MEASURES.values()), qrels, run):
            values[names[found.measure]][int(found.query_id)] = 100.0 * found.value
    return values


def means(values: Values) -> dict[str, float]:
    """Return the mean of each measure, rounded to two places."""
    return {name: round(float(column.mean()), 2) if len(column) else 0.0 for name, column in values.items()}


def intervals(values: Values, confidence: float = 0.95, seed: int = SEED) -> dict[str, list[float]]:
    """Return the percentile bootstrap interval of each mean; the same values and seed always give the same interval."""
    if not values:
        return {}
    drawn = resampled_means(np.stack(list(values.values()), axis=1), seed)
    return dict(zip(values, bounds(drawn, confidence), strict=True))


def resampled_means(columns: NDArray[np.float64], seed: int = SEED) -> NDArray[np.float64]:
    """Return the means of `RESAMPLES` bootstrap samples of the rows, shape (RESAMPLES, columns).

    `columns` has the shape (questions, columns). All columns are resampled by the same draws of questions. Therefore
    the difference of two columns of the result is the resampled mean of the paired differences.
    """
    questions = len(columns)
    if not questions:
        return np.zeros((RESAMPLES, columns.shape[1]))
    drawn = np.random.default_rng(seed).integers(0, questions, (RESAMPLES, questions))
    drawn += questions * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=RESAMPLES * questions).reshape(RESAMPLES, questions)
    means_of: NDArray[np.float64] = counts.astype(np.float64) @ columns / questions
    return means_of


def bounds(drawn: NDArray[np.float64], confidence: float = 0.95) -> list[list[float]]:
    """Return the percentile interval `[low, high]` of each column of resampled means, rounded to two places."""
    low, high = np.percentile(drawn, [50 * (1 - confidence), 50 * (1 + confidence)], axis=0)
    return [[round(float(one), 2), round(float(other), 2)] for one, other in zip(low, high, strict=True)]
