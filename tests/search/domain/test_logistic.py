"""The logistic function that makes a probability of named inputs, worked out by hand."""

import math

import pytest

from search.domain.logistic import FURTHEST, Logistic, log_odds


def test_the_probability_is_the_logistic_of_the_weighted_inputs() -> None:
    """2 · ln 3 - 1 · ln 3 + 0 is ln 3, the log-odds of 3 to 1."""
    told = Logistic({"a": 2.0, "b": 1.0}, 0.0)
    assert told.probability({"a": math.log(3), "b": -math.log(3)}) == pytest.approx(0.75)
    assert told.probability({"a": 0.0, "b": 0.0}) == 0.5
    assert Logistic({}, math.log(4)).probability({"a": 9.0}) == pytest.approx(0.8), "an input without a weight"
    assert told.probability({"a": 1e9}) < 1 < told.probability({"a": 1e9}) + 1e-9
    assert told.probability({"a": -1e9}) > 0


def test_log_odds_are_bounded() -> None:
    assert log_odds(0.8) == pytest.approx(math.log(4))
    assert (log_odds(1.0), log_odds(0.0), log_odds(0.5)) == (FURTHEST, -FURTHEST, 0.0)


def test_what_is_written_is_read_again() -> None:
    told = Logistic({"a": 0.12345678}, -1.5)
    assert told.to_json() == {"weights": {"a": 0.1235}, "constant": -1.5}
    assert Logistic.read(told.to_json(), ("a", "b")) == Logistic({"a": 0.1235}, -1.5)
    with pytest.raises(ValueError, match="inputs among b"):
        Logistic.read(told.to_json(), ("b",))
