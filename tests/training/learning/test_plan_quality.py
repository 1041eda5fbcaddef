"""Measures of a scorer of plans, worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from training.learning.plan_quality import TEMPERATURES, accuracy, best_temperature, calibration, probabilities


def scored(*rows: tuple[list[float], float]) -> list[tuple[np.ndarray, float]]:
    return [(np.array(sums), text) for sums, text in rows]


def labelled(*rows: list[float]) -> list[np.ndarray]:
    return [np.array(row, dtype=np.float64) for row in rows]


def test_probabilities_are_a_softmax_over_the_plans_and_the_text_as_the_last() -> None:
    assert probabilities(np.array([log(2), 0.0]), 0.0) == pytest.approx([0.5, 0.25, 0.25])
    assert probabilities(np.array([2 * log(2), 0.0]), 0.0, temperature=2.0) == pytest.approx([0.5, 0.25, 0.25])
    assert probabilities(np.zeros(0), 7.0) == pytest.approx([1.0])
    assert probabilities(np.array([1e6, -1e6]), 0.0) == pytest.approx([1.0, 0.0, 0.0])


def test_the_first_plan_is_right_when_no_other_finds_the_answers_better() -> None:
    lists = scored(([2.0, 1.0], 0.0), ([2.0, 1.0], 0.0), ([2.0, 1.0], 9.0), ([1.0], 0.0), ([], 5.0))
    # Right; another one is better; as good as the best; nothing to be found; no plan.
    labels = labelled([0.7, 0.2], [0.7, 0.8], [0.5, 0.5], [0.0], [])
    assert accuracy(lists, labels) == 40.0


def test_the_temperature_is_the_one_at_which_sums_are_worth_what_they_say() -> None:
    # Of ten questions the first plan, ahead by ln 16, is right eight times: at temperature 2 it says 4 to 1, and is.
    lists = scored(*[([log(16), 0.0], -100.0)] * 10)
    labels = labelled(*[[1.0, 0.0]] * 8, *[[0.0, 1.0]] * 2)
    nearest = TEMPERATURES[np.argmin(np.abs(TEMPERATURES - 2))]
    assert best_temperature(lists, labels) == pytest.approx(nearest)


def test_calibration_holds_what_the_first_plan_says_against_what_it_finds() -> None:
    lists = scored(([log(2), 0.0], 0.0), ([log(2), 0.0], 0.0), ([log(8), 0.0], 0.0), ([], 0.0))
    labels = labelled([1.0, 0.0], [0.2, 1.0], [1.0, 0.0], [])
    # Twice 0.5 with F1 1 and 0.2, once 0.8 with F1 1: |0.5 - 0.6| · 2/3 + |0.8 - 1| · 1/3.
    found = calibration(lists, labels, 1.0)
    assert found["error"] == pytest.approx(0.1333, abs=1e-4)
    bins = [(one["questions"], one["probability"], one["f1"]) for one in found["bins"]]
    assert bins == [(2, 0.5, 0.6), (1, 0.8, 1.0)]
    assert calibration(scored(([], 0.0)), labelled([]), 1.0) == {"error": 0.0, "bins": []}
