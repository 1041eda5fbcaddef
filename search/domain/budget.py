"""What one search may spend on language models, what it has spent, and what that costs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from search.domain.errors import StageError

STAGE = "language model"
MILLION = 1_000_000
ANY_MODEL = "*"
"""Name in a price table for every model that it does not list."""
LEAST_ANSWER = 16
"""Fewest tokens of an answer that are worth a call: with less left, the budget is spent."""
CHARACTERS_PER_TOKEN = 3
"""Characters of text that are counted as one token where the server does not say; English has four, so this is safe."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens: of a prompt, of its part that the server had in its cache, of an answer."""

    prompt: float
    cached: float
    completion: float

    def of(self, tokens: Mapping[str, int]) -> float:
        """Return the price of tokens by kind; `cached` are a part of `prompt`."""
        cached = min(tokens.get("cached", 0), tokens.get("prompt", 0))
        fresh = tokens.get("prompt", 0) - cached
        return (fresh * self.prompt + cached * self.cached + tokens.get("completion", 0) * self.completion) / MILLION


@dataclass(frozen=True, slots=True)
class Allowance:
    """The most that one search may spend; infinite where nothing limits it.

    `calls` are HTTP requests, retries included. `tokens` are those of prompts and answers together. `seconds` is the
    time in which the search waits for answers. `money` is in the currency of the price table.
    """

    calls: float = float("inf")
    tokens: float = float("inf")
    seconds: float = float("inf")
    money: float = float("inf")

    def to_json(self) -> dict[str, float]:
        """Return the finite limits by name."""
        named = {"calls": self.calls, "tokens": self.tokens, "seconds": self.seconds, "money": self.money}
        return {name: most for name, most in named.items() if most != float("inf")}


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What was spent: requests, answers from storage, refused prompts, tokens by kind, seconds, and the price.

    `price` is None if a model that was asked has no price.
    """

    calls: int = 0
    cached_calls: int = 0
    refused: int = 0
    tokens: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    price: float | None = 0.0

    def __bool__(self) -> bool:
        return bool(self.calls or self.cached_calls or self.refused)

    def since(self, earlier: ModelUse) -> dict[str, int]:
        """Return the tokens and calls that were added to an earlier state, by kind, without those that are zero."""
        counted = {kind: count - earlier.tokens.get(kind, 0) for kind, count in self.tokens.items()}
        calls = {"calls": self.calls - earlier.calls, "cached calls": self.cached_calls - earlier.cached_calls}
        return {kind: count for kind, count in {**counted, **calls}.items() if count}

    def to_json(self) -> dict[str, Any]:
        """Return the use as JSON; every kind of tokens is there."""
        tokens = {kind: self.tokens.get(kind, 0) for kind in ("prompt", "cached", "completion")}
        return {
            "calls": self.calls, "cached_calls": self.cached_calls, "refused": self.refused, "tokens": tokens,
            "seconds": round(self.seconds, 3), "price": None if self.price is None else round(self.price, 8),
        }  # fmt: skip


class BudgetSpent(StageError):
    """The search has spent what it may; the model is not asked."""

    def __init__(self, reason: str) -> None:
        super().__init__(STAGE, reason, permanent=True)


@dataclass(slots=True)
class ModelRequest:
    """One request within a budget: the most tokens its answer may have, and what it reserves until it is settled."""

    model: str
    prompt: int
    completion: int
    price: float


class Budget:
    """The budget of one search. Threads may share it.

    Every request is reserved before it is sent, with the estimated tokens of its prompt and the most that its answer
    may have, so that several requests at once cannot spend the same rest. What it really took replaces that afterwards.
    """

    def __init__(
        self, allowance: Allowance | None = None, prices: Mapping[str, Price] | None = None, currency: str = ""
    ) -> None:
        self.allowance = allowance or Allowance()
        self.currency = currency
        self._prices = prices or {}
        self._use = ModelUse()
        self._open: list[ModelRequest] = []
        self._lock = threading.Lock()

    @property
    def use(self) -> ModelUse:
        """What was spent until now."""
        return self._use

    def to_json(self) -> dict[str, Any]:
        """Return what was spent, with the currency of the price and the limits."""
        return {**self._use.to_json(), "currency": self.currency, "budget": self.allowance.to_json()}

    def seconds_left(self) -> float:
        """Return the seconds that the search may still wait for answers."""
        return max(0.0, self.allowance.seconds - self._use.seconds)

    def check(self, prompts: int) -> None:
        """Raise BudgetSpent, and count this number of prompts as refused, if nothing may be asked any more."""
        with self._lock:
            try:
                self._check_open()
            except BudgetSpent:
                self._use = replace(self._use, refused=self._use.refused + prompts)
                raise

    def reserve(self, model: str, prompt: int, completion: int) -> ModelRequest:
        """Reserve a request: estimated tokens of its prompt, and the most that its answer may have.

        The returned request may have a shorter answer, if the rest of the budget demands it. Raises BudgetSpent if the
        rest is not enough for a request.
        """
        with self._lock:
            try:
                most = min(completion, self._most_answer(model, prompt))
            except BudgetSpent:
                self._use = replace(self._use, refused=self._use.refused + 1)
                raise
            price = self._price(model)
            reserved = price.of({"prompt": prompt, "completion": most}) if price else 0.0
            request = ModelRequest(model, prompt, most, reserved)
            self._open.append(request)
            self._use = replace(self._use, calls=self._use.calls + 1)
            return request

    def settle(self, request: ModelRequest, tokens: Mapping[str, int] | None) -> None:
        """Replace a reservation by what the request took; None for a request that failed."""
        with self._lock:
            self._open.remove(request)
            if tokens is None:
                return
            kinds = {*self._use.tokens, *tokens}
            added = {kind: self._use.tokens.get(kind, 0) + tokens.get(kind, 0) for kind in kinds}
            price, spent = self._price(request.model), self._use.price
            total = None if price is None or spent is None else spent + price.of(tokens)
            self._use = replace(self._use, tokens=added, price=total)

    def stored(self) -> None:
        """Count an answer that was read from storage and cost nothing."""
        with self._lock:
            self._use = replace(self._use, cached_calls=self._use.cached_calls + 1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time inside as waiting for answers."""
        began = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._use = replace(self._use, seconds=self._use.seconds + time.monotonic() - began)

    def _check_open(self) -> None:
        if self._use.calls >= self.allowance.calls:
            raise _spent(
                f"{self.allowance.calls:,.0f} call{'' if self.allowance.calls == 1 else 's'} of a language model"
            )
        if not self.seconds_left():
            raise _spent(f"{self.allowance.seconds:g} seconds of waiting for a language model")

    def _most_answer(self, model: str, prompt: int) -> int:
        """Return the most tokens that an answer may have after a prompt. Raises BudgetSpent."""
        self._check_open()
        most, allowed, use = float("inf"), self.allowance, self._use
        if allowed.tokens != float("inf"):
            reserved = sum(one.prompt + one.completion for one in self._open)
            spent = use.tokens.get("prompt", 0) + use.tokens.get("completion", 0)
            most = allowed.tokens - spent - reserved - prompt
            if most < LEAST_ANSWER:
                raise _spent(f"{allowed.tokens:,.0f} tokens, or nearly")
        if allowed.money != float("inf"):
            most = min(most, self._affordable(model, prompt))
        return int(most) if most != float("inf") else 2**31 - 1

    def _affordable(self, model: str, prompt: int) -> float:
        """Return the tokens of an answer that the money left can pay after a prompt. Raises BudgetSpent."""
        price, allowed = self._price(model), f"{self.allowance.money:g} {self.currency}".strip()
        if price is None or self._use.price is None:
            raise BudgetSpent(f"the search may spend {allowed}, but the price table has no price for {model!r}")
        left = self.allowance.money - self._use.price - sum(one.price for one in self._open)
        left -= price.of({"prompt": prompt})
        if left < price.of({"completion": LEAST_ANSWER}) or left < 0:
            raise _spent(f"{allowed}, or nearly")
        return left * MILLION / price.completion if price.completion else float("inf")

    def _price(self, model: str) -> Price | None:
        return self._prices.get(model, self._prices.get(ANY_MODEL))


def _spent(what: str) -> BudgetSpent:
    return BudgetSpent(f"the search has spent its budget of {what}")


def estimated_tokens(characters: int) -> int:
    """Return a cautious estimate of the tokens of a text."""
    return -(-characters // CHARACTERS_PER_TOKEN)
