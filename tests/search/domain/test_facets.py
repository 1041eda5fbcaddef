"""Facets: how useful one is, and how values become ranges. Expectations are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.facets import Facet, FacetValue, best, date_ranges, most_frequent, ranges, worth


def facet(name: str, counts: Sequence[int], answers: int) -> Facet:
    return Facet("field", name, tuple(FacetValue(str(c), c) for c in counts), worth(counts, answers))


@pytest.mark.parametrize(
    ("counts", "answers", "expected"),
    [
        ([5, 5], 10, 0.5),  # either half takes half away
        ([10], 10, 0.0),  # all the same
        ([9, 1], 10, 1 - (81 + 1) / 100),
        ([1, 1], 10, 2 / 10 * 9 / 10),  # two of ten answers have a shown value
        ([], 10, 0.0),
        ([3], 0, 0.0),
    ],
)
def test_a_facet_is_worth_what_a_click_takes_away(counts: list[int], answers: int, expected: float) -> None:
    assert worth(counts, answers) == pytest.approx(expected)


def test_the_best_facets_split_and_one_that_only_lists_the_answers_is_none_of_them() -> None:
    split, same, listing = facet("a", [5, 5], 10), facet("b", [10], 10), facet("c", [1] * 6, 6)
    assert best([same, listing, split], 4, 0.1) == [split]


def test_values_that_differ_in_case_are_one_value_as_for_the_filter() -> None:
    assert most_frequent([["Red"], ["red"], ["Red", "Blue"], ["blue", "BLUE"]]) == [("Red", 3), ("BLUE", 2)]


def test_numbers_are_split_into_quarters_whose_ends_are_values() -> None:
    assert ranges([[n] for n in range(1, 9)]) == [(1, 2, 2), (3, 4, 2), (5, 6, 2), (7, 8, 2)]
    assert ranges([[1], [1], [2], [], [3, 3]]) == [(1, 1, 2), (2, 2, 1), (3, 3, 1)]
    assert ranges([]) == []


@given(st.lists(st.lists(st.integers(-50, 50), max_size=3), max_size=60))
def test_ranges_leave_no_value_out_and_do_not_overlap(values: list[list[int]]) -> None:
    found = ranges(values)
    for one, other in pairwise(found):
        assert one[0] <= one[1] < other[0]
    for several in values:
        for value in several:
            assert sum(low <= value <= high for low, high, _ in found) == 1
    for low, high, count in found:
        assert count == sum(any(low <= value <= high for value in several) for several in values) > 0


def test_ranges_of_dates_split_no_year_and_of_one_year_no_month() -> None:
    dates = [f"{year}-0{month}-01" for year in (2001, 2003) for month in (1, 5)]
    assert date_ranges([[date] for date in dates]) == [
        ("2001-01-01", "2001-05-01", 2), ("2003-01-01", "2003-05-01", 2),
    ]  # fmt: skip
    assert date_ranges([["2001-01-01"], ["2001-01-09"], ["2001-02-01"]]) == [
        ("2001-01-01", "2001-01-09", 2), ("2001-02-01", "2001-02-01", 1),
    ]  # fmt: skip
    assert date_ranges([["2001-01-01"]] * 3) == [("2001-01-01", "2001-01-01", 3)]
