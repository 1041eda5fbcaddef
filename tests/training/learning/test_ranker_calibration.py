"""The calibration of a ranker, over rankings of which it is known how often the first is right."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from search.domain.logistic import Logistic
from search.signals.first_result import INPUTS
from search.signals.table import SignalTable
from training.learning.ranker_calibration import ListFacts, calibrated

FOLDS = 5


def facts(margin: float, right: bool, fold: int) -> ListFacts:
    """A list of two candidates, of which the second is ahead by `margin`."""
    table = SignalTable(np.array([3, 8], dtype=np.int32), {})
    answers: NDArray[np.bool_] = np.array([not right, right])
    return ListFacts.of(table, np.array([0.0, margin]), answers, fold)


def lists(number: int) -> list[ListFacts]:
    """Lists with margins between 0 and 4, whose first is right as often as the logistic of 2 · margin - 3 says."""
    draw = np.random.default_rng(3)
    margins = draw.uniform(0, 4, number)
    right = draw.uniform(size=number) < 1 / (1 + np.exp(3 - 2 * margins))
    return [facts(float(m), bool(r), at % FOLDS) for at, (m, r) in enumerate(zip(margins, right, strict=True))]


def test_the_first_is_the_one_with_the_best_score() -> None:
    assert (facts(1.0, True, 0).right, facts(1.0, False, 0).right) == (True, False)
    assert facts(1.0, True, 4).inputs.tolist() == pytest.approx([1, 1, -6, 0])


def test_what_is_told_of_lists_that_it_has_not_learned_from_comes_true() -> None:
    found = calibrated(lists(2_000), FOLDS)
    measured = found.measured()
    assert measured["questions"] == 2_000
    assert measured["error"] < 0.03
    assert sum(found.whole.weights.values()) == pytest.approx(2, abs=0.2), "share and margin are the same with two"
    low, high = (found.whole.probability(dict(zip(INPUTS, (m, m, -6, 0), strict=True))) for m in (0.5, 2.5))
    assert (low, high) == (pytest.approx(0.12, abs=0.04), pytest.approx(0.88, abs=0.04))
    assert np.mean(found.told) == pytest.approx(np.mean(found.right), abs=0.01)
    assert found.figures() == {"calibration error, %": 100 * measured["error"]}


def test_a_list_is_told_by_the_function_that_has_not_learned_from_its_fold() -> None:
    """In fold 0 the first is never right, in fold 1 always: each is told what the other has taught."""
    half = [facts(1.0, bool(at % 2), at % 2) for at in range(16)]
    found = calibrated(half, 2)
    # Of the eight of the other fold: 9 of 10 for right ones, 1 of 10 for wrong ones (Platt's targets).
    assert found.told[:2] == pytest.approx([0.9, 0.1], abs=1e-4)
    assert found.whole.probability(dict(zip(INPUTS, (1, 1, -6, 0), strict=True))) == pytest.approx(0.5, abs=1e-4)


def test_the_file_holds_the_function_of_all_and_those_of_the_folds() -> None:
    found = calibrated(lists(60), FOLDS)
    told = json.loads(found.file())
    assert len(told["folds"]) == FOLDS
    assert Logistic.read(told, INPUTS).constant == pytest.approx(found.whole.constant, abs=1e-4)
    assert Logistic.read(told["folds"][2], INPUTS).constant == pytest.approx(found.folds[2].constant, abs=1e-4)


def test_questions_of_a_single_fold_have_one_function() -> None:
    found = calibrated([facts(1.0, True, 0), facts(2.0, False, 0)], 2)
    assert found.folds[0] == found.whole
