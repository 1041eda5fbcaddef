"""One reading of a question: a candidate plan with conditions, and its sum."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.plan import Filter
from search.stages.plan.conditions import Bound
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.limits import Limits

WORTH = 4.0
"""Weight of a condition with score 1, on the scale of the sums of `Weights`."""
UNLIKE = 4.0
"""What a name that has nothing in common with its stretch of the question would take from the sum."""
LEFT = 1.5
"""What each word that a plan without names leaves over takes from its sum: such words may say what the text holds."""
NOTHING, NO_LIMITS = Bound(), Limits()


@dataclass(frozen=True, eq=False)
class Meaning:
    """A candidate with conditions and the filters of numbers: one reading of the question, with its sum.

    The candidate is None for the reading that leaves the question to text.
    """

    candidate: PlanCandidate | None
    total: float
    bound: Bound = NOTHING
    limits: Limits = NO_LIMITS

    @property
    def filters(self) -> tuple[Filter, ...]:
        """All its filters."""
        return (*(one for condition in self.bound.conditions for one in condition.filters), *self.limits.filters)

    @property
    def is_whether(self) -> bool:
        """Whether it asks if a walk from one name reaches another one."""
        return any(condition.ask == "whether" for condition in self.bound.conditions)

    @property
    def is_apart(self) -> bool:
        """Whether its names are joined where no node meets them: it is known to find nothing."""
        return self.candidate is not None and not self.candidate.size

    @property
    def selects(self) -> bool:
        """Whether it must be tried on the graph: nodes may fail its conditions. Numbers that fit have been tried."""
        return self.limits.unmet or any(condition.selects for condition in self.bound.conditions)
