"""Which readings are asked about, and the verdict on an answer."""

from __future__ import annotations

import pytest

from search.domain.verdict import VerdictReading, judged, offered


def test_readings_with_the_same_answer_count_together_and_the_likeliest_stands_for_them() -> None:
    readings = [
        VerdictReading(0, 0.5, "a"),
        VerdictReading(1, 0.06, "b"),
        VerdictReading(2, 0.05, "b"),
        VerdictReading(3, 0.3, "a"),
    ]
    # By hand: a has 0.8, b has 0.11, which is less than a fifth of it.
    assert offered(readings, 0) == ()
    assert offered([*readings, VerdictReading(4, 0.06, "b")], 0) == (0, 1)


def test_at_most_three_readings_are_offered_the_shown_one_first() -> None:
    readings = [VerdictReading(at, probability, at) for at, probability in enumerate((0.2, 0.24, 0.22, 0.21))]
    assert offered(readings, 0) == (0, 1, 2)


def test_among_guesses_nothing_is_asked_about_and_of_a_bare_name_nearly_everything() -> None:
    assert offered([VerdictReading(0, 0.19, "a"), VerdictReading(1, 0.19, "b")], 0) == ()
    assert offered([VerdictReading(0, 0.96, "a"), VerdictReading(1, 0.02, "b")], 0, bare=True) == (0, 1)
    assert offered([VerdictReading(0, 0.96, "a"), VerdictReading(1, 0.009, "b")], 0, bare=True) == ()
    assert offered([VerdictReading(1, 0.9, "b")], 0) == ()


@pytest.mark.parametrize(
    ("probability", "answered", "doubted", "rivalled", "expected"),
    [
        (0.8, True, False, False, "sure"),
        (0.79, True, False, False, "probably"),
        (0.5, True, False, False, "probably"),
        (0.49, True, False, False, "unsure"),
        (0.99, True, True, False, "unsure"),
        (0.99, True, False, True, "probably"),
        (0.99, False, False, False, "none"),
    ],
)
def test_the_verdict_goes_by_probability_and_doubts(
    probability: float, answered: bool, doubted: bool, rivalled: bool, expected: str
) -> None:
    assert judged(probability, answered=answered, doubted=doubted, rivalled=rivalled) == expected
