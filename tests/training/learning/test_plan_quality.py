"""Measures of learned weights, worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from tests.training.learning.meanings import table_of
from training.learning.pair_fit import PairPart
from training.learning.plan_meanings import Values
from training.learning.plan_quality import TEMPERATURES, best_temperature, calibration, measures


def scored(*rows: tuple[list[float], list[float]]) -> list[tuple[PairPart, Values]]:
    """Return questions by the scores of their meanings and the F1 of each; no two meanings find the same."""
    table = table_of(*((scores, fit, list(range(len(fit)))) for scores, fit in rows))
    part = PairPart.of_table(table, np.arange(len(rows)))
    return [(part, part.scores)]


def test_the_first_meaning_is_right_when_no_other_finds_the_answers_better() -> None:
    found = scored(
        # Right; another one is better; just the answers; nothing to be found.
        ([2.0, 1.0], [0.7, 0.2]), ([2.0, 1.0], [0.7, 0.8]), ([2.0, 1.0], [1.0, 1.0]), ([1.0], [0.0]),
    )  # fmt: skip
    assert measures(found, 4) == {"right": 50.0, "whole": 25.0, "f1": 60.0}
    # A question without meanings is wrong.
    assert measures(found, 5) == {"right": 40.0, "whole": 20.0, "f1": 48.0}


def test_the_temperature_is_the_one_at_which_probabilities_are_worth_what_they_say() -> None:
    # Of ten questions the first meaning, ahead by ln 16, is right eight times: at temperature 2 it says 4 to 1, and is.
    right, wrong = ([log(16), 0.0], [1.0, 0.0]), ([log(16), 0.0], [0.0, 1.0])
    nearest = TEMPERATURES[np.argmin(np.abs(TEMPERATURES - 2))]
    assert best_temperature(scored(*[right] * 8, *[wrong] * 2)) == pytest.approx(nearest)


def test_the_temperature_is_searched_until_the_run_must_stop() -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        best_temperature(scored(([1.0, 0.0], [1.0, 0.0])), stop)


def test_bins_compare_the_probability_of_first_meanings_with_their_f1() -> None:
    # At temperature 2 the first has 4 to 1; it is right in one of two questions.
    found = calibration(scored(([log(16), 0.0], [1.0, 0.0]), ([log(16), 0.0], [0.0, 1.0])), 2.0)
    assert (found["error"], found["questions"]) == (pytest.approx(0.3), 2)
