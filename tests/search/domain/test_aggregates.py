"""One number from the values of all answers: by hand, and against exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.aggregates import Aggregated, Number, aggregated


@pytest.mark.parametrize(
    ("function", "value"), [("sum", 100.5), ("mean", 33.5), ("min", -0.5), ("max", 98)]
)  # fmt: skip
def test_answers_without_a_number_are_left_out_and_told_apart(function: str, value: Number) -> None:
    values = [98, None, -0.5, "unknown", 3, True]
    assert aggregated(function, "price", values) == Aggregated(function, "price", value, 3, 6)


@pytest.mark.parametrize("function", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("values", [[], [None], ["12", None, False]])
def test_without_any_number_there_is_no_value(function: str, values: list[object]) -> None:
    assert aggregated(function, "price", values) == Aggregated(function, "price", None, 0, len(values))


def test_whole_numbers_are_added_exactly_however_large() -> None:
    assert aggregated("sum", "views", [2**53, 1, 1]).value == 2**53 + 2
    assert aggregated("mean", "views", [2**53, 2**53 + 2]).value == 2**53 + 1
    assert aggregated("sum", "views", [10**300] * 20).value == 20 * 10**300


def test_a_sum_that_no_float_can_hold_is_a_whole_number() -> None:
    assert aggregated("sum", "mass", [1e308, 1e308, 0.5]).value == 2 * int(1e308)
    assert aggregated("mean", "mass", [1e308, 1e308]).value == 1e308
    assert aggregated("sum", "mass", [1e308, -1e308, 1e308]).value == 1e308
    assert aggregated("mean", "mass", [10**400, 10**400 + 1]).value == 10**400


@given(st.lists(st.floats(-1e300, 1e300) | st.integers(-(10**20), 10**20), min_size=1), st.randoms())
def test_the_order_of_the_answers_makes_no_difference_and_the_value_is_the_nearest(
    values: list[Number], rng: random.Random
) -> None:
    mixed = list(values)
    rng.shuffle(mixed)
    exact = sum(map(Fraction, values), Fraction())
    added, mean = aggregated("sum", "x", mixed).value, aggregated("mean", "x", mixed).value
    assert added == aggregated("sum", "x", values).value
    assert added is not None
    assert float(added) == float(exact)
    assert mean is not None
    assert float(mean) == float(exact / len(values))


def test_it_is_written_and_read_back() -> None:
    one = Aggregated("mean", "price", 2.5, 3, 4, complete=False)
    assert Aggregated.from_json(one.to_json()) == one
