"""Traverse: executes linked plans in the graph (GRASP, section on execution)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.errors import StageError
from search.domain.linking import LinkedPlan, Traversal
from search.domain.options import option
from search.domain.trace import Limit, StepOutput
from search.interfaces import GraphStore


@dataclass(frozen=True)
class Traverse:
    """Executes every plan whose anchors are bound, and those that run over a type; a failure concerns one plan only."""

    graph: GraphStore
    rows: int = option(
        10_000,
        "Largest number of possible answers of one plan; the best are kept.",
        low=1,
        high=1_000_000,
        public_high=10_000,
    )
    seconds: float = option(2.0, "Time limit of one plan, in seconds.", low=0.01, high=600, public_high=5)

    @property
    def backend(self) -> str:
        """Name of the engine, for the trace."""
        return self.graph.backend

    def __call__(self, plans: Sequence[LinkedPlan], limit: Limit) -> StepOutput[Traversal]:
        """Return one traversal for each plan that has anchors or runs over a type, in their order.

        The traversal of a failed plan is empty and truncated. Raises StageError if every plan that was executed failed.
        """
        found: list[Traversal] = []
        errors: list[tuple[int, StageError]] = []
        tried = 0
        for linked in plans:
            if not linked.plan.anchors and not linked.plan.runs_over_type:
                continue
            if not linked.is_executable:
                found.append(Traversal(linked.index, self.graph.backend, ()))
                continue
            tried += 1
            try:
                limit.check("traverse")
                found.append(self.graph.execute(linked, self._own(limit), self.rows))
            except StageError as error:
                errors.append((linked.index, error))
                found.append(Traversal(linked.index, self.graph.backend, (), truncated=True))
        if errors and len(errors) == tried:
            raise errors[0][1]
        sentences = [f"Plan {index + 1} was left out: {error.reason}." for index, error in errors]
        sentences += _stand_ins(found)
        return StepOutput(found, detail=" ".join(sentences), status="degraded" if sentences else "ok")

    def _own(self, limit: Limit) -> Limit:
        """Return the limit of one plan."""
        return limit.at_most(self.seconds)


def _stand_ins(found: Sequence[Traversal]) -> list[str]:
    """Return sentences about plans that another engine than the configured one executed."""
    count = Counter((traversal.backend, traversal.note) for traversal in found if traversal.note)
    return [
        f"{backend.capitalize()} executed {number} of {len(found)} plans instead: {note}."
        for (backend, note), number in count.items()
    ]
