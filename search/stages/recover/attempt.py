"""One attempt to make a plan find something: what was changed, and what that found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.linking import LinkedPlan, Traversal
from search.domain.plan import Plan
from search.domain.trace import StepStatus


@dataclass(frozen=True)
class Attempt:
    """What an attempt came to.

    `detail` says it in a sentence. Where something was found, `linked` is the changed plan, `given` the plan as it was
    before any change, `dropped` what its text has to say from now on, in words.
    """

    detail: str
    given: Plan | None = None
    linked: LinkedPlan | None = None
    traversal: Traversal | None = None
    dropped: tuple[str, ...] = ()
    status: StepStatus = "ok"

    def laid_over(
        self, plans: Sequence[LinkedPlan], found: Sequence[Traversal]
    ) -> tuple[list[LinkedPlan], list[Traversal]]:
        """Return plans and traversals with those of this attempt in place of what they were."""
        linked, traversal = self.linked, self.traversal
        if linked is None or traversal is None:
            return list(plans), list(found)
        return (
            [linked if plan.index == linked.index else plan for plan in plans],
            [traversal if one.plan_index == linked.index else one for one in found],
        )

    def to_json(self) -> dict[str, Any] | None:
        """Return the changed plan with its bindings and what it found; None where nothing was found."""
        if self.linked is None or self.traversal is None or self.given is None:
            return None
        return {
            "plan_index": self.linked.index,
            "plan": self.linked.plan.to_json(),
            "given": self.given.to_json(),
            "dropped": list(self.dropped),
            "linked": self.linked.to_json(),
            "traversal": self.traversal.to_json(),
        }


@dataclass(frozen=True)
class Judgement(Attempt):
    """What each anchor of a plan finds by itself: how many nodes, by its variable."""

    sizes: dict[str, int] = field(default_factory=dict)
