"""Numbers, dates and amounts as readers of four languages write them."""

from datetime import date, datetime
from typing import Any

import pytest

from search.language.reader import (
    day,
    day_of_year,
    language,
    moment,
    number,
    range_words,
    read_in,
    reading_in,
    value_words,
)

LARGE, NARROW = 1234.5, "\u202f"


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (LARGE, "", ["1,234.5", "1.234,5", f"1{NARROW}234,5", "1.234,5"]),
        (12_000, "", ["12,000", "12.000", f"12{NARROW}000", "12.000"]),
        (2180, "g", ["2.18 kg", "2,18 kg", "2,18 kg", "2,18 kg"]),
        ("2021-03-03", "", ["3 March 2021", "3. März 2021", "3 mars 2021", "3 de marzo de 2021"]),
        ("2021-03-03T10:05:00Z", "", ["3 March 2021, 10:05", "3. März 2021, 10:05", "3 mars 2021, 10:05",
                                      "3 de marzo de 2021, 10:05"]),
        (389, "EUR", ["389 €", "389 €", "389 €", "389 €"]),
        (29.5, "eur", ["29.50 €", "29,50 €", "29,50 €", "29,50 €"]),
    ],
)  # fmt: skip
def test_a_value_is_written_in_the_manner_of_the_reader(value: Any, unit: str, said: list[str]) -> None:
    for code, expected in zip(("en", "de", "fr", "es"), said, strict=True):
        with reading_in(code):
            assert value_words(value, unit) == expected


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (1987, "", "1987"),
        (0.1 + 0.2, "", "0.3"),
        (True, "", "yes"),
        (["red", 12_000], "", "red, 12,000"),
        ("2021-13-03", "", "2021-13-03"),
        ("A-12", "", "A-12"),
        (1, "hours", "1 hour"),
        (1500, "krone", "1,500 krone"),
        (999.5, "mg", "999.5 mg"),
        (1_900_000, "mg", "1.9 kg"),
        (8848, "m", "8,848 m"),
        (12.5, "percent", "12.5 %"),
        (3, "pts", "3 pts"),
    ],
)
def test_a_value_keeps_what_it_says(value: Any, unit: str, said: str) -> None:
    assert value_words(value, unit) == said


def test_years_have_no_marks_even_where_they_are_means() -> None:
    assert value_words(1899.5, year=True) == "1899.5"


def test_a_range_says_its_unit_once_unless_both_ends_differ() -> None:
    assert range_words(100, 300, "g", " and ") == "100 and 300 g"
    assert range_words(300, 2000, "g", " and ") == "300 g and 2 kg"
    assert range_words(10, 389, "EUR", " – ") == "10 – 389 €"
    assert range_words(1900, 1950, "", " – ") == "1900 – 1950"


def test_tables_have_short_dates() -> None:
    once = datetime(2026, 11, 3, 9, 5, 7)
    assert (day(date(2021, 3, 3)), moment(once), moment(once, seconds=True), day_of_year(once)) == (
        "3 Mar 2021", "3 Nov 2026, 09:05", "3 Nov 2026, 09:05:07", "3 Nov",
    )  # fmt: skip
    with reading_in("de"):
        assert (day(date(2021, 3, 3)), moment(once), day_of_year(once)) == (
            "03.03.2021", "03.11.2026, 09:05", "3. Nov.",
        )  # fmt: skip


def test_the_first_known_language_of_the_reader_counts() -> None:
    with reading_in("en"):
        for preferred, expected in ((["it", "de-AT", "en"], "de"), (["pt-BR"], "en"), ([], "en"), (["FR-ca"], "fr")):
            read_in(preferred)
            assert language() == expected
        read_in(["de"])
        assert number(1_000_000) == "1.000.000"
