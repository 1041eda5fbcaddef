"""What speaks for the first candidate of a list, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.logistic import FURTHEST
from search.signals.first_result import INPUTS, first_inputs
from search.signals.table import SignalTable


def table(number: int, **columns: list[float]) -> SignalTable:
    named = {name.replace("_", ":"): np.array(values, dtype=np.float32) for name, values in columns.items()}
    return SignalTable(np.arange(number, dtype=np.int32), named)


def test_the_share_and_the_margin_of_the_best_score() -> None:
    """Scores ln 6, ln 2 and 0: of the softmax it has 6 of 9, odds 2 to 1; ln 6 - ln 2 is ln 3."""
    told = first_inputs(table(3), np.log([2.0, 6.0, 1.0]), 1)
    assert told["share"] == pytest.approx(math.log(2))
    assert told["margin"] == pytest.approx(math.log(3))
    assert tuple(told) == INPUTS


def test_a_candidate_alone_and_one_far_ahead_have_the_most_there_is() -> None:
    alone = first_inputs(table(1), np.array([-3.0]), 0)
    ahead = first_inputs(table(2), np.array([900.0, -900.0]), 0)
    assert (alone["share"], alone["margin"]) == (ahead["share"], ahead["margin"]) == (FURTHEST, FURTHEST)


def test_the_plan_counts_only_for_a_first_candidate_that_meets_it() -> None:
    """The plan has 0.8, odds 4 to 1, and led; the candidate 0 meets it, 1 does not, and 2 was not checked."""
    found = table(3, plan_whole=[1, 0, math.nan], plan_trust=[0.8] * 3, plan_leads=[1] * 3)
    first = [first_inputs(found, np.zeros(3), at) for at in range(3)]
    assert [one["plan"] for one in first] == pytest.approx([math.log(4), -FURTHEST, -FURTHEST])
    assert [one["leads"] for one in first] == [1, 0, 0]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_whatever_the_scores_the_inputs_are_bounded_and_equal_scores_have_no_margin(scores: list[float]) -> None:
    values = np.array(scores)
    told = first_inputs(table(len(scores)), values, int(values.argmax()))
    assert -FURTHEST <= told["share"] <= FURTHEST
    assert 0 <= told["margin"] <= FURTHEST
    twice = first_inputs(table(2 * len(scores)), np.concatenate([values, values]), int(values.argmax()))
    assert twice["margin"] == 0
