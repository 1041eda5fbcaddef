"""The risk level of a plan (GRASP, risk level)."""

from __future__ import annotations

from search.domain.plan import Risk

_LEVELS: tuple[tuple[float, Risk], ...] = ((0.7, "aggressive"), (0.4, "normal"), (0.02, "weak"))
"""Least trust, in [0, 1], for each risk level, the boldest first; below all of them it is `no_trade`."""


def level(probability: float, rival: float, share: float) -> Risk:
    """Return the risk level of a plan.

    It depends on the probability of the plan, the probability of its best `rival`, and the `share` of the question that
    the plan explains. The share counts squared. When the plan explains every word, text has little to add, even if the
    rival is close. When half of the words are left over, text matters, even if the plan is certain about the rest.
    """
    trust = share**2 * (1 + probability - rival) / 2
    return next((risk for least, risk in _LEVELS if trust >= least), "no_trade")
