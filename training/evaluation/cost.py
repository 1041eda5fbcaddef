"""What a question costs with a pipeline: seconds, and calls, tokens and price of language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from training.evaluation.runner import QuestionOutcome

TOKENS = ("prompt", "cached", "completion")
"""Kinds of tokens; `cached` are those of `prompt` that the server had computed before."""


def cost_of_a_question(outcomes: Iterable[QuestionOutcome]) -> dict[str, Any]:
    """Return the mean cost of a question: `seconds`, `calls`, `cached_calls`, `refused`, `tokens` by kind, `price`.

    The mean is over every question that was asked, failed ones too, as that of the measures is; a question that was
    refused before its search began took no time. `price` is None if a model that was asked has no price, and
    `currency` is empty if nobody set prices. `questions_with_a_model` counts the questions of which a model was asked.
    """
    asked = list(outcomes)
    uses = [outcome.model_use for outcome in asked if outcome.model_use]
    number = max(1, len(asked))
    prices = [float(use["price"]) for use in uses if use.get("price") is not None]
    return {
        "seconds": round(sum(outcome.seconds for outcome in asked) / number, 4),
        **{name: _mean(name, uses, number) for name in ("calls", "cached_calls", "refused")},
        "tokens": {kind: _mean(kind, [use.get("tokens", {}) for use in uses], number) for kind in TOKENS},
        "price": round(sum(prices) / number, 8) if len(prices) == len(uses) else None,
        "currency": next((use["currency"] for use in uses if use.get("currency")), ""),
        "questions_with_a_model": len(uses),
    }


def _mean(name: str, uses: Iterable[Mapping[str, Any]], number: int) -> float:
    return round(sum(use.get(name, 0) for use in uses) / number, 3)
