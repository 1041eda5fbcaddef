"""How a column's numbers and dates are written is decided by all of its values; what stays open is said."""

from __future__ import annotations

import pytest

from search.ingest.mapping.decide import Decision, decide
from search.ingest.mapping.profile import MOST_SHAPES, Profile


def decided(values: list[object]) -> Decision:
    profile = Profile()
    for row, value in enumerate(values, 2):
        profile.observe(value, row)
    return decide(profile)


DECIDED = [
    ("1,51|2,3|7", "number", "1234,5"), ("27.808|1.234.567", "number", "1.234,5"),
    ("1.234,5|27.808", "number", "1.234,5"),
    ("0.125|27.808|1.5", "number", ""), ("1,234|1,234,567|12", "number", "1,234.5"), ("1 234|3,5", "number", "1 234,5"),
    ("1'234|5.5", "number", "1'234.5"), ("-1,5|2", "number", "1234,5"), ("1.50|9.00", "number", ""),
    ("9007199254740993|1", "number", ""), ("0,5|1,000", "number", "1234,5"), ("1e-7|2.5e3", "number", ""),
    ("2024|1999", "number", ""), ("2024-05-31|1999", "date", ""), ("01/02/2024|13/04/2024", "date", "dmy"),
    ("01/02/2024|04/13/2024", "date", "mdy"), ("01.02.2024|03.04.2024", "date", "dmy"),
    ("May 31, 2024|June 1, 2023", "date", "words"), ("31. Mai 2024|1. Juni 2024", "date", "words"),
    ("1/1/2024|2/2/2024", "date", "dmy"), ("2024年5月31日|2024年6月1日", "date", "ymd"),
    ("2009-10-11|31.05.2012", "date", "dmy"), ("007|010", "", ""), ("5%|6%", "number", ""), ("€ 5|€ 6", "number", ""),
    ("192.168.0.1|10.0.0.1", "", ""), ("1.5|2,5", "", ""), ("12:30|13:40", "", ""), ("1.2.3|1.2.4", "", ""),
    ("99999999999999999999|1", "", ""), ("31/05/24|01/02/23", "", ""), ("12 Monkeys, 1995|Se7en, 1995", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("values", "kind", "written"), DECIDED)
def test_the_whole_column_decides(values: str, kind: str, written: str) -> None:
    found = decided(list(values.split("|")))
    assert (found.kind, found.format, found.open) == (kind, written, "")


OPEN = [
    ("27.808|983|1.204", "'27.808' may be 27.808 or 27808: give the format of its numbers, 1234.5 or 1.234,5"),
    ("1,234|12", "'1,234' may be 1234 or 1.234: give the format of its numbers, 1,234.5 or 1234,5"),
    ("1.000|2.000", "'1.000' may be 1 or 1000: give the format of its numbers, 1234.5 or 1.234,5"),
    ("101,204,350|120,130,140",
     "'101,204,350' may be a number or a list: give the format of its numbers, or a separator"),
    ("12,34,567|3,45,678", "'12,34,567' may be a number or a list: give the format of its numbers, or a separator"),
    ("01/02/2024|03/04/2024", "'01/02/2024' may be 2024-02-01 or 2024-01-02: give the format of its dates, dmy or mdy"),
    ("31/12/2024|12/31/2024",
     "in '31/12/2024' the day comes first, in '12/31/2024' the month: write all dates in one order"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "sentence"), OPEN)
def test_what_can_be_read_in_two_ways_is_left_open_and_said(values: str, sentence: str) -> None:
    found = decided(list(values.split("|")))
    assert (found.kind, found.open) == ("", sentence)


def test_a_day_that_no_calendar_has_is_told_with_its_row() -> None:
    assert "'2024-02-31' in row 3 is no day" in decided(["2024-01-31", "2024-02-31"]).because
    days = ["31/31/2024", *(f"{day}/05/2024" for day in range(10, 31))]
    assert (decided(list(days)).format, "'31/31/2024' in row 2 is no day" in decided(list(days)).because) == (
        "dmy",
        True,
    )


def test_words_for_no_value_are_found_beside_numbers_and_beside_texts_only_where_they_can_be_nothing_else() -> None:
    assert decided(["1.50", "NULL", "n/a", "NA", "-"]) == Decision(
        "number", "", "all its values are numbers", "", ("-", "NA", "NULL", "n/a"), mark="."
    )
    assert decided(["Oslo", "NULL", "N/A"]).missing == ("N/A", "NULL")
    assert decided(["Smith", "Null", "NA", "None of them"]).missing == ()
    assert decided(["+", "-", "-"]).missing == ()


def test_a_column_of_free_text_is_remembered_in_little_memory() -> None:
    profile = Profile()
    for row in range(5_000):
        profile.observe(f"{'x' * (row % 997)} {row}", row)
    assert len(profile.shapes) <= MOST_SHAPES + 1
    assert decide(profile) == Decision()
