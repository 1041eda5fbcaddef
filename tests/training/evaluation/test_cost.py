"""The mean cost of a question, worked out by hand."""

from __future__ import annotations

from typing import Any

from training.evaluation.cost import cost_of_a_question
from training.evaluation.runner import QuestionOutcome


def use(calls: int, prompt: int, completion: int, price: float | None, **more: Any) -> dict[str, Any]:
    tokens = {"prompt": prompt, "cached": prompt // 2, "completion": completion}
    return {"calls": calls, "cached_calls": 0, "refused": 0, "tokens": tokens, "price": price, "currency": "EUR"} | more


def test_failed_and_unasked_questions_stay_in_the_mean() -> None:
    outcomes = [
        QuestionOutcome((("a", 1.0),), 2.0, model_use=use(2, 1000, 100, 0.004)),
        QuestionOutcome((), 1.0, model_use=use(0, 0, 0, 0.0, cached_calls=3)),
        QuestionOutcome(error="cut off", seconds=5.0, model_use=use(1, 600, 0, 0.002)),
        QuestionOutcome((("a", 1.0),), 0.0),
    ]
    assert cost_of_a_question(outcomes) == {
        "seconds": 2.0, "calls": 0.75, "cached_calls": 0.75, "refused": 0.0,
        "tokens": {"prompt": 400.0, "cached": 200.0, "completion": 25.0},
        "price": 0.0015, "currency": "EUR", "questions_with_a_model": 3,
    }  # fmt: skip


def test_a_price_that_is_not_known_of_one_search_is_not_known_of_the_mean() -> None:
    outcomes = [QuestionOutcome(model_use=use(1, 10, 1, 0.1)), QuestionOutcome(model_use=use(1, 10, 1, None))]
    assert cost_of_a_question(outcomes)["price"] is None


def test_without_a_model_nothing_was_spent() -> None:
    told = cost_of_a_question([QuestionOutcome((("a", 1.0),), 0.25)])
    assert (told["seconds"], told["calls"], told["price"], told["currency"]) == (0.25, 0.0, 0.0, "")
    assert cost_of_a_question([])["seconds"] == 0.0
