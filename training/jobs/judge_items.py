"""judge_items: the configured language model judges the items of an annotation queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from training.models import AnnotationQueue
from training.services.annotation.judge_by_model import MOST_TOKENS, PART, checked_model, judge_by_model


@dataclass(frozen=True)
class JudgeItemsJob(JobKind):
    """Lets a language model judge as one more annotator (Kind); items that it has judged are not asked again."""

    units: ClassVar[Mapping[str, str]] = {PART: "candidates"}
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base",)

    queue_id: int = argument(0, "Number of the annotation queue, as in its address.", low=0, high=2**31 - 1)
    most_tokens: int = argument(
        MOST_TOKENS, "Tokens of prompts and answers together, after which it stops.", low=1, high=10**10
    )

    def parts(self) -> Mapping[str, float]:
        """Return the only part."""
        return {PART: 1.0}

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a queue that there is not, and a site without a language model."""
        queue = self._queue(target)
        if queue is None:
            there = AnnotationQueue.objects.filter(knowledge_base__name=target.knowledge_base).order_by("pk")
            known = ", ".join(f"{one.pk} ({one.name})" for one in there[:20]) or "none"
            message = f"{target.knowledge_base} has no annotation queue {self.queue_id}; there are: {known}."
            return [Fault("/arguments/queue_id", message)]
        try:
            checked_model(queue)
        except InvalidRequest as error:
            return error.faults
        return ()

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Ask, and return what was done."""
        queue = self._queue(target)
        if queue is None:
            raise InvalidRequest([Fault("/arguments/queue_id", "The annotation queue has been deleted.")])
        return judge_by_model(queue, most_tokens=self.most_tokens, run=run)

    def _queue(self, target: JobTarget) -> AnnotationQueue | None:
        found = AnnotationQueue.objects.filter(knowledge_base__name=target.knowledge_base, pk=self.queue_id)
        return found.select_related("knowledge_base", "release").first()
