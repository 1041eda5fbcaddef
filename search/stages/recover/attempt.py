"""One attempt to make a plan find something: the change, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.linking import LinkedPlan, Traversal
from search.domain.plan import Plan
from search.domain.trace import StepStatus


@dataclass(frozen=True)
class Attempt:
    """The result of one attempt.

    `detail` describes it in a sentence. If something was found, `linked` is the changed plan, `given` the plan before
    any change, and `dropped` the conditions that now count as text, in words. `others` are what was found without
    another name instead, each as a plan of its own behind all others.
    """

    detail: str
    given: Plan | None = None
    linked: LinkedPlan | None = None
    traversal: Traversal | None = None
    dropped: tuple[str, ...] = ()
    status: StepStatus = "ok"
    others: tuple[Attempt, ...] = ()

    def laid_over(
        self, plans: Sequence[LinkedPlan], found: Sequence[Traversal]
    ) -> tuple[list[LinkedPlan], list[Traversal]]:
        """Return the plans and traversals with this attempt's in place of the original ones, and its others behind."""
        linked, traversal = self.linked, self.traversal
        if linked is None or traversal is None:
            return list(plans), list(found)
        return (
            [
                *(linked if plan.index == linked.index else plan for plan in plans),
                *(one.linked for one in self.others if one.linked),
            ],
            [
                *(traversal if one.plan_index == linked.index else one for one in found),
                *(one.traversal for one in self.others if one.traversal),
            ],
        )

    def to_json(self) -> dict[str, Any] | None:
        """Return the changed plan with its bindings and its traversal as a JSON object; None if nothing was found."""
        if self.linked is None or self.traversal is None or self.given is None:
            return None
        return {
            "plan_index": self.linked.index,
            "plan": self.linked.plan.to_json(),
            "given": self.given.to_json(),
            "dropped": list(self.dropped),
            "linked": self.linked.to_json(),
            "traversal": self.traversal.to_json(),
            **({"others": [one.to_json() for one in self.others]} if self.others else {}),
        }


@dataclass(frozen=True)
class AnchorCounts(Attempt):
    """For each anchor of a plan, the number of nodes that it finds alone, by its variable."""

    sizes: dict[str, int] = field(default_factory=dict)
