"""Which plan of a search is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from search.domain.plan import Plan

PossiblePlan = tuple[int, float, Plan]
"""Index, probability and plan."""


def most_probable_found(plans: Iterable[PossiblePlan], found: Mapping[int, int]) -> int | None:
    """Return the index of the most probable plan that found something in the graph; None if none did.

    `found` is the number of nodes that each executed plan found. Plans to be skipped do not count.
    """
    answered = [
        (-probability, index)
        for index, probability, plan in plans
        if found.get(index) and plan.retrieval_mode != "skip" and not plan.searches_documents
    ]
    return min(answered)[1] if answered else None
