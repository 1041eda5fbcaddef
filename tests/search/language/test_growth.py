"""The work of reading grows like the text: calls of functions are counted, so a slow machine changes nothing."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from search.language.detection import language_of
from search.language.gloss import gloss
from search.language.quantities import quantities
from search.language.turning import turning_words
from search.language.worded import worded

UNITS = [
    "not wool ", "no ", "neither nor ", "most ", "most cited ", "top 3 by ", "cheaper than ", "as old as ", "before ",
    "founded before Ada ", "last five years ", "March 2020 and ", "twenty five hundred ", "5 million ", "1 to ", "a, ",
    "except wool, silk, ", "under £", "n't ", "un-", "-free ", "who is not the ", "日本で", "Juan de la ", "l'", "“",
]  # fmt: skip
STEEPER = 1.5
"""Four times the text may cost that many times more calls than four times as many."""


def calls(read: Callable[[str], object], text: str) -> int:
    """Return how many functions were called, those of C included."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read(text)
    finally:
        sys.setprofile(before)
    return count


READERS: dict[str, Callable[[str], object]] = {
    "quantities": lambda text: quantities(text, "en"),
    "quantities in German": lambda text: quantities(text, "de"),
    "turning words": lambda text: turning_words(text, "en"),
    "turning words in French": lambda text: turning_words(text, "fr"),
    "gloss": lambda text: gloss(text, "fr", "en"),
    "gloss of Japanese": lambda text: gloss(text, "ja", "en"),
    "language": lambda text: language_of(text, "en"),
    "whole question": lambda text: worded(f"où est {text}", "en"),
}


@pytest.mark.parametrize("name", READERS)
def test_four_times_the_text_is_four_times_the_work(name: str) -> None:
    read = READERS[name]
    for unit in UNITS:
        read(unit * 4)
        short, long = calls(read, unit * 100), calls(read, unit * 400)
        assert long <= 4 * STEEPER * short, f"{unit!r}: {short} calls, of four times the text {long}"


def test_the_measure_sees_what_grows_like_the_square() -> None:
    def square(text: str) -> None:
        for _ in text:
            for one in text[::50]:
                one.isalpha()

    assert calls(square, "a" * 400) > 4 * STEEPER * calls(square, "a" * 100)
