"""ask: search one question of an evaluation, and read the outcome from the finished search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from search import wiring
from search.domain.conversation import CACHED_CALLS
from search.domain.errors import InvalidRequest
from search.domain.payloads import Plans, UnreadablePayload, read_payload
from search.domain.trace import Step
from search.models import SearchRun
from search.services.searches.pin import Pin
from search.services.searches.run_search import ranking_of
from search.services.searches.search_batch import FinishedSearch, StoredSearch, search_unstored
from training.evaluation.runner import QuestionOutcome, plan_shape

EXPLAINED = 20
"""Results that each search explains. The search page shows as many, so the latency is that of a search there."""


@dataclass(frozen=True, slots=True)
class Task:
    """One question to ask: `label` of the specification, `place` of the question, and `pin`, an index of the pins."""

    label: str
    place: int
    pin: int
    text: str
    identifier: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A task with its outcome, and the rows of its search; None if the question was refused before a search began."""

    task: Task
    outcome: QuestionOutcome
    search: StoredSearch | None


class Answerer:
    """Asks the tasks of one evaluation in this process.

    The first search with a pin loads models and files. It is executed once more before it counts, so that loading does
    not count as latency.
    """

    def __init__(self, pins: Sequence[Pin]) -> None:
        self._pins = pins
        self._loaded: set[int] = set()

    def compose(self) -> None:
        """Build the stages of every pipeline. Raises StageError when a tool is not available."""
        for pin in self._pins:
            pipeline = wiring.pipeline(pin.pipeline)
            pipeline.compose(dict(pin.specification), wiring.tools(pin.release, pin.settings_version))

    def ask(self, task: Task, cancelled: Callable[[], bool]) -> Asked:
        """Search a question. A search that failed or was cancelled has an outcome with an error."""
        pin = self._pins[task.pin]
        try:
            if task.pin not in self._loaded:
                self._search(pin, task, cancelled)
                self._loaded.add(task.pin)
            found = self._search(pin, task, cancelled)
        except InvalidRequest as error:
            return Asked(task, QuestionOutcome(error=str(error)), None)
        return Asked(task, outcome_of(found.run, found.steps), found.stored())

    def _search(self, pin: Pin, task: Task, cancelled: Callable[[], bool]) -> FinishedSearch:
        return search_unstored(pin, question=task.text, k=EXPLAINED, purpose=task.identifier, cancelled=cancelled)


def outcome_of(run: SearchRun, steps: Sequence[Step]) -> QuestionOutcome:
    """Return the outcome of a search that has ended."""
    if run.status != SearchRun.Status.DONE:
        return QuestionOutcome(error=str((run.error or {}).get("detail") or run.status), run=run.pk)
    stages: dict[str, float] = {}
    for step in steps:
        if step.status != "skipped":
            stages[step.role] = stages.get(step.role, 0.0) + step.seconds
    outcome = QuestionOutcome(
        tuple(ranking_of(run)), run.seconds or 0.0, stages=stages,
        cached_calls=sum(step.tokens.get(CACHED_CALLS, 0) for step in steps), run=run.pk,
    )  # fmt: skip
    return _with_plan(outcome, next((step for step in steps if step.role == "plan"), None))


def _with_plan(outcome: QuestionOutcome, step: Step | None) -> QuestionOutcome:
    """Return the outcome with the probability and the shape of the first plan, if there is a readable plan."""
    try:
        plans = None if step is None else read_payload(step.role, step.output)
    except UnreadablePayload:
        return outcome
    if not isinstance(plans, Plans) or not plans.entries:
        return outcome
    first = plans.entries[0]
    return replace(outcome, probability=first.probability, plan_shape=plan_shape(first.plan))
