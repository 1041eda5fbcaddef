"""Signals of the plans: how probable the plan of a candidate is, and which of its conditions the candidate meets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.domain.conditions import CheckedConditions, Conditions
from search.domain.fusion import Fusion
from search.domain.linking import LinkedPlan
from search.domain.plan import RISKS
from search.domain.trust import Trust
from search.interfaces import Keys
from search.signals.table import Column

_OF_CANDIDATE = ("plan:probability", "plan:share", "plan:whole", "plan:conditions", "plan:unmet")
_OF_QUESTION = ("plan:trust", "plan:risk", "plan:found", "plan:leads")


def plan_signals(
    fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions, keys: Keys
) -> dict[str, Column]:
    """Return the signals of the plans for the checked candidates, and those of the question for all of them.

    The latter are equal for all candidates of a question: they tell the ranker how far to trust the former.
    """
    probabilities = {linked.index: linked.probability for linked in plans}
    table = np.full((len(keys), len(_OF_CANDIDATE)), np.nan, dtype=np.float32)
    known = list(checked.conditions)
    places = np.searchsorted(keys, known)
    for place, key in zip(places.tolist(), known, strict=True):
        if place < len(keys) and keys[place] == key:
            table[place] = _of(checked.conditions[key], probabilities)
    columns = {name: table[:, at] for at, name in enumerate(_OF_CANDIDATE)}
    trust = next(iter(fusion.trust.values()), Trust.of_nothing())
    of_question = (trust.probability, RISKS.index(trust.risk_level), np.log1p(trust.n_cand), fusion.leads)
    return columns | {
        name: np.full(len(keys), value, dtype=np.float32) for name, value in zip(_OF_QUESTION, of_question, strict=True)
    }


def _of(held: Conditions, probabilities: dict[int, float]) -> tuple[float, ...]:
    """Return the signals of one candidate, in the order of `_OF_CANDIDATE`."""
    states = [*(status for _, status in held.anchors), *held.hops, *held.filters]
    found = sum(share.share * probabilities.get(share.plan_index, 0.0) for share in held.plans)
    best = held.plans[0].share if held.plans else 0.0
    met = states.count("met") / len(states) if states else float("nan")
    return found, best, float(held.whole == "met"), met, float(states.count("not_met"))
