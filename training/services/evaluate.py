"""evaluate: ask a set of questions of one or more pipelines, and report how good each of them is.

Release, settings and specifications are chosen once and passed to every search. So an activation in the meantime does
not change the measures. If a search used anything else, there is no report. Outcomes are stored as they come, so that
an evaluation that was interrupted goes on with the questions that are left.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction

from search.domain.errors import Fault, InvalidRequest, SearchError, StageError
from search.domain.run_context import RunContext
from search.models import Release
from search.models.knowledge import BuildStatus
from search.services.code_version import code_version
from search.services.searches.pin import Pin, PipelineChoice, mixed, pins_from_json
from training.data.examples import Example
from training.evaluation.measures import SEED
from training.evaluation.report import latency
from training.evaluation.runner import QuestionOutcome
from training.models import AskedQuestion, Evaluation, QuestionSet
from training.services.evaluations.ask import EvaluationAsked
from training.services.evaluations.begin_and_end import create_evaluation, ending
from training.services.evaluations.build_report import build_report, lines_of, write_files
from training.services.evaluations.choose_pins import checked_pins, dropped
from training.services.evaluations.processes import Askers, askers, processes_for
from training.services.evaluations.question_plan import QuestionPlan, buildable, question_plan
from training.services.evaluations.rows import (
    answered_places,
    question_rows,
    read_outcomes,
    store_outcomes,
)

A_QUESTION = 0.1
"""Seconds of a search with its attribution, for the first estimate; former evaluations correct it."""
REPEATED = 20
"""Questions of each pipeline that the report asks a second time, to check that the ranking is the same."""
A_BATCH = 50
"""Outcomes that are stored in one transaction."""
BATCH_SECONDS = 1.0
"""Longest time that an outcome waits to be stored; it is asked again if the process is killed before."""
_NOTE = "evaluation"


class MixedEvaluation(SearchError):
    """Searches of one evaluation used different releases, settings or specifications; there is no report."""


def evaluate(
    *,
    knowledge_base: str,
    examples: Sequence[Example],
    split: str | None,
    pipelines: Sequence[str | PipelineChoice],
    settings: Mapping[str, Any],
    output: Path | None = None,
    run: RunContext | None = None,
    question_set: QuestionSet | None = None,
    cross_fitted: bool = False,
    release: str = "",
    seed: int = SEED,
    repeated: int = REPEATED,
    processes: int = 0,
    attribute: bool = True,
    pinned: Sequence[Mapping[str, Any]] = (),
    partial: bool = False,
    left_out: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Ask every question of every pipeline, and return the report.

    A pipeline may be a text such as `grasp@2 fuse.k=5` (`PipelineChoice.parse`); the report names it by that text. The
    folder `output` receives `report.json`, `qrels`, and a TREC run for each pipeline. With `cross_fitted`, a training
    question of an artifact is searched with a scorer fitted without it, if the artifact has kept one. `release` is the
    name of a release; empty means the active one. `repeated` questions of each pipeline are asked twice. `processes`
    is the number of processes that ask; 0 means as many as are worth it. With `attribute`, it is found out where the
    answers that were not found were lost. `pinned` are the specifications that were chosen when the work was launched
    (`pins_as_json`): then `pipelines`, `settings` and the present versions of the pipelines are not looked at.
    With `partial`, a pipeline whose stages cannot be built does not stop the others: the report tells it under
    `left_out` with the reason, beside those that the caller has left out.

    If `run` belongs to work that has begun an evaluation already, that evaluation goes on.

    Raises InvalidRequest with every fault of the request, before the first question is asked; StageError when a
    pipeline cannot be composed, for example because its encoder is not available (with `partial`: when none can);
    MixedEvaluation when a search of
    this evaluation used another release, other settings or another specification; RunCancelled and LeaseLost.
    """
    run = run or RunContext()
    if begun := run.notes.get(_NOTE):
        return resume_evaluation(UUID(begun), output=output, run=run, processes=processes)
    pins = checked_pins(knowledge_base, examples, pipelines, settings, release, pinned)
    first = next(iter(pins.values()))
    assert first.evaluation is not None
    rows = question_rows(first.evaluation, examples, first.release, first.settings_version)
    options: dict[str, Any] = {"cross_fitted": cross_fitted, "repeat": repeated, "attribute": attribute}
    options |= {"partial": partial, "left_out": dict(left_out or {})}
    with run.fenced(), transaction.atomic():
        evaluation = create_evaluation(pins, examples, split, question_set, seed=seed, options=options)
        AskedQuestion.objects.bulk_create(rows, batch_size=A_BATCH)
        run.notes.put(_NOTE, str(evaluation.pk))
    return _carry_on(evaluation, pins, output, run, processes)


def resume_evaluation(
    evaluation_id: UUID, *, output: Path | None = None, run: RunContext | None = None, processes: int = 0
) -> dict[str, Any]:
    """Ask the questions of an evaluation that have no outcome yet, and return the report.

    An evaluation that is done asks nothing; its report is returned and its files are written. Raises InvalidRequest
    when there is no such evaluation or it cannot go on, and the exceptions of `evaluate`.
    """
    evaluation = Evaluation.objects.select_related("knowledge_base", "question_set").filter(pk=evaluation_id).first()
    if evaluation is None or evaluation.purpose != Evaluation.Purpose.REPORT:
        raise InvalidRequest([Fault("/evaluation", f"There is no evaluation {evaluation_id}.")])
    if evaluation.status == Evaluation.Status.DONE and evaluation.report is not None:
        if output is not None:
            write_files(evaluation, evaluation.report, output)
        return evaluation.report
    release = Release.objects.select_related("knowledge_base", "snapshot", "vector_set").filter(
        pk=evaluation.release_id or 0, status=BuildStatus.READY
    ).first()  # fmt: skip
    if release is None:
        raise InvalidRequest([Fault("/evaluation", dropped(evaluation.release_name))])
    if not evaluation.specifications:
        message = f"The evaluation {evaluation_id} was begun by a version that could not resume it; begin a new one."
        raise InvalidRequest([Fault("/evaluation", message)])
    pins = pins_from_json(evaluation.specifications, release, evaluation.pk)
    run = run or RunContext()
    with run.fenced(), transaction.atomic():
        Evaluation.objects.filter(pk=evaluation.pk).update(status=Evaluation.Status.RUNNING, reason="", finished=None)
    return _carry_on(evaluation, pins, output, run, processes)


def _carry_on(
    evaluation: Evaluation, pins: Mapping[str, Pin], output: Path | None, run: RunContext, processes: int
) -> dict[str, Any]:
    """Ask what has no outcome, repeat a sample, and finish the report."""
    with ending(evaluation, run):
        versions = [*evaluation.options.get("code_versions", ()), code_version()]
        evaluation.options["code_versions"] = list(dict.fromkeys(versions))
        plan = question_plan(evaluation, pins)
        there = answered_places(evaluation)
        every = range(len(plan.examples))
        left = {label: [place for place in every if place not in there.get(label, ())] for label in pins}
        number = processes_for(sum(map(len, left.values())), processes)
        # The start of processes and models counts as what comes before the first question.
        run.progress(next(iter(pins)), len(there.get(next(iter(pins)), ())), len(plan.examples))
        with askers(plan.used, number, run) as asking:
            evaluation.options["asked_at_once"] = max(asking.at_once, evaluation.options.get("asked_at_once", 0))
            pins = buildable(evaluation, plan, asking.unbuilt)
            for label in pins:
                _ask_all(evaluation, plan, label, left[label], asking, run)
            evaluation.options["crossed"] = {label: one.count for label, one in plan.crossed.items()}
            evaluation.options["repeated"] = {label: _repeat(evaluation, plan, label, asking, run) for label in pins}
        also = {label: one.specifications for label, one in plan.crossed.items()}
        if reason := mixed(pins, evaluation.id, also):
            raise MixedEvaluation(reason)
        report = build_report(evaluation, pins)
        if output is not None:
            write_files(evaluation, report, output)
        evaluation.report = report
    return report


def expected_parts(labels: Sequence[str], questions: int, repeated: int) -> dict[str, float]:
    """Return the parts of an evaluation with their sizes: each label's questions, then those asked again."""
    asked = dict.fromkeys(labels, questions * A_QUESTION)
    again = min(questions, repeated)
    return asked | ({_again(label): again * A_QUESTION for label in labels} if again else {})


def _again(label: str) -> str:
    """Return the name of the part that asks a sample of a label's questions a second time."""
    return f"{label}, asked again"


def _ask_all(
    evaluation: Evaluation, plan: QuestionPlan, label: str, places: Sequence[int], asking: Askers, run: RunContext
) -> None:
    """Ask the questions at these places of one label, and store the outcomes in batches."""
    rows = dict(AskedQuestion.objects.filter(evaluation=evaluation).values_list("position", "pk"))
    total = len(plan.examples)
    done, batch, stored = total - len(places), list[EvaluationAsked](), time.monotonic()
    run.progress(label, done, total)
    for asked in asking.ask(plan.tasks(label, places), run):
        batch.append(asked)
        if len(batch) >= A_BATCH or time.monotonic() - stored >= BATCH_SECONDS:
            _store(evaluation, plan, rows, batch, run)
            batch, stored = [], time.monotonic()
        done += 1
        run.progress(label, done, total)
    _store(evaluation, plan, rows, batch, run)


def _store(
    evaluation: Evaluation,
    plan: QuestionPlan,
    rows: Mapping[int, int],
    batch: Sequence[EvaluationAsked],
    run: RunContext,
) -> None:
    """Store outcomes. Raises StageError when the release was dropped, which makes every further search fail."""
    if not batch:
        return
    if not Release.objects.filter(pk=evaluation.release_id or 0, status=BuildStatus.READY).exists():
        raise StageError("evaluation", dropped(evaluation.release_name), permanent=True)
    with run.fenced(), transaction.atomic():
        store_outcomes(evaluation, plan.examples, rows, batch)


def _repeat(evaluation: Evaluation, plan: QuestionPlan, label: str, asking: Askers, run: RunContext) -> dict[str, Any]:
    """Ask a sample of the questions again, one at a time, and return whether the run file would be the same.

    The latency is that of searches that run alone, so it can be compared with the latency while several ran at once.
    """
    number = min(len(plan.examples), evaluation.options.get("repeat", 0))
    places = sorted(random.Random(evaluation.seed).sample(range(len(plan.examples)), number))
    first = read_outcomes(evaluation.id, label, plan.examples)
    differ: list[str] = []
    again: list[QuestionOutcome] = []
    for done, asked in enumerate(asking.ask(plan.tasks(label, places, again=True), run, alone=True), 1):
        place = asked.task.place
        name = plan.examples[place].id
        if lines_of(place, asked.outcome, plan.examples, label) != lines_of(place, first[name], plan.examples, label):
            differ.append(name)
        again.append(asked.outcome)
        run.progress(_again(label), done, number)
    return {"questions": number, "same": number - len(differ), "differ": sorted(differ), "latency_ms": latency(again)}
