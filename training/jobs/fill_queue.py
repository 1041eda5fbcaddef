"""fill_queue: search the questions of an annotation queue that came without results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from training.jobs.units import ASKING
from training.models import AnnotationQueue
from training.services.annotation.fill_queue import PART, fill_queue


@dataclass(frozen=True)
class FillQueueJob(JobKind):
    """Searches the questions of an annotation queue that came without results (Kind); making the queue launches it."""

    units: ClassVar[Mapping[str, str]] = ASKING
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base",)

    queue_id: int = argument(0, "Number of the annotation queue, as in its address.", low=0, high=2**31 - 1)

    def parts(self) -> Mapping[str, float]:
        """Return the only part."""
        return {PART: 1.0}

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a queue that there is not, and one whose questions have been searched."""
        queue = self._queue(target)
        if queue is not None and queue.state == AnnotationQueue.State.FILLING:
            return ()
        message = f"{target.knowledge_base} has no annotation queue {self.queue_id} whose questions wait for a search."
        return [Fault("/arguments/queue_id", message)]

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Search, and return what was found."""
        queue = self._queue(target)
        if queue is None:
            raise InvalidRequest([Fault("/arguments/queue_id", "The annotation queue has been deleted.")])
        return fill_queue(queue, run)

    def _queue(self, target: JobTarget) -> AnnotationQueue | None:
        found = AnnotationQueue.objects.filter(knowledge_base__name=target.knowledge_base, pk=self.queue_id)
        return found.select_related("knowledge_base", "release__snapshot", "release__knowledge_base").first()
