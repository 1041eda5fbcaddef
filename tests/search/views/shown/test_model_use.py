"""What a search spent on language models, in words."""

from __future__ import annotations

from typing import Any

from search.views.shown.model_use import show_model_use, step_tokens

USE: dict[str, Any] = {
    "calls": 3, "cached_calls": 1, "refused": 2, "tokens": {"prompt": 1204, "cached": 812, "completion": 87},
    "seconds": 2.104, "price": 0.0021, "currency": "EUR", "budget": {"calls": 3.0, "tokens": 1_000_000.0},
}  # fmt: skip


def test_everything_that_was_spent_is_said() -> None:
    shown = show_model_use(USE)
    assert shown is not None
    assert shown.brief == "3 model calls, 1,291 tokens, 1 from storage, 0.0021 EUR, 2 refused"
    assert shown.whole == (
        "3 model calls, 1,204 tokens read (812 of them from the server's cache), 87 written, 2.10 s of waiting, "
        "0.0021 EUR. 1 answer from storage. 2 prompts refused: the budget of a search is calls=3, tokens=1000000."
    )


def test_a_price_that_nobody_set_or_knows_is_left_out_and_a_tiny_one_is_no_zero() -> None:
    for change in ({"price": None}, {"currency": "", "price": 0.0}):
        shown = show_model_use(USE | change)
        assert shown is not None
        assert "EUR" not in shown.whole
    tiny = show_model_use(USE | {"price": 0.00001})
    assert tiny is not None
    assert "under 0.0001 EUR" in tiny.brief


def test_a_search_without_a_model_has_nothing_to_say() -> None:
    assert show_model_use(None) is None


def test_the_tokens_of_a_step() -> None:
    tokens = {"calls": 2, "prompt": 1204, "cached": 812, "completion": 87, "cached calls": 1}
    assert step_tokens(tokens) == "Tokens: 1,204 prompt (812 of them cached), 87 completion. 2 calls, 1 from storage."
    assert step_tokens({"prompt": 5, "completion": 1}) == "Tokens: 5 prompt, 1 completion."
    assert step_tokens({"cached calls": 1}) == "1 from storage."
    assert step_tokens({}) == ""
