"""What a search spent on language models, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]
LEAST_PRICE = 0.0001
"""Prices below this are shown as less than this."""


@dataclass(frozen=True, slots=True)
class ShownModelUse:
    """What was spent: in a few words, and in sentences."""

    brief: str
    whole: str


def show_model_use(use: Json | None) -> ShownModelUse | None:
    """Return what a described search spent (`model_use`); None if it asked no language model."""
    if not use:
        return None
    tokens = use["tokens"]
    calls = _count(use["calls"], "model call")
    price = _price(use["price"], use["currency"])
    brief = [calls, f"{tokens['prompt'] + tokens['completion']:,} tokens"] if use["calls"] else []
    brief += [f"{use['cached_calls']:,} from storage"] if use["cached_calls"] else []
    brief += [price] if price else []
    brief += [f"{use['refused']:,} refused"] if use["refused"] else []
    said = []
    if use["calls"]:
        cached = f" ({tokens['cached']:,} of them from the server's cache)" if tokens["cached"] else ""
        spent = f"{calls}, {tokens['prompt']:,} tokens read{cached}, {tokens['completion']:,} written"
        said.append(f"{spent}, {use['seconds']:.2f} s of waiting{f', {price}' if price else ''}.")
    if use["cached_calls"]:
        said.append(f"{_count(use['cached_calls'], 'answer')} from storage.")
    if use["refused"]:
        limits = ", ".join(f"{name}={most:.10g}" for name, most in use["budget"].items())
        said.append(f"{_count(use['refused'], 'prompt')} refused: the budget of a search is {limits}.")
    return ShownModelUse(", ".join(brief), " ".join(said))


def step_tokens(tokens: Json) -> str:
    """Return the tokens and calls of a step: `Tokens: 1,204 prompt (812 of them cached), 87 completion. 1 call.`"""
    cached = f" ({tokens['cached']:,} of them cached)" if tokens.get("cached") else ""
    kinds = [f"{tokens['prompt']:,} prompt{cached}"] if tokens.get("prompt") else []
    kinds += [f"{tokens['completion']:,} completion"] if tokens.get("completion") else []
    calls = [_count(tokens["calls"], "call")] if tokens.get("calls") else []
    calls += [f"{tokens['cached calls']:,} from storage"] if tokens.get("cached calls") else []
    parts = [f"Tokens: {', '.join(kinds)}."] if kinds else []
    return " ".join([*parts, f"{', '.join(calls)}."] if calls else parts)


def _price(price: float | None, currency: str) -> str:
    """Return a price; empty if it is unknown, or if nobody set prices."""
    if price is None or not currency:
        return ""
    return f"under {LEAST_PRICE} {currency}" if 0 < price < LEAST_PRICE else f"{price:.4f} {currency}"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
