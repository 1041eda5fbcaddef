"""Reads what the environment says about spending: the prices of models, and the budget of a search."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from search.domain.budget import Allowance, Price

KINDS = ("prompt", "cached", "completion")
LIMITS = ("calls", "tokens", "seconds", "money")
CURRENCY = "currency"


def read_prices(text: str) -> tuple[dict[str, Price], str]:
    """Return model → price, and the currency, from JSON; nothing from an empty text.

    `{"currency": "EUR", "model": {"prompt": 0.15, "cached": 0.075, "completion": 0.6}}`: prices of a million tokens.
    `cached` may be missing and is then that of the prompt. The model `*` is any that is not listed. Raises ValueError
    with a sentence.
    """
    if not text:
        return {}, ""
    try:
        table = json.loads(text)
    except ValueError:
        table = None
    if not isinstance(table, dict):
        raise ValueError(  # noqa: TRY004
            'it takes JSON such as {"currency": "EUR", "gpt-5-mini": {"prompt": 0.15, "completion": 0.6}}'
        )
    currency = table.pop(CURRENCY, "")
    if not isinstance(currency, str):
        raise ValueError(f"its currency must be a text such as EUR, not {currency!r}")  # noqa: TRY004
    return {model: _price(model, row) for model, row in table.items()}, currency


def read_allowance(text: str) -> Allowance:
    """Return the budget in a text such as `calls=300, tokens=1000000, seconds=20, money=0.05`.

    What is missing has no limit. Raises ValueError with a sentence.
    """
    limits: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (side.strip() for side in part.partition("="))
        if name not in LIMITS:
            raise ValueError(f"it knows no {name!r}; it takes {', '.join(LIMITS)}, as in calls=300, seconds=20")
        if name in limits:
            raise ValueError(f"it names {name} twice")
        limits[name] = _amount(value, name)
    return Allowance(**limits)


def _price(model: str, row: Any) -> Price:
    if not isinstance(row, Mapping) or not {"prompt", "completion"} <= set(row) <= set(KINDS):
        raise ValueError(f"the row of {model!r} takes the keys prompt, completion and, if it differs, cached")
    prices = {kind: _amount(row[kind], f"{kind} of {model}") for kind in row}
    return Price(prices["prompt"], prices.get("cached", prices["prompt"]), prices["completion"])


def _amount(value: Any, name: str) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"{name} must be a number from 0 on, not {value!r}")
    return number
