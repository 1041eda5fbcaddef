"""The time left of work in parts; every expectation is computed by hand in the comment above it."""

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx  # noqa: PT013

from search.domain.time_left import FEW, OVERDUE, TRUST, Estimator


def test_before_anything_is_reported_the_expected_seconds_are_left() -> None:
    estimate = Estimator({"read": 10.0, "write": 30.0}, 0.0).estimate(5.0)
    assert (estimate.part, estimate.share, estimate.seconds_left, estimate.seconds) == ("", 0.0, 40.0, 5.0)


def test_without_any_expectation_there_is_no_guess_until_something_is_done() -> None:
    estimator = Estimator({}, 0.0)
    assert estimator.estimate(1.0).seconds_left is None
    estimator.report("read", 0, 100, 0.0)
    assert estimator.estimate(1.0).seconds_left is None
    estimator.report("read", 20, 100, 10.0)
    # 20 in 10 s: 80 more in 40 s. Nothing is expected, so the rate alone decides.
    estimate = estimator.estimate(10.0)
    assert (estimate.seconds_left, estimate.share) == (40.0, 0.2)


def test_a_part_at_the_expected_pace_leaves_exactly_the_rest() -> None:
    estimator = Estimator({"read": 10.0, "write": 30.0}, 0.0)
    estimator.report("read", 0, 100, 0.0)
    estimator.report("read", 50, 100, 5.0)
    # Rate and expectation agree: 5 s of reading and 30 s of writing.
    estimate = estimator.estimate(5.0)
    assert estimate.seconds_left == approx(35.0)
    assert estimate.share == approx(5 / 40)


def test_a_slow_machine_is_expected_to_stay_slow() -> None:
    estimator = Estimator({"read": 10.0, "write": 30.0}, 0.0)
    estimator.report("read", 0, 100, 0.0)
    estimator.report("read", 100, 100, 20.0)
    # Twice the time. The pace is (20 + 0.02 · 40) / (10 + 0.02 · 40), and 30 s are expected.
    assert estimator.estimate(20.0).seconds_left == approx(30.0 * (20 + 40 * FEW) / (10 + 40 * FEW))


def test_a_count_that_goes_back_begins_the_part_again() -> None:
    estimator = Estimator({"read": 20.0, "write": 10.0}, 0.0)
    estimator.report("read", 50, 100, 0.0)
    estimator.report("write", 0, 100, 0.0)
    estimator.report("read", 60, 100, 1.0)
    estimator.report("read", 0, 100, 1.0)
    # Writing took 1 s of 10: the pace is (1 + 30 · 0.02) / (10 + 30 · 0.02). Of reading nothing is known but its 20 s.
    assert estimator.estimate(1.0).seconds_left == approx(20.0 * (1 + 30 * FEW) / (10 + 30 * FEW))


def test_a_part_whose_size_nobody_knows_counts_by_its_expected_time_and_never_as_nothing() -> None:
    estimator = Estimator({"sort": 10.0}, 0.0)
    estimator.report("sort", 0, None, 0.0)
    assert estimator.estimate(4.0).seconds_left == approx(6.0, rel=0.05)
    assert estimator.estimate(20.0).seconds_left >= OVERDUE * 20.0


def test_within_a_part_the_expectation_counts_like_a_little_progress() -> None:
    estimator = Estimator({"read": 100.0}, 0.0)
    for at, done in [(0.0, 0), (6.0, 30), (12.0, 60)]:
        estimator.report("read", done, 1000, at)
    # Since the first units 30 of 1,000 in 6 s: the rate says 188 s for 940. The pace is (6 + 2) / (3 + 2) = 1.6: the
    # expectation says 100 · 1.6 · 0.94 = 150.4 s. After 3 % of the part both count the same.
    assert TRUST == 0.03
    assert estimator.estimate(12.0).seconds_left == approx((188.0 + 150.4) / 2)


def test_a_start_is_no_rate_and_slows_nothing_that_follows() -> None:
    estimator = Estimator({"ask": 60.0, "write": 40.0}, 0.0)
    estimator.report("ask", 0, 100, 0.0)
    # Models are loaded for 15 s. Nothing is known of the pace: 60 s and 40 s are expected.
    assert estimator.estimate(15.0).seconds_left == approx(100.0)
    estimator.report("ask", 1, 100, 15.6)
    # As a rate, 1 in 15.6 s would be 1,544 s more. It bounds from above: 99 % of 60 s, and 40 s.
    assert estimator.estimate(15.6).seconds_left == approx(0.99 * 60 + 40)
    estimator.report("ask", 11, 100, 21.6)
    # Ten in 6 s, as expected: the pace is 1, and 89 more take 53.4 s by both.
    assert estimator.estimate(21.6).seconds_left == approx(53.4 + 40)
    estimator.report("ask", 100, 100, 75.0)
    estimator.report("write", 0, 10, 75.0)
    # 99 in 59.4 s: the start is not counted when the part is finished, either.
    assert estimator.estimate(75.0).seconds_left == approx(40.0)


def test_first_units_that_come_early_are_known_to_be_fast() -> None:
    estimator = Estimator({"ask": 60.0, "write": 40.0}, 0.0)
    estimator.report("ask", 0, 100, 0.0)
    estimator.report("ask", 10, 100, 1.0)
    # At most 0.1 s each, so 9 s at most for 90. The pace is (1 + 0.02 · 100) / (6 + 0.02 · 100) = 3 / 8.
    assert FEW == 0.02
    assert estimator.estimate(1.0).seconds_left == approx(9.0 + 40 * 3 / 8)


def test_a_lead_that_is_expected_runs_out_and_is_not_expected_of_the_units() -> None:
    estimator = Estimator({"ask": 20.0, "write": 10.0}, 0.0, leads={"ask": 15.0})
    assert estimator.estimate(4.0).seconds_left == approx(30 - 4)
    estimator.report("ask", 0, 100, 0.0)
    # Of the lead 10 s are left, of the units 5 s, and 10 s of writing.
    assert estimator.estimate(5.0).seconds_left == approx(10 + 5 + 10)
    estimator.report("ask", 1, 100, 15.05)
    estimator.report("ask", 51, 100, 17.55)
    # 50 in 2.5 s, as the units' 5 s for 100 have it: 49 in 2.45 s.
    assert estimator.estimate(17.55).seconds_left == approx(2.45 + 10)


def test_the_newest_half_of_a_part_decides_its_rate() -> None:
    estimator = Estimator({}, 0.0)
    for at, done in [(0.0, 0), (10.0, 25), (20.0, 50), (21.0, 75), (22.0, 100)]:
        estimator.report("read", done, 400, at)
    # From 50 to 100 in 2 s: 300 more in 12 s. The whole part so far would say 66 s.
    assert estimator.estimate(22.0).seconds_left == approx(12.0)


def test_a_resumed_part_counts_only_what_this_process_did() -> None:
    estimator = Estimator({}, 0.0)
    estimator.report("embed", 800, 1000, 0.0)
    estimator.report("embed", 900, 1000, 50.0)
    # 100 in 50 s, and 100 are left; from 0 it would look like 900 in 50 s.
    assert estimator.estimate(50.0).seconds_left == approx(50.0)


def test_parts_that_were_skipped_are_finished() -> None:
    estimator = Estimator({"check": 10.0, "load": 20.0, "index": 30.0}, 0.0)
    estimator.report("index", 0, None, 0.0)
    estimate = estimator.estimate(0.0)
    assert [part.finished for part in estimate.parts] == [True, True, False]
    assert estimate.share == approx(0.5)
    assert estimate.seconds_left == approx(30.0)


def test_a_part_that_nobody_planned_follows_the_present_one() -> None:
    estimator = Estimator({"read": 10.0, "write": 10.0}, 0.0)
    estimator.report("read", 1, 2, 1.0)
    estimator.report("sort", 0, None, 2.0)
    assert [part.name for part in estimator.estimate(2.0).parts] == ["read", "sort", "write"]


def test_a_part_that_stands_still_does_not_promise_to_end_at_once() -> None:
    estimator = Estimator({}, 0.0)
    estimator.report("embed", 0, 10, 0.0)
    estimator.report("embed", 9, 10, 9.0)
    assert estimator.estimate(9.0).seconds_left == approx(1.0)
    assert estimator.estimate(109.0).seconds_left == approx(OVERDUE * 100.0)


def test_the_time_between_two_parts_belongs_to_the_first() -> None:
    estimator = Estimator({"read": 1.0, "write": 1.0}, 0.0)
    estimator.report("read", 5, 5, 1.0)
    estimator.report("write", 0, 5, 4.0)
    estimator.report("write", 5, 5, 5.0)
    # What comes before the first report belongs to the first part.
    assert [part["seconds"] for part in estimator.estimate(9.0).to_json()["parts"]] == [4.0, 1.0]


def test_seconds_of_earlier_attempts_are_added_and_change_no_rate() -> None:
    estimator = Estimator({"read": 10.0}, 0.0, {"read": 100.0})
    estimator.report("read", 0, 10, 0.0)
    estimator.report("read", 5, 10, 5.0)
    estimate = estimator.estimate(5.0)
    assert estimate.to_json()["parts"][0]["seconds"] == 105.0
    assert estimate.seconds_left == approx(5.0)


def test_when_all_is_done_nothing_is_left() -> None:
    estimator = Estimator({"read": 10.0, "write": 10.0}, 0.0)
    estimator.report("read", 1, 2, 1.0)
    estimator.finish(2.0)
    estimate = estimator.estimate(2.0)
    assert (estimate.share, estimate.seconds_left) == (1.0, 0.0)


@given(
    st.lists(st.floats(0.0, 100.0), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50), st.floats(0.0, 10.0)), max_size=100),
)
def test_whatever_is_reported_the_estimate_is_a_share_and_a_time(
    expected: list[float], reports: list[tuple[int, int, float]]
) -> None:
    estimator = Estimator({f"part {at}": seconds for at, seconds in enumerate(expected)}, 0.0)
    now = 0.0
    for part, done, passed in reports:
        now += passed
        estimator.report(f"part {part}", done, 50 if part else None, now)
        estimate = estimator.estimate(now)
        assert 0.0 <= estimate.share <= 1.0 + 1e-9
        assert estimate.seconds_left is None or 0.0 <= estimate.seconds_left < 1e9
