"""The time left of work in parts; every expectation is computed by hand in the comment above it."""

import math

from hypothesis import given
from hypothesis import strategies as st
from pytest import approx  # noqa: PT013

from search.domain.foresight import Seconds
from search.domain.time_left import BUSY, WIDEST, Estimate, Estimator
from search.domain.work_parts import OVERDUE, Former, History


def known(**parts: float) -> History:
    """Return the history of a machine that has done the same parts a thousand times, without a start before them."""
    return {name: [Former(seconds, 0.0, seconds)] * 1000 for name, seconds in parts.items()}


def estimator(now: float = 0.0, **parts: float) -> Estimator:
    """Return an estimator of parts whose seconds are known."""
    return Estimator(parts, now, history=known(**parts))


def left(estimate: Estimate) -> Seconds:
    assert estimate.left is not None
    return estimate.left


def test_before_anything_is_reported_what_former_jobs_took_is_left() -> None:
    estimate = estimator(read=10.0, write=30.0).estimate(0.0)
    assert (estimate.part, estimate.share, estimate.seconds) == ("", 0.0, 0.0)
    assert left(estimate).middle == approx(40.0, rel=0.01)
    # All of the job may be slower: 40 · 19^(0.5 · √3 / π) = 90 s, and faster: 18 s.
    assert left(estimate).low < 30 < 50 < left(estimate).high


def test_without_former_jobs_there_is_no_guess_until_the_work_has_shown_its_own_speed() -> None:
    first = Estimator({"read": 10.0}, 0.0)
    assert first.estimate(0.0).left is None
    first.report("read", 0, 100, 0.0)
    assert first.estimate(1.0).left is None
    first.report("read", 10, 100, 30.0)
    first.report("read", 30, 100, 90.0)
    # 20 in 60 s: 70 more in 210 s, whatever a reference machine would take.
    assert left(first.estimate(90.0)).middle == approx(210.0, rel=0.1)


def test_without_former_jobs_the_parts_to_come_forbid_a_guess() -> None:
    first = Estimator({"read": 10.0, "write": 30.0}, 0.0)
    for done in (0, 10, 30):
        first.report("read", done, 100, 3.0 * done)
    # 210 s of reading are known; of writing only that a reference machine would take 30 s.
    assert first.estimate(90.0).left is None


def test_without_any_size_there_is_no_guess_until_something_is_done() -> None:
    first = Estimator({}, 0.0)
    assert first.estimate(1.0).left is None
    first.report("read", 0, 100, 0.0)
    assert first.estimate(1.0).left is None
    first.report("read", 20, 100, 10.0)
    first.report("read", 40, 100, 20.0)
    # 20 in 10 s: 60 more in 30 s.
    estimate = first.estimate(20.0)
    assert (left(estimate).middle, estimate.share) == (approx(30.0), 0.4)


def test_a_part_at_the_foreseen_pace_leaves_exactly_the_rest() -> None:
    work = estimator(read=10.0, write=30.0)
    for done in (0, 10, 50):
        work.report("read", done, 100, done / 10)
    # Rate and former jobs agree: 5 s of reading and 30 s of writing.
    assert left(work.estimate(5.0)).middle == approx(35.0, rel=0.02)
    assert work.estimate(5.0).share == approx(5 / 40)


def test_a_slow_machine_is_expected_to_stay_slow() -> None:
    work = estimator(read=100.0, write=30.0)
    work.report("read", 0, 100, 0.0)
    work.report("read", 100, 100, 200.0)
    # Twice the time, and former jobs hardly differed: the 30 s take 60.
    assert left(work.estimate(200.0)).middle == approx(60.0, rel=0.03)
    # The pace has been seen, so that the range is narrower than before the start.
    before, after = estimator(write=60.0).estimate(0.0), work.estimate(200.0)
    assert left(after).high - left(after).low < 0.5 * (left(before).high - left(before).low)


def test_the_range_never_ends_before_the_running_part_does() -> None:
    work = estimator(read=100.0, write=1.0)
    for done in (0, 10, 20):
        work.report("read", done, 100, 10.0 * done)
    # 80 more at ten seconds each are 800 s, although former jobs took a second each: the slow part decides.
    assert left(work.estimate(200.0)).low > 650.0


def test_a_part_whose_size_nobody_knows_counts_by_its_foreseen_time_and_never_as_nothing() -> None:
    work = estimator(sort=10.0)
    work.report("sort", 0, None, 0.0)
    assert left(work.estimate(4.0)).middle == approx(6.0, rel=0.15)
    # What has taken twice the usual time may take as long again, and nobody knows.
    late = work.estimate(30.0).left
    assert late is None or late.high > 1.0


def test_a_start_is_no_rate_and_slows_nothing_that_follows() -> None:
    work = estimator(ask=60.0, write=40.0)
    work.report("ask", 0, 100, 0.0)
    work.report("ask", 1, 100, 15.6)
    # As a rate, 1 in 15.6 s would be 1,544 s more. It is an upper bound: former jobs took 0.6 s for each.
    assert left(work.estimate(15.6)).middle < 300
    work.report("ask", 11, 100, 21.6)
    work.report("ask", 21, 100, 27.6)
    # Twenty in 12 s, as former jobs: 79 more take 47.4 s.
    assert left(work.estimate(27.6)).middle == approx(47.4 + 40, rel=0.02)


def test_a_start_that_former_jobs_had_runs_out_and_is_not_expected_of_the_units() -> None:
    former = {"ask": [Former(5.0, 15.0, 5.0)] * 1000, "write": [Former(10.0, 0.0, 10.0)] * 1000}
    work = Estimator({"ask": 5.0, "write": 10.0}, 0.0, history=former)
    assert left(work.estimate(4.0)).middle == approx(30 - 4, rel=0.02)
    work.report("ask", 0, 100, 0.0)
    # Of the start 10 s are left, of the units 5 s, and 10 s of writing.
    assert left(work.estimate(5.0)).middle == approx(10 + 5 + 10, rel=0.02)
    work.report("ask", 1, 100, 15.05)
    work.report("ask", 51, 100, 17.55)
    # 50 in 2.5 s, as former jobs: 49 in 2.45 s.
    assert left(work.estimate(17.55)).middle == approx(2.45 + 10, rel=0.02)


def test_the_rate_is_between_that_of_all_and_that_of_the_newest_half_and_unsure_by_their_distance() -> None:
    work = Estimator({}, 0.0)
    for at, done in [(0.0, 0), (10.0, 20), (30.0, 60), (42.0, 100)]:
        work.report("read", done, 400, at)
    # From 20 to 100 in 32 s: 300 more in 120 s. From 60 on, in 12 s: 300 more in 90 s. The mean of logarithms: 104 s.
    found = left(work.estimate(42.0))
    assert found.middle == approx(math.sqrt(120 * 90))
    # The ends are at least as far as if its spread was half of ln (120 / 90), 0.144: 19^(0.144 · √3 / π) = 1.26.
    assert found.high > 104 * 1.26


def test_while_nothing_comes_the_time_left_does_not_shrink() -> None:
    work = Estimator({}, 0.0)
    for done in (0, 10, 20, 30):
        work.report("read", done, 100, float(done))
    assert left(work.estimate(30.0)).middle == approx(70.0)
    # Ten should have come at 40 s. If they come at 50 s, it was 40 in 50 s or, of the newest, 20 in 30 s.
    # Of all since 10: 30 in 40 s, 60 more in 80 s. Of the newest half, since 20: 20 in 30 s, 60 more in 90 s.
    assert left(work.estimate(50.0)).middle == approx(math.sqrt(80 * 90))


def test_a_resumed_part_counts_only_what_this_process_did() -> None:
    work = Estimator({}, 0.0)
    for at, done in ((0.0, 700), (50.0, 800), (100.0, 900)):
        work.report("embed", done, 1000, at)
    # 100 in 50 s, and 100 are left; from 0 it would look like 900 in 100 s.
    assert left(work.estimate(100.0)).middle == approx(50.0)


def test_parts_that_were_skipped_are_finished() -> None:
    work = estimator(check=10.0, load=20.0, index=30.0)
    work.report("index", 0, None, 0.0)
    estimate = work.estimate(0.0)
    assert [part.finished for part in estimate.parts] == [True, True, False]
    assert estimate.share == approx(0.5)
    assert left(estimate).middle == approx(30.0, rel=0.01)


def test_a_part_that_nobody_planned_follows_the_present_one() -> None:
    work = Estimator({"read": 10.0, "write": 10.0}, 0.0)
    work.report("read", 1, 2, 1.0)
    work.report("sort", 0, None, 2.0)
    assert [part.name for part in work.estimate(2.0).parts] == ["read", "sort", "write"]


def test_a_part_that_stands_still_does_not_promise_to_end_at_once() -> None:
    work = Estimator({}, 0.0)
    for done in (0, 1, 9):
        work.report("embed", done, 10, float(done))
    assert left(work.estimate(9.0)).middle == approx(1.0)
    assert left(work.estimate(109.0)).middle == approx(OVERDUE * 100.0)


def test_the_time_between_two_parts_belongs_to_the_first() -> None:
    work = Estimator({"read": 1.0, "write": 1.0}, 0.0)
    work.report("read", 5, 5, 1.0)
    work.report("write", 0, 5, 4.0)
    work.report("write", 5, 5, 5.0)
    # What comes before the first report belongs to the first part.
    assert [part["seconds"] for part in work.estimate(9.0).to_json()["parts"]] == [4.0, 1.0]


def test_seconds_of_earlier_attempts_are_added_and_change_no_rate() -> None:
    work = Estimator({"read": 10.0}, 0.0, {"read": 100.0}, known(read=10.0))
    for done in (0, 1, 5):
        work.report("read", done, 10, float(done))
    estimate = work.estimate(5.0)
    assert estimate.to_json()["parts"][0]["seconds"] == 105.0
    assert left(estimate).middle == approx(5.0, rel=0.02)


def test_when_all_is_done_nothing_is_left() -> None:
    work = Estimator({"read": 10.0, "write": 10.0}, 0.0)
    work.report("read", 1, 2, 1.0)
    work.finish(2.0)
    estimate = work.estimate(2.0)
    assert (estimate.share, estimate.left) == (1.0, Seconds(0.0, 0.0, 0.0))


def test_a_range_that_is_of_no_use_is_not_shown() -> None:
    # Two former jobs that took 1 and 100 times the size: the next may take anything.
    wild = {"read": [Former(10.0, 0.0, 10.0), Former(10.0, 0.0, 1000.0)] * 5}
    assert Estimator({"read": 10.0}, 0.0, history=wild).estimate(0.0).left is None
    # A spread of 0.5 makes 19^(0.5 · √3 / π) = 2.25 times the middle, which is less than `WIDEST`.
    assert BUSY == 0.5
    assert WIDEST > 2.25
    assert estimator(read=10.0).estimate(0.0).left is not None


def test_a_job_keeps_the_range_and_what_later_jobs_learn_from() -> None:
    work = estimator(read=10.0)
    for done in (0, 1, 5):
        work.report("read", done, 10, float(done))
    told = work.estimate(5.0).to_json()
    low, high = told["seconds_left_range"]
    assert told["seconds_left"] == approx(5.0, abs=0.1)
    assert low < told["seconds_left"] < high
    assert (told["parts"][0]["size"], told["parts"][0]["steady"]) == (10.0, [4.0, 0.4])
    assert Estimator({}, 0.0).estimate(0.0).to_json()["seconds_left_range"] is None


@given(
    st.lists(st.floats(0.0, 100.0), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50), st.floats(0.0, 10.0)), max_size=100),
)
def test_whatever_is_reported_the_estimate_is_a_share_and_a_time(
    sizes: list[float], reports: list[tuple[int, int, float]]
) -> None:
    work = Estimator({f"part {at}": size for at, size in enumerate(sizes)}, 0.0)
    now = 0.0
    for part, done, passed in reports:
        now += passed
        work.report(f"part {part}", done, 50 if part else None, now)
        estimate = work.estimate(now)
        assert 0.0 <= estimate.share <= 1.0 + 1e-9
        found = estimate.left
        assert found is None or 0.0 <= found.low <= found.middle <= found.high < 1e9
