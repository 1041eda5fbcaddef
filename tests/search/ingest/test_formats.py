"""Numbers and dates as people write them become the numbers and ISO dates that were meant, or are refused."""

from __future__ import annotations

import pytest

from search.ingest.fields import is_date, is_number, to_number, value_fault
from search.ingest.formats import number_reader, read_date

NUMBERS = [
    ("1.234,5", "1.234,5", 1234.5), ("1.234,5", "27.808", 27808), ("1.234,5", "-1.234.567,89", -1234567.89),
    ("1,234.5", "1,234,567", 1234567), ("1,234.5", "12,34,567.8", 1234567.8), ("1 234,5", "1\u202f234,5", 1234.5),
    ("1 234.5", "27\u00a0808", 27808), ("1'234.5", "1’234.5", 1234.5), ("1234,5", "1,51", 1.51),
    ("1234.5", "−3", -3), ("1234.5", "9007199254740993", 9007199254740993), ("1234.5", "9007199254740993.0",
    9007199254740993), ("1234.5", "2.5e-3", 0.0025),
]  # fmt: skip
NO_NUMBERS = [
    ("1.234,5", "1.23"), ("1.234,5", "1.234.5"), ("1,234.5", "1,51"), ("1234,5", "1.5"), ("1234.5", "1,5"),
    ("1 234,5", "1 23"), ("1234.5", "1_000"), ("1234.5", "nan"), ("1234.5", "inf"), ("1234.5", "9223372036854775808"),
    ("1234.5", "12345678901234567890.5"), ("1234.5", ""), ("1'234.5", "1'23"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "text", "number"), NUMBERS)
def test_a_number_is_read_in_its_format(written: str, text: str, number: float) -> None:
    found = number_reader(written)(text)
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize(("written", "text"), NO_NUMBERS)
def test_what_is_no_number_of_the_format_is_refused(written: str, text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        number_reader(written)(text)


DATES = [
    ("words", "May 31, 2024", "2024-05-31"), ("words", "31 de mayo de 2024", "2024-05-31"),
    ("words", "1er janvier 2024", "2024-01-01"), ("words", "31. Mai 2024", "2024-05-31"),
    ("words", "Sept. 3rd, 2020", "2020-09-03"), ("words", "May 2024", "2024-05"),
    ("words", "Fri, 31 May 2024 12:00:00 +0000", "2024-05-31T12:00:00+0000"), ("words", "31-May-2024", "2024-05-31"),
    ("words", "2024-05-31", "2024-05-31"), ("dmy", "31.05.2024", "2024-05-31"), ("dmy", "1. 2. 2024", "2024-02-01"),
    ("dmy", "31/05/2024 13:45", "2024-05-31T13:45"), ("mdy", "5/31/2024 1:45 PM", "2024-05-31T13:45"),
    ("mdy", "05/31/2024 12:05 am", "2024-05-31T00:05"), ("ymd", "2024年5月31日", "2024-05-31"),
    ("ymd", "2024/5/31", "2024-05-31"), ("dmy", "05/2024", "2024-05"), ("dmy", "29/02/2024", "2024-02-29"),
]  # fmt: skip
NO_DATES = [
    ("iso", "2024-02-31"), ("iso", "2024-05-31 25:61"), ("iso", "31/05/2024"), ("dmy", "31/02/2024"),
    ("dmy", "29/02/2023"), ("dmy", "00/05/2024"), ("dmy", "31/05/24"), ("mdy", "31/05/2024"), ("words", "May 32, 2024"),
    ("words", "March, April 2024"), ("words", "12 angry 2024"), ("dmy", "31/05/2024 24:61"), ("words", "May"),
    ("mdy", "05/31/2024 13:45 PM"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "text", "iso"), DATES)
def test_a_date_is_read_in_its_format(written: str, text: str, iso: str) -> None:
    assert read_date(text, written) == iso


@pytest.mark.parametrize(("written", "text"), NO_DATES)
def test_what_is_no_date_of_the_format_or_of_the_calendar_is_refused(written: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"is no(t a)? date"):
        read_date(text, written)


@pytest.mark.parametrize(
    "text", ["2024-02-31", "2023-02-29", "2024-13-01", "2024-05-31 25:61", "2024-05-31T12:60", "2024-05-31T10:00+25:00"]
)
def test_days_and_times_that_do_not_exist_are_no_dates(text: str) -> None:
    assert not is_date(text)
    assert value_fault(text, "date") is not None


@pytest.mark.parametrize("text", ["2024-02-29", "2024-05", "2024-05-31T23:59:60Z", "2024-05-31 24:00", "1999-12-31"])
def test_days_and_times_that_exist_are_dates(text: str) -> None:
    assert is_date(text)
    assert value_fault(text, "date") is None


def test_whole_numbers_keep_their_value_up_to_64_bits_and_are_texts_beyond() -> None:
    assert is_number("9223372036854775807")
    assert to_number("-9223372036854775808") == -9223372036854775808
    assert not is_number("9223372036854775808")
    assert "take the column for a keyword" in (value_fault("9223372036854775808", "number") or "")
    assert not is_number("007")
