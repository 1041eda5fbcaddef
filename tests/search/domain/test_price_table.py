"""The price table and the budget of the environment: what they may say, and the sentence for everything else."""

from __future__ import annotations

import pytest

from search.domain.budget import Allowance, Price
from search.domain.price_table import read_allowance, read_prices


def test_prices_are_read_with_their_currency_and_a_cached_price_that_may_be_missing() -> None:
    text = '{"currency": "EUR", "a": {"prompt": 1, "completion": 4}, "*": {"prompt": 2, "cached": 0, "completion": 3}}'
    assert read_prices(text) == ({"a": Price(1, 1, 4), "*": Price(2, 0, 3)}, "EUR")
    assert read_prices("") == ({}, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cheap", "it takes JSON such as"),
        ("[]", "it takes JSON such as"),
        ('{"a": 3}', "the row of 'a' takes the keys prompt, completion"),
        ('{"a": {"prompt": 3}}', "the row of 'a' takes the keys prompt, completion"),
        ('{"a": {"prompt": 3, "completion": 1, "input": 2}}', "the row of 'a' takes the keys prompt, completion"),
        ('{"a": {"prompt": -3, "completion": 1}}', "prompt of a must be a number from 0 on, not -3"),
        ('{"a": {"prompt": true, "completion": 1}}', "prompt of a must be a number from 0 on, not True"),
        ('{"currency": 3}', "its currency must be a text"),
    ],
)
def test_a_price_table_that_cannot_be_read_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read_prices(text)
    assert said in str(caught.value)


def test_a_budget_names_what_it_limits() -> None:
    assert read_allowance("calls=3, money=0.05") == Allowance(calls=3, money=0.05)
    assert read_allowance("") == Allowance()
    assert read_allowance("calls=3, money=0.05").to_json() == {"calls": 3, "money": 0.05}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("call=3", "it knows no 'call'"),
        ("300", "it knows no '300'"),
        ("calls=3, calls=4", "it names calls twice"),
        ("calls=many", "calls must be a number from 0 on, not 'many'"),
        ("seconds=inf", "seconds must be a number from 0 on, not 'inf'"),
        ("money=-1", "money must be a number from 0 on, not '-1'"),
    ],
)
def test_a_budget_that_cannot_be_read_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read_allowance(text)
    assert said in str(caught.value)
