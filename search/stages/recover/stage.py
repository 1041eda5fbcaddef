"""The recovery of plans that found nothing, which the authors of GRASP name as missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from search.domain.linking import LinkedPlan, Reach, Traversal
from search.domain.options import option
from search.domain.trace import Limit, Trace
from search.interfaces import LinkStage, TraverseStage
from search.stages.recover.attempt import Attempt
from search.stages.recover.tries import STEP, Attempts

_NOTHING = "No exact match; similar texts follow."
_OFF = "No exact match, and recovery is switched off; similar texts follow."


@dataclass(frozen=True)
class Recover:
    """Changes plans that found nothing, the most probable one first, until one of them finds something.

    The changes of a plan are, in this order: bind anchors to further nodes of the same similarity; bind them to more
    and less similar nodes; drop as few conditions as possible, whose words then count as text. Anchors that find
    nothing alone are dropped first, then filters, then the anchor with the least certain binding; what is found without
    another anchor instead stands beside it. Last, any relation is followed instead of one. An anchor with ids is looked
    up only if no node has these ids.
    """

    on: bool = option(True, "Whether plans that find nothing are changed until one finds something.")
    attempts: int = option(12, "Largest number of changes tried in one search.", low=1, high=100, public_high=24)
    share: float = option(0.5, "Fraction of the graph's remaining time that all changes may take.", low=0.01, high=1)
    k: float = option(4.0, "Factor of K when a starting point is looked up widely.", low=1, high=20)
    tau: float = option(0.85, "Factor of τ when a starting point is looked up widely.", low=0, high=1)

    def __call__(
        self,
        plans: list[LinkedPlan],
        found: list[Traversal],
        link: LinkStage,
        traverse: TraverseStage,
        trace: Trace,
        limit: Limit,
    ) -> tuple[list[LinkedPlan], list[Traversal]]:
        """Return plans and traversals unchanged, or with one of each replaced; each attempt is a step of the trace.

        Where one of several names was dropped, what is found without another one instead is a plan behind the others.

        Raises DeadlineExceeded if the time for attempts ran out, and SearchCancelled.
        """
        failed = _that_found_nothing(plans, found)
        if not failed:
            return plans, found
        if not self.on:
            trace.skip(STEP, STEP, _OFF)
            return plans, found
        tries = Attempts(link, traverse, trace, limit.share(self.share), Reach(self.k, self.tau), len(plans))
        attempts = (attempt for linked in failed for attempt in tries.at(linked))
        for attempt in islice(attempts, self.attempts):
            if attempt.linked is not None:
                return attempt.laid_over(plans, found)
        trace.step(STEP, STEP, partial(Attempt, _NOTHING, status="degraded"))
        return plans, found


def _that_found_nothing(plans: Sequence[LinkedPlan], found: Sequence[Traversal]) -> list[LinkedPlan]:
    """Return the plans that were executed completely and found nothing, most probable first.

    The list is empty if any plan found something or will be answered from documents: then there is nothing to recover.
    """
    if any(traversal.candidates for traversal in found) or any(linked.plan.searches_documents for linked in plans):
        return []
    empty = {traversal.plan_index for traversal in found if not traversal.truncated}
    failed = [linked for linked in plans if linked.index in empty and linked.plan.retrieval_mode != "skip"]
    return sorted(failed, key=lambda linked: (-linked.probability, linked.index))
