import numpy as np
import pytest
from scipy.stats import bootstrap

from training.evaluation.measures import intervals, means, measure, resampled_means

# Worked out by hand: q1 has its only answer at rank 2; q2 has answers at ranks 1 and 3 and a third one nowhere; q3 got
# nothing; q4's answer stands at rank 21.
ANSWERS = {"q1": ["b"], "q2": ["x", "y", "z"], "q3": ["k"], "q4": ["r20"]}
RANKINGS = {"q1": ["a", "b"], "q2": ["x", "n", "y"], "q4": [f"r{i}" for i in range(30)]}


def test_measures_are_those_computed_by_hand() -> None:
    values = measure(RANKINGS, ANSWERS)
    assert values["H@1"].tolist() == [0, 100, 0, 0]
    assert values["H@5"].tolist() == [100, 100, 0, 0]
    assert values["R@20"] == pytest.approx([100, 200 / 3, 0, 0])
    assert values["MRR"] == pytest.approx([50, 100, 0, 100 / 21])
    # One answer, not first; three answers, of which two are among the first three.
    assert values["R-precision"] == pytest.approx([0, 200 / 3, 0, 0])


def test_a_question_without_a_ranking_stays_in_the_mean() -> None:
    assert means(measure({"q1": ["b"]}, {"q1": ["b"], "q2": ["x"]}))["H@1"] == 50.0


def test_no_ranking_at_all_scores_zero() -> None:
    assert means(measure({}, ANSWERS)) == {"H@1": 0.0, "H@5": 0.0, "R@20": 0.0, "MRR": 0.0, "R-precision": 0.0}


def test_rank_decides_and_not_the_order_of_names() -> None:
    """Nodes whose names sort backwards, and names that TREC files cannot hold."""
    ranking = {"q w": ["zz top", "a\tb", "ü%20"]}
    assert measure(ranking, {"q w": ["zz top"]})["H@1"].tolist() == [100]
    assert measure(ranking, {"q w": ["ü%20"]})["MRR"] == pytest.approx([100 / 3])


def test_mrr_ends_at_depth_100() -> None:
    ranking = {"q": [str(i) for i in range(200)]}
    assert measure(ranking, {"q": ["99"]})["MRR"] == pytest.approx([1.0])
    assert measure(ranking, {"q": ["100"]})["MRR"].tolist() == [0]


def test_intervals_hold_the_mean_and_are_the_same_every_time() -> None:
    values = {"H@1": np.array([0.0, 100.0] * 50)}
    low, high = intervals(values)["H@1"]
    # The standard error of a share of one half over 100 questions is 5 points; 95% is about ±9.8.
    assert low == pytest.approx(40.2, abs=1.5)
    assert high == pytest.approx(59.8, abs=1.5)
    assert intervals(values) == intervals(values)


def test_intervals_agree_with_scipys_bootstrap() -> None:
    values = {"MRR": np.random.default_rng(5).beta(0.5, 0.3, 300) * 100}
    by_scipy = bootstrap(
        (values["MRR"],), np.mean, method="percentile", n_resamples=20_000, rng=1
    ).confidence_interval  # fmt: skip
    assert intervals(values)["MRR"] == pytest.approx([by_scipy.low, by_scipy.high], abs=0.3)
    assert intervals(values, seed=1) != intervals(values, seed=2)
    assert intervals({}) == {}


def test_all_columns_are_resampled_by_the_same_draws() -> None:
    """So the difference of two resampled means is the resampled mean of the differences."""
    columns = np.random.default_rng(2).normal(50, 20, (40, 3))
    drawn = resampled_means(columns)
    assert drawn[:, 0] - drawn[:, 1] == pytest.approx(resampled_means(columns[:, :1] - columns[:, 1:2])[:, 0])
    assert resampled_means(np.full((7, 1), 3.0)) == pytest.approx(3.0)
    assert resampled_means(np.zeros((0, 2))).shape == (2_000, 2)
