"""The nodes that enumerated plans find, compared with the answers of a question."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from search.domain.graph import OPPOSITE, Direction
from search.interfaces import Adjacency, Keys
from search.stages.plan.enumeration.enumerate import PlanCandidate


@dataclass(frozen=True, eq=False)
class AnswerFilter:
    """Excludes plans that find none of some answers, without walking their last hop.

    One step back from the few answers quickly excludes most plans. `answers` are sorted keys.
    """

    adjacency: Adjacency
    answers: Keys
    _before: dict[tuple[int, Direction], Keys] = field(default_factory=dict, init=False)

    def misses(self, plan: PlanCandidate) -> bool:
        """Whether a plan finds no answer. Of a branch that was not read completely, only the nodes read count."""
        for branch in plan.branches:
            if branch.walked:
                if not _meet(branch.found, self.answers):
                    return True
                continue
            step = branch.path.steps[-1]
            near = self._before.get((step.relation, step.direction))
            if near is None:
                back: Direction = OPPOSITE[step.direction]
                near = self.adjacency.neighbours(self.answers, step.relation, back)
                self._before[step.relation, step.direction] = near
            if not _meet(branch.found, near):
                return True
        return False


def f1(found: Keys, answers: Keys) -> float:
    """Return the F1 of the found keys against the answers; both are sorted and without duplicates."""
    right = len(np.intersect1d(found, answers, assume_unique=True))
    return 2 * right / (len(found) + len(answers)) if right else 0.0


def _meet(one: Keys, other: Keys) -> bool:
    """Return whether two sorted arrays share a key."""
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    if not len(few):
        return False
    at = np.minimum(np.searchsorted(many, few), len(many) - 1)
    return bool((many[at] == few).any())
