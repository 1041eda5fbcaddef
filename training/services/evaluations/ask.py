"""ask: search one question of an evaluation, read the outcome, and find where its answers were lost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError

from search import wiring
from search.domain.conversation import CACHED_CALLS
from search.domain.errors import InvalidRequest, SearchCancelled, StageError
from search.domain.payloads import Listed, Plans, UnreadablePayload, read_payload
from search.domain.trace import Limit, Step
from search.models import SearchRun
from search.services.searches.lost_session import lost_session
from search.services.searches.pin import Pin
from search.services.searches.run_search import ranking_of
from search.services.searches.search_batch import FinishedSearch, StoredSearch, search_unstored
from training.evaluation.lost import TOP, Attribution
from training.evaluation.lost.facts import Held
from training.evaluation.runner import TEXT_ONLY, QuestionOutcome, plan_shape
from training.services.attribution import SECONDS, UNREAD_ROLES, attribute, failed, undecided

_log = logging.getLogger(__name__)
Unbuilt = dict[int, tuple[str, str, bool]]
"""Pipelines whose stages cannot be built, by the index of the pin: stage, reason, and whether it is permanent."""
EXPLAINED = 20
"""Results that each search explains. The search page shows as many, so the latency is that of a search there."""


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """One question to ask: `label` of the specification, `place` of the question, and `pin`, an index of the pins.

    `expected` are its answers if it is to be found out where they were lost; empty if not.
    """

    label: str
    place: int
    pin: int
    text: str
    identifier: str
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationAsked:
    """A task with its outcome, and the rows of its search; None if the question was refused before a search began.

    `lost` says as JSON where its answers were lost (`Attribution`); None if none was lost, or if it was not asked for.
    """

    task: EvaluationTask
    outcome: QuestionOutcome
    search: StoredSearch | None
    lost: Mapping[str, Any] | None = None


class Answerer:
    """Asks the tasks of one evaluation in this process.

    The first search with a pin loads models and files. It is executed once more before it counts, so that loading does
    not count as latency.
    """

    def __init__(self, pins: Sequence[Pin]) -> None:
        self._pins = pins
        self._loaded: set[int] = set()

    def compose(self) -> Unbuilt:
        """Build the stages of every pipeline, and return the reasons of those that cannot be built, by their pin.

        Raises StageError when the session with Postgres was lost: that says nothing about a pipeline.
        """
        unbuilt: Unbuilt = {}
        for at, pin in enumerate(self._pins):
            pipeline = wiring.pipeline(pin.pipeline)
            try:
                pipeline.compose(dict(pin.specification), wiring.tools(pin.release, pin.settings_version))
            except StageError as error:
                if lost_session(error):
                    raise
                unbuilt[at] = (error.stage, error.reason, error.permanent)
        return unbuilt

    def ask(self, task: EvaluationTask, cancelled: Callable[[], bool]) -> EvaluationAsked:
        """Search a question. A search that failed or was cancelled has an outcome with an error."""
        pin = self._pins[task.pin]
        try:
            if task.pin not in self._loaded:
                self._search(pin, task, cancelled)
                self._loaded.add(task.pin)
            found = self._search(pin, task, cancelled)
        except InvalidRequest as error:
            return _unasked(task, str(error))
        except (StageError, DatabaseError):
            raise
        except Exception as error:  # noqa: BLE001 -- one pipeline's mistake must not lose the other pipelines
            _log.exception("The search of %s with %s ended with an unexpected error.", task.identifier, task.label)
            return _unasked(task, f"An unexpected error stopped the search: {type(error).__name__}: {error}"[:500])
        outcome = outcome_of(found.run, found.steps)
        lost = attributed(found, outcome, task.expected, cancelled) if is_lost(outcome, task.expected) else None
        return _asked(task, outcome, found.stored(), lost)

    def _search(self, pin: Pin, task: EvaluationTask, cancelled: Callable[[], bool]) -> FinishedSearch:
        return search_unstored(pin, question=task.text, k=EXPLAINED, purpose=task.identifier, cancelled=cancelled)


def _unasked(task: EvaluationTask, error: str) -> EvaluationAsked:
    """Return the outcome of a question of which there is no search."""
    return _asked(task, QuestionOutcome(error=error), None, failed(task.expected, error) if task.expected else None)


def _asked(
    task: EvaluationTask, outcome: QuestionOutcome, search: StoredSearch | None, lost: Attribution | None
) -> EvaluationAsked:
    """Return an asked task; the outcome names the stage that lost the first place."""
    if lost is None:
        return EvaluationAsked(task, outcome, search)
    return EvaluationAsked(task, replace(outcome, lost_at=lost.lost_at or ""), search, lost.to_json())


def is_lost(outcome: QuestionOutcome, expected: Sequence[str]) -> bool:
    """Whether no expected answer stands first, or one of them is not in the top (see `Held.in_top`)."""
    answer = Held.of("answer", [node for node, _ in outcome.ranking], expected)
    return bool(expected) and (
        1 not in answer.ranks.values() or not all(answer.in_top(one, TOP) for one in set(expected))
    )


def attributed(
    found: FinishedSearch, outcome: QuestionOutcome, expected: Sequence[str], cancelled: Callable[[], bool]
) -> Attribution | None:
    """Return where the answers of a search that has just ended were lost; None if that was cancelled.

    An attribution that fails is undecided and says why: it must not end the evaluation.
    """
    try:
        limit = Limit.seconds(SECONDS, cancelled)
        return attribute(found.run, expected, limit=limit, steps=found.unstored_steps(UNREAD_ROLES))
    except SearchCancelled:
        return None
    except Exception as error:  # noqa: BLE001 -- whatever an attribution fails of, the outcome counts; the log has it
        _log.exception("It could not be found out where the answers of the search %s were lost.", found.run.pk)
        ids = tuple(node for node, _ in outcome.ranking)
        why = f"The search cannot be examined: {type(error).__name__}: {error}"
        return undecided(tuple(dict.fromkeys(expected)), Listed(ids, (), len(ids)), TOP, why)


def outcome_of(run: SearchRun, steps: Sequence[Step]) -> QuestionOutcome:
    """Return the outcome of a search that has ended."""
    if run.status != SearchRun.Status.DONE:
        error = str((run.error or {}).get("detail") or run.status)
        return QuestionOutcome(error=error, seconds=run.seconds or 0.0, run=run.pk, model_use=_model_use(run))
    stages: dict[str, float] = {}
    for step in steps:
        if step.status != "skipped":
            stages[step.role] = stages.get(step.role, 0.0) + step.seconds
    outcome = QuestionOutcome(
        tuple(ranking_of(run)), run.seconds or 0.0, stages=stages,
        cached_calls=sum(step.tokens.get(CACHED_CALLS, 0) for step in steps), run=run.pk,
        model_use=_model_use(run),
    )  # fmt: skip
    outcome = _with_plan(outcome, next((step for step in steps if step.role == "plan"), None))
    outcome = _with_lead(outcome, next((step for step in steps if step.role == "fusion"), None))
    return _with_first(outcome, next((step for step in steps if step.role == "rerank"), None))


def _model_use(run: SearchRun) -> Mapping[str, Any] | None:
    return (run.answer or {}).get("model_use")


def _with_lead(outcome: QuestionOutcome, step: Step | None) -> QuestionOutcome:
    """Return the outcome with whether its plan is called almost surely right, if there was a fusion.

    The output is read as it is: payloads are read from rows, where ids stand for keys.
    """
    output = None if step is None else step.output
    leads = output.get("surely", output.get("leads")) if isinstance(output, Mapping) else None
    return outcome if leads is None else replace(outcome, leads=bool(leads))


def _with_first(outcome: QuestionOutcome, step: Step | None) -> QuestionOutcome:
    """Return the outcome with the probability of its first result, if a ranker has told it; see `_with_lead`."""
    output = None if step is None else step.output
    told = output.get("probability") if isinstance(output, Mapping) else None
    return outcome if told is None or not outcome.ranking else replace(outcome, probability=float(told))


def _with_plan(outcome: QuestionOutcome, step: Step | None) -> QuestionOutcome:
    """Return the outcome with the probability and the shape of the first plan, if there is a readable plan.

    A plan that leaves the whole question to text was not executed in the graph: pages show no probability of it.
    """
    try:
        plans = None if step is None else read_payload(step.role, step.output)
    except UnreadablePayload:
        return outcome
    if not isinstance(plans, Plans) or not plans.entries:
        return outcome
    first = plans.entries[0]
    shape = plan_shape(first.plan)
    return replace(outcome, probability=None if shape == TEXT_ONLY else first.probability, plan_shape=shape)
