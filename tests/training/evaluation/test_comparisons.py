"""Randomisation tests against scipy's, Holm's correction against values worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from training.evaluation.comparisons import comparisons, holm, randomisation_test


def by_scipy(differences: np.ndarray, resamples: float = np.inf) -> float:
    found = permutation_test(
        (differences,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", n_resamples=resamples, rng=1,
        vectorized=True,
    )  # fmt: skip
    return float(found.pvalue)


@given(st.lists(st.sampled_from([-100.0, -50.0, 0.0, 25.0, 100.0]), min_size=2, max_size=9))
def test_few_questions_are_tested_exactly_as_by_scipy(differences: list[float]) -> None:
    gain = np.array(differences)
    # Both signs of every difference are counted, also of those that are 0, which changes no share.
    assert randomisation_test(gain) == pytest.approx(min(1.0, by_scipy(gain)))


def test_many_questions_are_drawn_and_agree_with_scipy() -> None:
    gain = np.random.default_rng(3).normal(12, 100, 200)
    assert randomisation_test(gain) == pytest.approx(by_scipy(gain, 20_000), abs=0.02)
    assert randomisation_test(gain) == randomisation_test(gain)


def test_equal_pipelines_and_a_clear_one() -> None:
    assert randomisation_test(np.zeros(5)) == 1.0
    # All six differences of one sign: of 64 ways to change the signs two are as far from 0.
    assert randomisation_test(np.full(6, 100.0)) == 2 / 64


def test_holm_worked_out_by_hand() -> None:
    # Sorted: 0.01 * 3, 0.02 * 2, 0.3 * 1; and 0.04, 0.03 times 2 and 1 may not fall below the one before.
    assert holm([0.3, 0.01, 0.02]) == pytest.approx([0.3, 0.03, 0.04])
    assert holm([0.03, 0.04]) == pytest.approx([0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_every_pair_is_compared_by_every_measure() -> None:
    values = {
        "a": {"H@1": np.array([100.0, 100, 100, 0]), "MRR": np.array([100.0, 100, 100, 50])},
        "b": {"H@1": np.array([0.0, 100, 0, 0]), "MRR": np.array([50.0, 100, 50, 100])},
        "c": {"H@1": np.array([0.0, 100, 0, 0]), "MRR": np.array([0.0, 0, 0, 0])},
    }
    found = comparisons(values)
    assert [(one["a"], one["b"], one["metric"]) for one in found] == [
        ("a", "b", "H@1"), ("a", "b", "MRR"), ("a", "c", "H@1"), ("a", "c", "MRR"),
        ("b", "c", "H@1"), ("b", "c", "MRR"),
    ]  # fmt: skip
    first = found[0]
    assert (first["difference"], first["wins"], first["ties"], first["losses"]) == (50.0, 2, 2, 0)
    assert (found[1]["difference"], found[1]["wins"], found[1]["ties"], found[1]["losses"]) == (12.5, 2, 1, 1)
    # Two differences of one sign: 2 of 4 ways. By H@1 three pairs are compared: 0.5, 0.5 and 1.
    assert [one["p"] for one in found if one["metric"] == "H@1"] == [0.5, 0.5, 1.0]
    assert [one["p_holm"] for one in found if one["metric"] == "H@1"] == [1.0, 1.0, 1.0]
    assert first["interval"][0] <= 50 <= first["interval"][1]
    assert comparisons({"a": values["a"]}) == []
