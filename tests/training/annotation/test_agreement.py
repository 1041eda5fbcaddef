"""Agreement against published examples, published libraries, and hand-computed edge cases."""

from __future__ import annotations

from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import bootstrap
from sklearn.metrics import cohen_kappa_score

from training.annotation.agreement import (
    AgreementWeights,
    Claim,
    Coefficient,
    Level,
    alpha,
    alpha_of_grade,
    kappa,
)
from training.annotation.agreement_report import meaning

NONE = np.nan
# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units, with
# missing values. It publishes nominal 0.743 and ordinal 0.815.
PUBLISHED = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
])  # fmt: skip
SCALE = (0, 1, 2, 3)


def people(items: int = 200, seed: int = 4) -> NDArray[np.float64]:
    """Return the grades of three annotators who mostly agree and leave out some items."""
    rng = np.random.default_rng(seed)
    right = rng.integers(0, 4, items)
    noise = rng.choice([-1, 0, 0, 0, 1], (3, items))
    grades = np.clip(right + noise, 0, 3).astype(float)
    grades[rng.random((3, items)) < 0.15] = NONE
    return grades


def test_alpha_is_that_of_the_published_example() -> None:
    assert alpha(PUBLISHED, range(1, 6), Level.NOMINAL).value == pytest.approx(0.743, abs=5e-4)
    ordinal = alpha(PUBLISHED, range(1, 6), Level.ORDINAL)
    assert ordinal.value == pytest.approx(0.815, abs=5e-4)
    assert ordinal.items == 11  # the last unit has one value


@pytest.mark.parametrize("level", Level)
def test_alpha_of_200_items_by_three_annotators_equals_the_published_library(level: Level) -> None:
    grades = people()
    theirs = krippendorff.alpha(reliability_data=grades, level_of_measurement=level.value)
    assert alpha(grades, SCALE, level).value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("weights", AgreementWeights)
def test_kappa_of_every_pair_equals_scikit_learns(weights: AgreementWeights) -> None:
    grades = people()
    for one, other in combinations(range(3), 2):
        both = ~np.isnan(grades[[one, other]]).any(axis=0)
        theirs = cohen_kappa_score(grades[one, both], grades[other, both], labels=SCALE, weights=weights.value)
        ours = kappa(grades[one], grades[other], SCALE, weights)
        assert ours.value == pytest.approx(theirs, abs=1e-12)
        assert ours.items == both.sum()


@given(st.lists(st.lists(st.sampled_from([NONE, 0.0, 1.0, 2.0, 3.0]), min_size=3, max_size=3), min_size=2, max_size=12))
def test_alpha_equals_the_library_on_anything_it_accepts(rows: list[list[float]]) -> None:
    grades = np.array(rows).T
    kept = grades[:, (~np.isnan(grades)).sum(axis=0) >= 2]
    ours = [alpha(grades, SCALE, level).value for level in Level]
    if kept.size == 0 or len(np.unique(kept[~np.isnan(kept)])) < 2:
        assert ours == [None, None]
        return
    theirs = [krippendorff.alpha(kept, level_of_measurement=level.value) for level in Level]
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_kappa_by_hand() -> None:
    """Four items, grades 0 to 2: the observed disagreement is 1 step of 4 items, the expected one 1 step an item.

    Margins: the first gave 0, 0, 1, 2 and the second 0, 1, 1, 2. Linear expected: (2*(0+2+2) + (1+0+1) + (2+2+0)) / 4
    = 14/4 steps, observed 1: 1 - 4/14. Squares: (2*(0+2+4) + (1+0+1) + (4+2+0)) / 4 = 20/4: 1 - 4/20.
    """
    first, second = np.array([0.0, 0, 1, 2]), np.array([0.0, 1, 1, 2])
    assert kappa(first, second, (0, 1, 2), AgreementWeights.LINEAR).value == pytest.approx(1 - 4 / 14)
    assert kappa(first, second, (0, 1, 2), AgreementWeights.QUADRATIC).value == pytest.approx(0.8)


def test_intervals_hold_the_value_shrink_with_items_and_repeat() -> None:
    small, large = alpha(people(50), SCALE), alpha(people(800), SCALE)
    for one in (small, large):
        assert one.low is not None
        assert one.high is not None
        assert one.value is not None
        assert one.low < one.value < one.high
    assert (large.high or 0) - (large.low or 0) < ((small.high or 0) - (small.low or 0)) / 2
    assert alpha(people(50), SCALE) == small
    assert alpha(people(50), SCALE, seed=1) != small


def test_the_interval_is_that_of_resampling_items_one_by_one() -> None:
    """The multinomial draw of distinct items against the plain bootstrap with the library."""
    grades = people(60)
    paired = grades[:, (~np.isnan(grades)).sum(axis=0) >= 2]
    rng = np.random.default_rng(8)
    plain = [
        krippendorff.alpha(paired[:, rng.integers(0, paired.shape[1], paired.shape[1])], level_of_measurement="nominal")
        for _ in range(1_000)
    ]
    ours = alpha(grades, SCALE, Level.NOMINAL)
    assert [ours.low, ours.high] == pytest.approx(list(np.percentile(plain, [2.5, 97.5])), abs=0.02)


def test_the_interval_of_kappa_is_that_of_scipys_bootstrap() -> None:
    grades = people(80)
    both = ~np.isnan(grades[:2]).any(axis=0)
    first, second = grades[0, both], grades[1, both]

    def of(places: NDArray[np.int64]) -> float:
        return float(cohen_kappa_score(first[places], second[places], labels=SCALE, weights="quadratic"))

    drawn = bootstrap((np.arange(len(first)),), of, n_resamples=1_000, method="percentile", vectorized=False,
                      rng=np.random.default_rng(3))  # fmt: skip
    ours = kappa(first, second, SCALE)
    assert [ours.low, ours.high] == pytest.approx(list(drawn.confidence_interval), abs=0.03)


def test_agreement_on_a_few_items_is_no_certainty() -> None:
    """All agree on n items: what n items do not show may be 1 - 0.025^(1/n) of all, so the low end is 0.025^(1/n).

    5 items: e^(-3.689/5) = 0.478; 17 items: e^(-3.689/17) = 0.805, the first number from which one may rely on it.
    """
    for items, low in ((5, 0.478), (16, 0.794), (17, 0.805)):
        grade = np.arange(items) % 4.0
        for found in (alpha(np.array([grade, grade]), SCALE), kappa(grade, grade, SCALE)):
            assert (found.value, found.high) == (1.0, 1.0)
            assert found.low == pytest.approx(low, abs=5e-4)
            claims = {5: Claim.TOO_FEW, 16: Claim.AT_LEAST_TENTATIVE, 17: Claim.RELIABLE}
            assert found.claim == claims[items]


@pytest.mark.parametrize(("items", "share"), [(6, 0.9), (8, 0.9), (15, 0.6), (30, 0.8)])
def test_intervals_hold_the_true_agreement_of_drawn_annotators(items: int, share: float) -> None:
    """Two annotators agree on a `share` of the items and grade the others by chance: nominal alpha is that share.

    Of 200 intervals of 95 %, 190 hold it on average, with a standard deviation of 3.1. A bare bootstrap holds it 88
    times with 8 items, and calls most of the agreement enough to rely on.
    """
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        first = rng.integers(0, 4, items)
        second = np.where(rng.random(items) < share, first, rng.integers(0, 4, items))
        found = alpha(np.array([first, second], dtype=float), SCALE, Level.NOMINAL)
        held += found.low is None or found.high is None or found.low <= share <= found.high
        assert items > 8 or found.claim in (Claim.TOO_FEW, Claim.NOTHING)
    assert held >= 181


@pytest.mark.parametrize(
    ("low", "high", "claim"),
    [
        (0.85, 0.95, Claim.RELIABLE),
        (0.80, 0.80, Claim.RELIABLE),
        (0.70, 0.79, Claim.TENTATIVE),
        (0.70, 0.90, Claim.AT_LEAST_TENTATIVE),
        (0.50, 0.75, Claim.TOO_FEW),
        (0.10, 0.95, Claim.TOO_FEW),
        (0.10, 0.60, Claim.LITTLE),
        (-0.2, 0.60, Claim.LITTLE),
        (-0.4, 0.00, Claim.CHANCE),
        (None, None, Claim.TOO_FEW),
    ],
)
def test_a_claim_is_what_both_ends_of_the_interval_allow(low: float | None, high: float | None, claim: Claim) -> None:
    found = Coefficient(0.72, low, high, 20, "20 items vary too little for an interval.")
    assert found.claim == claim
    said = meaning(found)
    assert "α is 0.72" in said
    assert said.startswith("Too few") == (claim is Claim.TOO_FEW)
    assert ("to rely on their grades" in said) == (claim is Claim.RELIABLE)
    assert Coefficient(None, None, None, 0, "Why not.").claim == Claim.NOTHING


def test_alpha_of_a_grade_takes_all_others_as_one() -> None:
    grades = people()
    as_two = np.where(np.isnan(grades), NONE, grades == 2)
    theirs = krippendorff.alpha(as_two, level_of_measurement="nominal")
    assert alpha_of_grade(grades, SCALE, 2).value == pytest.approx(theirs)
    assert "never given" in alpha_of_grade(np.array([[0.0, 1], [0, 1]]), SCALE, 3).why
    assert "always given" in alpha_of_grade(np.array([[3.0, 3], [3, 3]]), SCALE, 3).why


def test_what_cannot_be_said_is_a_sentence() -> None:
    alone = alpha(np.array([[1.0, 2, 3]]), SCALE)
    assert (alone.value, alone.items) == (None, 0)
    assert "No item has two grades" in alone.why
    same = alpha(np.full((2, 5), 3.0), SCALE)
    assert (same.value, same.items) == (None, 5)
    assert "one and the same grade" in same.why
    assert alpha(np.empty((0, 0)), SCALE).value is None
    assert "no item in common" in kappa(np.array([1.0, NONE]), np.array([NONE, 1.0]), SCALE).why
    assert "not defined" in kappa(np.array([1.0, 1]), np.array([1.0, 1]), SCALE).why
    few = alpha(np.array([[0.0, 1], [0, 1]]), SCALE)
    assert (few.value, few.low) == (1.0, None)
    assert few.why == "2 items vary too little for an interval."


def test_a_grade_outside_the_scale_is_refused() -> None:
    for call in (
        lambda: alpha(np.array([[9.0], [1]]), SCALE),
        lambda: alpha_of_grade(np.array([[9.0], [1]]), SCALE, 1),
        lambda: kappa(np.array([1.5]), np.array([1.0]), SCALE),
    ):
        with pytest.raises(ValueError, match="not on the scale"):
            call()
