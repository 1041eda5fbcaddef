"""How long work takes, from former work; every expectation is computed by hand in the comment above it."""

import math

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx  # noqa: PT013

from search.domain.foresight import CURVED, NOISE, UNKNOWN, Foreseen, Seconds, foresee


def test_without_former_work_the_size_is_taken_with_a_wide_spread() -> None:
    found = foresee([], 40.0)
    assert found.median == approx(40.0)
    assert found.spread == approx(math.hypot(UNKNOWN, NOISE))


def test_work_of_no_size_takes_no_time() -> None:
    assert foresee([(1.0, 2.0)], 0.0).left() == Seconds(0.0, 0.0, 0.0)


def test_one_former_job_is_followed_and_leaves_the_spread_of_two_runs() -> None:
    # Half a second is added to both sides: 19.5 s for a size of 9.5 are twice the size. The intercept's prior, 0 with a
    # spread of 1.5, counts as 0.35² / 1.5² = 0.054 jobs: ln 2 / 1.054 = 0.657, and 10 · e^0.657 - 0.5 = 18.8. The job
    # is off by 0.036 only, so that the noise falls to two thirds and the prior counts less: between 18.8 and 19.5.
    found = foresee([(9.5, 19.5)], 9.5)
    assert 18.8 < found.median < 19.5
    assert found.spread == approx(NOISE * math.sqrt(2 / 3 + 2 / 3), rel=0.05)


def test_the_spread_shrinks_with_every_job_that_took_the_same_time() -> None:
    spreads = [foresee([(10.0, 30.0)] * jobs, 10.0).spread for jobs in (0, 1, 3, 10, 100)]
    assert spreads == sorted(spreads, reverse=True)
    assert foresee([(10.0, 30.0)] * 100, 10.0).median == approx(30.0, rel=0.01)


def test_jobs_that_scattered_keep_the_spread_wide() -> None:
    # Times half and double of 30 s: each logarithm is ln 2 = 0.69 off.
    found = foresee([(10.0, 15.0), (10.0, 60.0)] * 50, 10.0)
    assert found.median == approx(30.0, rel=0.02)
    assert found.spread == approx(math.log(2), rel=0.05)


def test_seconds_stay_in_proportion_to_the_size_until_former_work_says_otherwise() -> None:
    assert foresee([(10.0, 20.0)] * 30, 1000.0).median == approx(2000.0, rel=0.06)
    # A hundred times the size took a thousand times as long: the exponent is 1.5.
    curved = [(10.0, 20.0), (1000.0, 20_000.0)] * 30
    assert foresee(curved, 100_000.0).median == approx(2e7, rel=0.2)


def test_sizes_that_are_far_from_former_ones_are_foreseen_less_surely() -> None:
    near, far = (foresee([(10.0, 20.0)] * 30, size).spread for size in (10.0, 1000.0))
    # The slope is known as little as at first: its spread times the logarithm of the distance.
    assert far == approx(math.hypot(near, CURVED * math.log(1000 / 10)), rel=0.1)


def test_the_range_of_a_duration_holds_nine_of_ten() -> None:
    # With a spread of π / √3 the shape is 1: P(longer than t) = 1 / (1 + t / 10), 0.95 at 10 / 19 and 0.05 at 190 s.
    left = Foreseen(10.0, math.pi / math.sqrt(3)).left()
    assert (left.low, left.middle, left.high) == approx((10 / 19, 10.0, 190.0))


def test_what_has_taken_longer_than_foreseen_needs_longer_still() -> None:
    # Longer than 10 s, of the same distribution: half of what is left of 1 is 1 / 4, reached at 30 s.
    assert Foreseen(10.0, math.pi / math.sqrt(3)).left(10.0).middle == approx(20.0)
    # A thousand times as long: ln 1000 · 0.25 = 1.73 makes the shape 1.05 or less, and half needs as long again.
    late = Foreseen(10.0, 0.01).left(10_000.0)
    assert late.middle == approx(10_000.0 * (2 ** (1.7 / 1.814) - 1), rel=0.05)
    assert late.high > 10 * late.middle


def test_errors_of_independent_durations_add_in_quadrature() -> None:
    assert Seconds(7.0, 10.0, 14.0) + Seconds(16.0, 20.0, 23.0) == Seconds(25.0, 30.0, 35.0)


def test_of_two_sources_the_surer_one_counts_more() -> None:
    # Weights 1 / 0.1² = 100 and 1 / 0.2² = 25: the logarithm is 4 : 1 between 10 and 1000, at 10 · 100^(1/5).
    both = Foreseen(10.0, 0.1).combined(Foreseen(1000.0, 0.2))
    assert both.median == approx(10 * 100**0.2)
    # Sure ones would leave 1 / √125. These disagree: the variance between them is 0.8 · 0.2 · (ln 100)².
    assert both.spread == approx(math.sqrt(1 / 125 + 0.16 * math.log(100) ** 2))


@given(
    st.lists(st.tuples(st.floats(0.0, 1e6), st.floats(0.0, 1e6)), max_size=20),
    st.floats(0.0, 1e6), st.floats(0.0, 1e7),
)  # fmt: skip
def test_whatever_former_work_took_the_range_is_in_order(
    former: list[tuple[float, float]], size: float, after: float
) -> None:
    left = foresee(former, size).left(after)
    assert 0.0 <= left.low <= left.middle <= left.high < math.inf
