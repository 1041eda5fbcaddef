"""What speaks for the first candidate of a ranked list: the inputs of its calibrated probability (docs/ranking.md).

Predicting from a ranked list alone whether it is good is query performance prediction after retrieval (Carmel and
Yom-Tov 2010, chapter 5): the first score against the others says most. Platt scaling turns it into a probability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from search.domain.logistic import FURTHEST, log_odds
from search.signals.table import SignalTable

CALIBRATION = "calibration.json"
"""Name of the file of an artifact with the logistic function: `{"weights", "constant", "folds": [the same for each]}`.
Artifacts of earlier versions have none."""
INPUTS = ("share", "margin", "plan", "leads")
"""The names of the inputs; more of any of them never lowers the probability."""


def first_inputs(table: SignalTable, scores: NDArray[np.float64], first: int) -> dict[str, float]:
    """Return the inputs for the first candidate; `scores` are those of all, and `first` is its row in the table.

    `share` is the log-odds of its part of the softmax of all scores, `margin` its score less the second best. Alone in
    the list, it has the most of both. `plan` is the log-odds of the best plan's probability if it meets the whole plan,
    else the least there are; `leads` says that it does, and that the plan's order was kept in the fused list. With both
    the probability serves where texts decide and where a plan does.
    """
    behind = np.delete(scores, first) - scores[first]
    share = margin = FURTHEST
    if len(behind):
        highest = float(behind.max())
        share = -(highest + float(np.log(np.exp(behind - highest).sum())))
        margin = -highest
    met = _value(table, "plan:whole", first) > 0
    plan = log_odds(_value(table, "plan:trust", first)) if met else -FURTHEST
    leads = _value(table, "plan:leads", first) if met else 0.0
    bounded = (max(-FURTHEST, min(FURTHEST, share)), min(FURTHEST, margin), plan, leads)
    return dict(zip(INPUTS, bounded, strict=True))


def _value(table: SignalTable, name: str, at: int) -> float:
    """Return a signal of a candidate; 0 where it does not apply."""
    column = table.columns.get(name)
    return 0.0 if column is None or np.isnan(column[at]) else float(column[at])
