"""Ranges of time in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.time_range import in_words, rounded


@pytest.mark.parametrize(
    ("low", "high", "words", "stands_for"),
    [
        (0.0, 3.2, "less than 5 seconds", (0, 5)),
        (8.0, 19.0, "5 to 20 seconds", (5, 20)),
        (34.0, 61.0, "30 to 70 seconds", (30, 70)),
        # Within ten seconds: one number, which stands for five seconds on each side.
        (36.0, 44.0, "about 40 seconds", (35, 45)),
        (55.0, 130.0, "50 seconds to 3 minutes", (50, 180)),
        (130.0, 230.0, "2 to 4 minutes", (120, 240)),
        (200.0, 240.0, "about 4 minutes", (210, 270)),
        (700.0, 1500.0, "10 to 25 minutes", (600, 1500)),
        (3000.0, 9000.0, "50 minutes to 2.5 hours", (3000, 9000)),
        (3500.0, 3700.0, "about 60 minutes", (3450, 3750)),
        (40_000.0, 70_000.0, "11 to 19.5 hours", (39_600, 70_200)),
        (0.0, 0.0, "less than 5 seconds", (0, 5)),
    ],
)
def test_a_range_is_said_in_round_numbers(low: float, high: float, words: str, stands_for: tuple[int, int]) -> None:
    assert in_words(low, high) == words
    assert rounded(low, high) == stands_for


@given(st.floats(0.0, 1e6), st.floats(0.0, 1e6))
def test_what_is_said_holds_the_range_but_for_half_a_step(low: float, wide: float) -> None:
    first, last = rounded(low, low + wide)
    step = next(step for most, step in ((20, 5), (90, 10), (600, 60), (5400, 300), (1e9, 1800)) if low + wide <= most)
    assert first - step / 2 <= low
    assert low + wide <= last + step / 2
    assert first < last
