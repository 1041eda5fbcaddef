"""The probability of the first plan: worked out by hand, and never higher when less speaks for the plan."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.plan import Plan, ScoredPlan, Target
from search.stages.plan.scoring.calibrate import INPUTS, Calibration, Grounds, calibrated, untrained

HALF = Calibration({"odds": 0.5}, 0.0)


def plans(*probabilities: float) -> list[ScoredPlan]:
    return [ScoredPlan(Plan(target=Target("T", (), str(at))), "schema", one) for at, one in enumerate(probabilities)]


def shares(found: list[ScoredPlan]) -> list[float]:
    return [one.probability for one in found]


def test_the_probability_is_the_logistic_function_of_the_facts() -> None:
    """Half the log-odds of 0.8: the odds 4 become 2."""
    assert HALF(Grounds(0.8)) == pytest.approx(2 / 3)
    # ln 4 - 1 · 2 words left - 0.5 is about -1.1137.
    told = Calibration({"odds": 1.0, "nothing left": 1.0}, -0.5)
    assert told(Grounds(0.8, left=2)) == pytest.approx(1 / (1 + math.exp(1.1137)), abs=1e-4)


def test_less_probability_keeps_the_mixture_and_leaves_a_rest() -> None:
    found = calibrated(plans(0.8, 0.15, 0.05), Grounds(0.8), HALF)
    assert shares(found) == pytest.approx([2 / 3, 0.125, 0.05 / 1.2])
    assert sum(shares(found)) < 1


def test_more_probability_leaves_the_others_what_is_missing_to_one() -> None:
    sure = Calibration({}, 30.0)
    assert shares(calibrated(plans(0.5, 0.3, 0.2), Grounds(0.5), sure)) == pytest.approx([1, 0, 0], abs=1e-9)
    doubled = Calibration({"odds": 2.0}, 0.0)
    assert shares(calibrated(plans(0.75, 0.25), Grounds(0.75), doubled)) == pytest.approx([0.9, 0.1])


def test_a_plan_that_leaves_out_a_name_that_nothing_bears_is_doubtful() -> None:
    sure = Calibration({"graph": 9.0}, 0.0)
    plan = ScoredPlan(Plan(target=Target("T")), "schema", 0.9)
    [known], [unknown] = (calibrated([plan], Grounds(0.9, unknown=many), sure) for many in (0, 1))
    assert known.probability > 0.99
    assert unknown.probability == 0.45


def test_a_number_that_may_mean_another_field_is_one_more_doubt() -> None:
    half = Calibration({}, 0.0)
    plan = ScoredPlan(Plan(target=Target("T")), "schema", 0.9)
    [guessed] = calibrated([plan], Grounds(0.9, meant=0.6), half)
    assert guessed.probability == pytest.approx(0.3)


def test_a_plan_in_which_a_cue_means_nothing_is_no_more_than_likely() -> None:
    sure = Calibration({"graph": 9.0}, 0.0)
    plan = ScoredPlan(Plan(target=Target("T")), "schema", 0.99)
    [unbound] = calibrated([plan], Grounds(0.99, unbound=1), sure)
    [both] = calibrated([plan], Grounds(0.99, unbound=1, unknown=1, left=2), sure)
    assert (unbound.probability, both.probability) == (0.6, 0.45)


def test_a_plan_that_leaves_words_over_is_never_almost_surely_right() -> None:
    sure = Calibration({"graph": 9.0}, 0.0)
    plan = ScoredPlan(Plan(target=Target("T")), "schema", 0.99)
    [left] = calibrated([plan], Grounds(0.99, left=1), sure)
    assert left.probability == 0.85


def test_without_a_calibration_only_the_facts_are_added() -> None:
    found = calibrated(plans(0.7, 0.3), Grounds(0.7, 0.3, hops=2), None)
    assert shares(found) == [0.7, 0.3]
    assert found[0].grounds is not None
    assert Grounds.from_json(found[0].grounds) == Grounds(0.7, 0.3, hops=2)
    assert found[1].grounds is None
    assert calibrated([], Grounds(0.0), HALF) == []


def test_facts_from_arrays_are_recorded_as_plain_numbers() -> None:
    told = Grounds(np.float64(0.5), left=np.int64(2), fit=np.float32(0.25)).to_json()  # type: ignore[arg-type]
    assert json.loads(json.dumps(told)) == told
    assert (told["share"], told["left"], told["fit"], told["text"]) == (0.5, 2, 0.25, False)


@given(
    st.lists(st.floats(0.001, 1), min_size=1, max_size=6), st.dictionaries(st.sampled_from(INPUTS), st.floats(0, 5)),
    st.floats(-9, 9),
)  # fmt: skip
def test_the_list_stays_one_of_probabilities_and_the_first_stays_first(
    given_: list[float], weights: dict[str, float], constant: float
) -> None:
    listed = sorted((one / sum(given_) for one in given_), reverse=True)
    rival = listed[1] if len(listed) > 1 else 0.0
    found = shares(calibrated(plans(*listed), Grounds(listed[0], rival), Calibration(weights, constant)))
    assert all(0 <= one <= 1 for one in found)
    assert sum(found) <= 1 + 1e-9
    assert found[0] == max(found)


@given(st.dictionaries(st.sampled_from(INPUTS), st.floats(0, 5)), st.floats(0.01, 0.99), st.integers(0, 4))
def test_the_probability_never_rises_when_less_speaks_for_the_plan(
    weights: dict[str, float], share: float, words: int
) -> None:
    told = Calibration(weights, 0.0)
    best = told(Grounds(share))
    for worse in (
        Grounds(share / 2), Grounds(share, rival=share), Grounds(share, explained=0.5), Grounds(share, left=words),
        Grounds(share, sureness=0.4), Grounds(share, unbound=1), Grounds(share, fit=0.3), Grounds(share, hops=words),
        Grounds(share, text=True),
    ):  # fmt: skip
        assert told(worse) <= best + 1e-12


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({}, "a number for its constant"),
        ({"weights": {"odds": 1.0}, "constant": "much"}, "a number for its constant"),
        ({"weights": {"luck": 1.0}, "constant": 0.0}, "inputs among odds"),
        ({"weights": {"odds": -1.0}, "constant": 0.0}, "no weight of a calibration is negative"),
        ({"weights": {"odds": float("nan")}, "constant": 0.0}, "a number"),
    ],
)
def test_a_file_that_is_no_calibration_is_refused_by_a_sentence(data: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Calibration.from_json(data)


def test_the_file_in_the_tree_can_be_read() -> None:
    told = untrained()
    assert told is None or 0 < told(Grounds(0.9)) < 1
