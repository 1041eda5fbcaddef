"""The expected calibration error against scikit-learn's calibration curve, and Wilson's interval against scipy's."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from training.evaluation.calibration import BINS, calibration, wilson


@pytest.mark.parametrize("seed", range(5))
def test_the_bins_are_those_of_scikit_learn(seed: int) -> None:
    chance = np.random.default_rng(seed)
    given = chance.beta(2, 1, 400)
    right = chance.random(400) < given**2
    told = calibration(given.tolist(), right.tolist(), "right")
    assert told is not None
    share, mean = calibration_curve(right, given, n_bins=BINS, strategy="uniform")
    assert [one["right"] for one in told["bins"]] == pytest.approx(share, abs=1e-4)
    assert [one["probability"] for one in told["bins"]] == pytest.approx(mean, abs=1e-4)
    counts = np.histogram(given, BINS, (0.0, 1.0))[0]
    assert [one["questions"] for one in told["bins"]] == counts[counts > 0].tolist()
    weights = counts[counts > 0] / counts.sum()
    assert told["error"] == pytest.approx(float(weights @ np.abs(share - mean)), abs=1e-4)


def test_edges_belong_to_the_bin_below_them() -> None:
    """As in the definition: bin m holds ((m - 1) / 15, m / 15]; 0 is in the first one."""
    told = calibration([0.0, 1 / 15, 2 / 15, 1.0], [0, 1, 1, 1], "right")
    assert told is not None
    assert [(one["to"], one["questions"]) for one in told["bins"]] == [(0.0667, 2), (0.1333, 1), (1.0, 1)]


def test_probabilities_that_are_kept_have_no_error() -> None:
    told = calibration([0.75] * 4, [1, 1, 1, 0], "right")
    assert told is not None
    assert told["error"] == 0.0
    assert calibration([], [], "right") is None


@pytest.mark.parametrize(("right", "count"), [(0, 1), (1, 1), (0, 12), (5, 12), (12, 12), (437, 900)])
def test_the_interval_is_scipys(right: int, count: int) -> None:
    by_scipy = binomtest(right, count).proportion_ci(method="wilson")
    assert wilson(right, count) == pytest.approx((by_scipy.low, by_scipy.high))


def test_nothing_asked_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
