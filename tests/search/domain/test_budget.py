"""The budget of a search: what is counted, what is refused, and that the limits hold for requests at once."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.budget import (
    LEAST_ANSWER,
    Allowance,
    Budget,
    BudgetSpent,
    ModelRequest,
    ModelUse,
    Price,
    estimated_tokens,
)

PRICES = {"tiny": Price(2.0, 0.5, 10.0)}
"""A million tokens: 2 of a prompt, 0.50 of its cached part, 10 of an answer."""


def refused(budget: Budget, prompt: int = 10, completion: int = 100, model: str = "tiny") -> str:
    with pytest.raises(BudgetSpent) as caught:
        budget.reserve(model, prompt, completion)
    return caught.value.reason


def spend(budget: Budget, **tokens: int) -> ModelRequest:
    request = budget.reserve("tiny", tokens.get("prompt", 0), 4096)
    budget.settle(request, tokens)
    return request


def test_the_price_is_that_of_fresh_and_cached_prompt_tokens_and_of_the_answer() -> None:
    # 400 fresh at 2, 600 cached at 0.50, 100 written at 10: (800 + 300 + 1000) / 1,000,000.
    assert PRICES["tiny"].of({"prompt": 1000, "cached": 600, "completion": 100}) == pytest.approx(0.0021)


def test_calls_tokens_and_price_add_up() -> None:
    budget = Budget(prices=PRICES, currency="EUR")
    spend(budget, prompt=1000, cached=600, completion=100)
    spend(budget, prompt=500)
    budget.stored()
    assert budget.to_json() == {
        "calls": 2, "cached_calls": 1, "refused": 0, "seconds": 0.0, "price": 0.0031, "currency": "EUR", "budget": {},
        "tokens": {"prompt": 1500, "cached": 600, "completion": 100},
    }  # fmt: skip


def test_a_model_without_a_price_makes_the_price_unknown_and_a_star_prices_every_model() -> None:
    budget = Budget(prices=PRICES)
    budget.settle(budget.reserve("huge", 10, 10), {"prompt": 10})
    assert budget.use.price is None
    anything = Budget(prices={"*": Price(1, 1, 1)})
    anything.settle(anything.reserve("huge", 10, 10), {"prompt": 10})
    assert anything.use.price == pytest.approx(1e-5)


def test_calls_are_counted_when_they_are_sent_whether_they_fail_or_not() -> None:
    budget = Budget(Allowance(calls=2))
    for _ in range(2):
        budget.settle(budget.reserve("tiny", 10, 10), None)
    assert refused(budget) == "the search has spent its budget of 2 calls of a language model"
    assert (budget.use.calls, budget.use.refused, budget.use.tokens) == (2, 1, {})


def test_the_last_answer_is_shortened_to_the_tokens_that_are_left() -> None:
    budget = Budget(Allowance(tokens=1000))
    spend(budget, prompt=500, completion=200)
    assert budget.reserve("tiny", 100, 4096).completion == 200
    # The reservation above counts until it is settled.
    assert refused(budget, prompt=1) == "the search has spent its budget of 1,000 tokens, or nearly"


def test_the_last_answer_is_shortened_to_the_money_that_is_left() -> None:
    budget = Budget(Allowance(money=0.003), PRICES, "EUR")
    spend(budget, prompt=500)
    # 0.003 - 0.001 for what was spent - 0.001 for this prompt: 0.001 are 100 tokens at 10 a million.
    request = budget.reserve("tiny", 500, 4096)
    assert request.completion == 100
    assert refused(budget) == "the search has spent its budget of 0.003 EUR, or nearly"
    budget.settle(request, {"prompt": 500, "completion": 20})
    assert budget.reserve("tiny", 0, 4096).completion == 80


def test_money_that_cannot_be_counted_is_not_spent() -> None:
    assert "has no price for 'huge'" in refused(Budget(Allowance(money=1.0), PRICES, "EUR"), model="huge")


def test_seconds_are_those_spent_waiting() -> None:
    budget = Budget(Allowance(seconds=0.001))
    with budget.waiting():
        threading.Event().wait(0.01)
    assert budget.seconds_left() == 0
    with pytest.raises(BudgetSpent, match=r"budget of 0\.001 seconds"):
        budget.check(3)
    assert budget.use.refused == 3


def test_what_a_step_added_is_told_by_kind() -> None:
    budget = Budget()
    spend(budget, prompt=10, completion=2)
    before = budget.use
    spend(budget, prompt=7, cached=5)
    budget.stored()
    assert budget.use.since(before) == {"prompt": 7, "cached": 5, "calls": 1, "cached calls": 1}
    assert budget.use.since(budget.use) == {}
    assert not ModelUse()


requests = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 400), st.floats(0, 1), st.booleans()), max_size=40)


@given(requests, st.integers(0, 3000), st.integers(0, 12))
def test_no_order_of_requests_and_answers_passes_the_limits(
    asked: list[tuple[int, int, float, bool]], tokens: int, calls: int
) -> None:
    """Each request is a prompt, a longest answer, the part of it that is written, and whether others start before."""
    budget, waiting = Budget(Allowance(calls=calls, tokens=tokens), PRICES), []

    def settle_all() -> None:
        for request, part in waiting:
            written = int(part * request.completion)
            budget.settle(request, {"prompt": request.prompt, "completion": written})
        waiting.clear()

    for prompt, most, part, at_once in asked:
        try:
            waiting.append((budget.reserve("tiny", prompt, most), part))
        except BudgetSpent:
            continue
        assert waiting[-1][0].completion <= most
        assert waiting[-1][0].completion >= min(most, LEAST_ANSWER)
        if not at_once:
            settle_all()
    settle_all()
    use = budget.use
    assert use.calls <= calls
    assert sum(use.tokens.values()) <= tokens
    assert use.calls + use.refused == len(asked)


def test_tokens_are_estimated_on_the_safe_side() -> None:
    assert [estimated_tokens(characters) for characters in (0, 1, 3, 4)] == [0, 1, 1, 2]
