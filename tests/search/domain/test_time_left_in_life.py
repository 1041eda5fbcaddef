"""The time left that people would have seen of real jobs: imports, indexings, evaluations, trainings of four sizes."""

from collections import defaultdict
from functools import lru_cache

from tests.search.domain.replayed import READINGS, Replayed, recorded, replay


@lru_cache
def jobs() -> tuple[Replayed, ...]:
    return tuple(replay(recorded()))


def test_four_sizes_of_each_kind_of_work_were_recorded() -> None:
    sizes = defaultdict(set)
    for job in jobs():
        sizes[job.kind.partition("_")[0]].add(job.size)
    assert {kind: len(found) >= 4 for kind, found in sizes.items()} == dict.fromkeys(
        ("import", "index", "evaluate", "train"), True
    )


def test_the_true_time_left_lies_in_the_shown_range_in_nine_of_ten_readings() -> None:
    shown, held = sum(job.shown for job in jobs()), sum(job.held for job in jobs())
    assert held >= 0.9 * shown
    # Ranges that are only shown where it is easy would say nothing.
    assert shown >= 0.7 * READINGS * len(jobs())


def test_the_first_job_of_a_kind_says_nothing_before_it_has_shown_its_speed() -> None:
    first = {job.kind: job for job in reversed(jobs())}
    assert {kind: job.readings[0][1] for kind, job in first.items()} == dict.fromkeys(first)


def test_ranges_are_narrower_after_a_third_and_of_use() -> None:
    early = sorted(width for job in jobs() for width in job.widths(late=False))
    late = sorted(width for job in jobs() for width in job.widths(late=True))
    assert late[len(late) // 2] <= min(3.0, early[len(early) // 2])
