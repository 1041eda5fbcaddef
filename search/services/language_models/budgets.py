"""budgets: the budget that the settings give to each search."""

from __future__ import annotations

from django.conf import settings

from search.domain.budget import Allowance, Budget


def new_budget(allowance: Allowance | None = None) -> Budget:
    """Return an unspent budget, that of one search unless another allowance is given, with the settings' prices."""
    prices, currency = settings.GRASP_LLM_PRICES
    return Budget(allowance or settings.GRASP_LLM_BUDGET, prices, currency)
