"""One reading of a question: a candidate plan with conditions, and its sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.plan import Filter
from search.language.question import AnalysedQuestion, Word
from search.stages.plan.conditions import Bound
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.limits import Limits

WORTH = 4.0
"""Weight of a condition with score 1, on the scale of the sums of `Weights`."""
UNLIKE = 4.0
"""What a name that has nothing in common with its stretch of the question would take from the sum."""
LEFT = 1.5
"""What each word that a plan without names leaves over takes from its sum: such words may say what the text holds."""
STRAY = 6.0
"""The same where one word that is also a value is all that the plan has of a description (`strays`)."""
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
        """All its filters, each once."""
        every = (*(one for condition in self.bound.conditions for one in condition.filters), *self.limits.filters)
        # The value of a range is a list, which has no hash.
        return tuple(one for at, one in enumerate(every) if one not in every[:at])

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


def strays(question: AnalysedQuestion, meaning: Meaning, left: Sequence[Word]) -> bool:
    """Whether a plan without names stands on one word that is a value, beside several words that it leaves over.

    *Which gene is named for a child with a festive surname* describes a gene. It does not select by *child*.
    """
    conditions = meaning.bound.conditions
    if len(left) < 2 or meaning.limits.filters or any(one.order or one.exclude or one.show for one in conditions):
        return False
    if not all(one.op == "=" and one.count is None for one in meaning.filters):
        return False
    words = question.without(()).content
    return sum(any(first <= word.start < last for first, last in meaning.bound.spans) for word in words) == 1
