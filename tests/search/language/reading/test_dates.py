"""Dates as seen from Wednesday, 15 July 2026; ranges written by hand."""

from datetime import date

import pytest

from search.language.reading import read_cues

TODAY = date(2026, 7, 15)


@pytest.mark.parametrize(
    ("text", "said", "op", "first", "last"),
    [
        ("papers of March 2021", "of March 2021", "=", date(2021, 3, 1), date(2021, 3, 31)),
        ("in Feb 2024", "in Feb 2024", "=", date(2024, 2, 1), date(2024, 2, 29)),
        ("before 3 May 2020", "before 3 May 2020", "<", date(2020, 5, 3), date(2020, 5, 3)),
        ("since May 3rd, 2020", "since May 3rd, 2020", ">=", date(2020, 5, 3), date(2020, 5, 3)),
        ("edited on 2020-05-03", "on 2020-05-03", "=", date(2020, 5, 3), date(2020, 5, 3)),
        ("on 25.12.2020", "on 25.12.2020", "=", date(2020, 12, 25), date(2020, 12, 25)),
        ("on 12/25/2020", "on 12/25/2020", "=", date(2020, 12, 25), date(2020, 12, 25)),
        ("films from last year", "from last year", "=", date(2025, 1, 1), date(2025, 12, 31)),
        ("last month", "last month", "=", date(2026, 6, 1), date(2026, 6, 30)),
        ("this week", "this week", "=", date(2026, 7, 13), date(2026, 7, 19)),
        ("in the last five years", "in the last five years", "=", date(2021, 7, 15), TODAY),
        ("in the past decade", "in the past decade", "=", date(2016, 7, 15), TODAY),
        ("yesterday", "yesterday", "=", date(2026, 7, 14), date(2026, 7, 14)),
        ("three years ago", "three years ago", "=", date(2023, 1, 1), date(2023, 12, 31)),
        ("in the 19th century", "in the 19th century", "=", date(1801, 1, 1), date(1900, 12, 31)),
        ("in the nineties", "in the nineties", "=", date(1990, 1, 1), date(1999, 12, 31)),
        ("from May 2020 onwards", "from May 2020 onwards", ">=", date(2020, 5, 1), date(2020, 5, 31)),
        ("summer of 2020", "summer of 2020", "=", date(2020, 6, 1), date(2020, 8, 31)),
        (
            "between March 2020 and May 2021",
            "between March 2020 and May 2021",
            "between",
            date(2020, 3, 1),
            date(2021, 5, 31),
        ),
    ],
)
def test_a_date_is_a_range_of_days(text: str, said: str, op: str, first: date, last: date) -> None:
    [found] = read_cues(text, today=TODAY).dates
    assert (text[found.start : found.end], found.op, found.first, found.last) == (said, op, first, last)


@pytest.mark.parametrize(
    "text", ["in May", "it may be", "31 February 2020", "2020-13-01", "the second film", "the 3 March"]
)
def test_what_names_no_day_is_none(text: str) -> None:
    assert read_cues(text, today=TODAY).dates == ()


def test_the_words_around_name_the_field() -> None:
    [found] = read_cues("pages last edited before March 2020", today=TODAY).dates
    assert found.words[0] == "edited"
