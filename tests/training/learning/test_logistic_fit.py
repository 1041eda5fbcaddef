"""The fit of a calibration: where it is known what comes out, and that no weight is negative."""

from __future__ import annotations

import math

import numpy as np
import pytest

from search.domain.logistic import Logistic
from training.learning.logistic_fit import fit_logistic, platt_targets


def test_without_inputs_that_vary_it_tells_the_share_of_right_ones() -> None:
    right = np.array([1.0, 1.0, 1.0, 0.0])
    found = fit_logistic(("same",), np.full((4, 1), 7.0), right)
    assert found.weights == {}
    assert found.constant == pytest.approx(math.log(3), abs=1e-4)
    # The wrong one counts as much as the three right ones together.
    even = fit_logistic(("same",), np.full((4, 1), 7.0), right, np.array([1.0, 1.0, 1.0, 3.0]))
    assert even.probability({"same": 7.0}) == pytest.approx(0.5, abs=1e-4)


def test_it_finds_the_function_that_the_targets_come_from() -> None:
    true = Logistic({"a": 1.2, "b": 0.4}, -0.5)
    inputs = np.random.default_rng(0).normal(size=(500, 3))
    targets = np.array([true.probability(dict(zip("abc", row.tolist(), strict=True))) for row in inputs])
    found = fit_logistic(("a", "b", "c"), inputs, targets)
    assert {"c": 0.0, **found.weights} == pytest.approx({"a": 1.2, "b": 0.4, "c": 0.0}, abs=0.03)
    assert found.constant == pytest.approx(-0.5, abs=0.03)


def test_an_input_that_speaks_against_being_right_gets_no_weight() -> None:
    inputs = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert fit_logistic(("a",), inputs, np.array([1.0, 1.0, 0.0, 0.0])).weights == {}
    assert fit_logistic(("a",), inputs, np.array([0.0, 1.0, 0.0, 1.0])).weights["a"] > 0


def test_the_targets_are_platts() -> None:
    """Three right ones: 4 of 5. One wrong one: 1 of 3."""
    assert platt_targets(np.array([True, True, False, True])).tolist() == pytest.approx([0.8, 0.8, 1 / 3, 0.8])
    never = fit_logistic(("a",), np.zeros((8, 1)), platt_targets(np.zeros(8, dtype=bool)))
    assert never.probability({}) == pytest.approx(0.1, abs=1e-4), "eight wrong ones do not prove that it is never right"
