"""The calibration of a ranker: how probable it is that its first candidate is an answer (docs/ranking.md).

Platt scaling (Platt 1999) over a few facts of the ranked list, fitted to the questions that the ranker learns from.
Each is ranked by trees that have not learned from it. The measure is held out too: what is told of a question comes
from a logistic function that was fitted to the questions of the other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from search.domain.logistic import Logistic
from search.signals.first_result import INPUTS, first_inputs
from search.signals.table import SignalTable
from training.evaluation.calibration import calibration
from training.learning.logistic_fit import fit_logistic, platt_targets

RIGHT = "right"
"""Key of the share of right first candidates in the bins."""


@dataclass(frozen=True, eq=False)
class ListFacts:
    """The facts of one ranked list: the inputs of the logistic function, whether the first is an answer, the fold."""

    inputs: NDArray[np.float64]
    right: bool
    fold: int

    @classmethod
    def of(cls, table: SignalTable, scores: NDArray[np.float64], answers: NDArray[np.bool_], fold: int) -> ListFacts:
        """Return the facts of candidates with these scores, which come from trees fitted without the fold."""
        first = int(scores.argmax())
        told = first_inputs(table, scores, first)
        return cls(np.array([told[name] for name in INPUTS]), bool(answers[first]), fold)


@dataclass(frozen=True, eq=False)
class RankerCalibration:
    """The logistic function of all questions, those fitted without each fold, and how well the latter tell it.

    `told` holds the probability of each question by the function that has not learned from it, `right` whether it was.
    """

    whole: Logistic
    folds: Sequence[Logistic]
    told: Sequence[float]
    right: Sequence[bool]

    def file(self) -> bytes:
        """Return the content of the artifact's file (`first_result.CALIBRATION`)."""
        return orjson.dumps({**self.whole.to_json(), "folds": [one.to_json() for one in self.folds]})

    def measured(self) -> dict[str, Any]:
        """Return the reliability of the held-out probabilities: `calibration`, and the weights of the inputs."""
        return {**(calibration(self.told, self.right, RIGHT) or {}), **self.whole.to_json()}

    def figures(self) -> dict[str, float]:
        """Return the calibration error in percent, for the model card."""
        return {"calibration error, %": 100 * float(self.measured().get("error", 0.0))}


def calibrated(lists: Sequence[ListFacts], folds: int) -> RankerCalibration:
    """Return the calibration that these lists teach, at least one; `folds` is the number of folds."""
    fold_of = np.array([one.fold for one in lists])
    inputs = np.array([one.inputs for one in lists])
    right = np.array([one.right for one in lists])

    def fitted(chosen: NDArray[np.bool_]) -> Logistic:
        # All questions in one fold leave none for its function; that of all questions stands in for it.
        mine = chosen if chosen.any() else np.ones_like(chosen)
        return fit_logistic(INPUTS, inputs[mine], platt_targets(right[mine]))

    without = [fitted(fold_of != fold) for fold in range(folds)]
    told = [
        without[fold].probability(dict(zip(INPUTS, row.tolist(), strict=True)))
        for fold, row in zip(fold_of.tolist(), inputs, strict=True)
    ]
    return RankerCalibration(fitted(fold_of >= 0), without, told, right.tolist())
