"""evaluate: ask a set of questions of one or more pipelines, and report how good each of them is.

Release, settings and specifications are chosen once and passed to every search. So an activation in the meantime does
not change the measures. If a search used anything else, there is no report. Outcomes are stored as they come, so that
an evaluation that was interrupted goes on with the questions that are left.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from search.domain.errors import Fault, InvalidRequest, SearchError, StageError
from search.domain.run_context import RunContext
from search.models import Release, SearchRun
from search.models.knowledge import BuildStatus
from search.services.code_version import code_version
from search.services.searches.pin import Pin, PipelineChoice, mixed, pins_from_json
from search.services.searches.pin_searches import pin_searches
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from training.data.examples import Example
from training.evaluation.measures import SEED
from training.evaluation.report import latency
from training.evaluation.runner import QuestionOutcome
from training.models import AskedQuestion, Evaluation, QuestionSet
from training.services.cross_fitting import CrossFitted
from training.services.cross_fitting import cross_fitted as cross_fitting
from training.services.evaluations.ask import Asked, Task
from training.services.evaluations.begin_and_end import create_evaluation, ending
from training.services.evaluations.build_report import build_report, lines_of, write_files
from training.services.evaluations.processes import Askers, askers, processes_for
from training.services.evaluations.rows import (
    answered_places,
    question_rows,
    read_examples,
    read_outcomes,
    store_outcomes,
    unknown_answers,
)

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
) -> dict[str, Any]:
    """Ask every question of every pipeline, and return the report.

    A pipeline may be a text such as `grasp@2 fuse.k=5` (`PipelineChoice.parse`); the report names it by that text. The
    folder `output` receives `report.json`, `qrels`, and a TREC run for each pipeline. With `cross_fitted`, a training
    question of an artifact is searched with a scorer fitted without it, if the artifact has kept one. `release` is the
    name of a release; empty means the active one. `repeated` questions of each pipeline are asked twice. `processes`
    is the number of processes that ask; 0 means as many as are worth it. With `attribute`, it is found out where the
    answers that were not found were lost. `pinned` are the specifications that were chosen when the work was launched
    (`pins_as_json`): then `pipelines`, `settings` and the present versions of the pipelines are not looked at.

    If `run` belongs to work that has begun an evaluation already, that evaluation goes on.

    Raises InvalidRequest with every fault of the request, before the first question is asked; StageError when a
    pipeline cannot be composed, for example because its encoder is not available; MixedEvaluation when a search of
    this evaluation used another release, other settings or another specification; RunCancelled and LeaseLost.
    """
    run = run or RunContext()
    if begun := run.notes.get(_NOTE):
        return resume_evaluation(UUID(begun), output=output, run=run, processes=processes)
    pins = _checked_pins(knowledge_base, examples, pipelines, settings, release, pinned)
    first = next(iter(pins.values()))
    assert first.evaluation is not None
    rows = question_rows(first.evaluation, examples, first.release, first.settings_version)
    options = {"cross_fitted": cross_fitted, "repeat": repeated, "attribute": attribute}
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
        raise InvalidRequest([Fault("/evaluation", _dropped(evaluation.release_name))])
    if not evaluation.specifications:
        message = f"The evaluation {evaluation_id} was begun by a version that could not resume it; begin a new one."
        raise InvalidRequest([Fault("/evaluation", message)])
    pins = pins_from_json(evaluation.specifications, release, evaluation.pk)
    run = run or RunContext()
    with run.fenced(), transaction.atomic():
        Evaluation.objects.filter(pk=evaluation.pk).update(status=Evaluation.Status.RUNNING, reason="", finished=None)
    return _carry_on(evaluation, pins, output, run, processes)


def _checked_pins(
    knowledge_base: str, examples: Sequence[Example], pipelines: Sequence[str | PipelineChoice],
    settings: Mapping[str, Any], release: str, pinned: Sequence[Mapping[str, Any]],
) -> dict[str, Pin]:  # fmt: skip
    """Return the pins of a new evaluation. Raises InvalidRequest with every fault of the request."""
    faults = [] if examples else [Fault("/questions", "There is no question to ask.")]
    if not pipelines:
        faults.append(Fault("/pipelines", "Name at least one pipeline."))
    pins: dict[str, Pin] = {}
    try:
        pins = frozen_pins(knowledge_base, pinned) or pin_searches(
            knowledge_base=knowledge_base, pipelines=pipelines, settings=settings, evaluation=uuid4(), release=release
        )  # fmt: skip
    except InvalidRequest as error:
        faults += error.faults
    if pins and examples:
        first = next(iter(pins.values()))
        without, unknown = unknown_answers(examples, first.release, first.settings_version)
        if without == len(examples):
            shown = ", ".join(repr(answer[:60]) for answer in unknown[:3])
            message = f"No answer of these {len(examples):,} questions is a node of {first.release.name}, such as"
            faults.append(Fault("/questions", f"{message} {shown}. Are they about another knowledge base?"))
    if faults:
        raise InvalidRequest(faults)
    return pins


def frozen_pins(knowledge_base: str, pinned: Sequence[Mapping[str, Any]]) -> dict[str, Pin]:
    """Return the pins of a new evaluation that were chosen at launch; nothing if `pinned` is empty.

    Raises InvalidRequest if their release has been dropped since.
    """
    if not pinned:
        return {}
    name = pinned[0]["release"]
    releases = Release.objects.select_related("knowledge_base", "snapshot", "vector_set")
    ready = releases.filter(knowledge_base__name=knowledge_base, status=BuildStatus.READY)
    release = next((one for one in ready if one.name == name), None)
    if release is None:
        raise InvalidRequest([Fault("/release", _dropped(name))])
    return pins_from_json(pinned, release, uuid4())


@dataclass(frozen=True)
class _Plan:
    """What an evaluation has to ask: the examples, the pins of each label, and the pins that searches use."""

    examples: Sequence[Example]
    pins: Mapping[str, Pin]
    crossed: Mapping[str, CrossFitted]
    used: list[Pin]
    pin_of: Mapping[tuple[str, int], int]
    attribute: bool

    def tasks(self, label: str, places: Sequence[int], *, again: bool = False) -> list[Task]:
        """Return the tasks of a label; questions with the same pin follow each other, so its files are loaded once.

        Where answers were lost is not found out `again`.
        """
        lost = self.attribute and not again
        found = [
            Task(label, place, self.pin_of[label, place], one.text, one.id, one.answers if lost else ())
            for place, one in ((place, self.examples[place]) for place in places)
        ]
        return sorted(found, key=lambda task: task.pin)


def _planned(evaluation: Evaluation, pins: Mapping[str, Pin]) -> _Plan:
    examples = read_examples(evaluation)
    crossing = bool(evaluation.options.get("cross_fitted"))
    crossed = {label: cross_fitting(pin, examples if crossing else ()) for label, pin in pins.items()}
    used: list[Pin] = list(pins.values())
    pin_of: dict[tuple[str, int], int] = {}
    for at, (label, pin) in enumerate(pins.items()):
        places: dict[str, int] = {pin.specification_hash: at}
        for place in range(len(examples)):
            own = crossed[label].pins[place] if crossing else None
            if own is not None and own.specification_hash not in places:
                places[own.specification_hash] = len(used)
                used.append(own)
            pin_of[label, place] = places[(own or pin).specification_hash]
    return _Plan(examples, pins, crossed, used, pin_of, bool(evaluation.options.get("attribute")))


def _carry_on(
    evaluation: Evaluation, pins: Mapping[str, Pin], output: Path | None, run: RunContext, processes: int
) -> dict[str, Any]:
    """Ask what has no outcome, repeat a sample, and finish the report."""
    with ending(evaluation, run):
        versions = [*evaluation.options.get("code_versions", ()), code_version()]
        evaluation.options["code_versions"] = list(dict.fromkeys(versions))
        plan = _planned(evaluation, pins)
        there = answered_places(evaluation)
        every = range(len(plan.examples))
        left = {label: [place for place in every if place not in there.get(label, ())] for label in pins}
        number = processes_for(sum(map(len, left.values())), processes)
        with askers(plan.used, number, run) as asking:
            evaluation.options["asked_at_once"] = max(asking.at_once, evaluation.options.get("asked_at_once", 0))
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


def _ask_all(
    evaluation: Evaluation, plan: _Plan, label: str, places: Sequence[int], asking: Askers, run: RunContext
) -> None:
    """Ask the questions at these places of one label, and store the outcomes in batches."""
    rows = dict(AskedQuestion.objects.filter(evaluation=evaluation).values_list("position", "pk"))
    total = len(plan.examples)
    done, batch, stored = total - len(places), list[Asked](), time.monotonic()
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
    evaluation: Evaluation, plan: _Plan, rows: Mapping[int, int], batch: Sequence[Asked], run: RunContext
) -> None:
    """Store outcomes. Raises StageError when the release was dropped, which makes every further search fail."""
    if not batch:
        return
    if not Release.objects.filter(pk=evaluation.release_id or 0, status=BuildStatus.READY).exists():
        raise StageError("evaluation", _dropped(evaluation.release_name), permanent=True)
    with run.fenced(), transaction.atomic():
        store_outcomes(evaluation, plan.examples, rows, batch)


def _repeat(evaluation: Evaluation, plan: _Plan, label: str, asking: Askers, run: RunContext) -> dict[str, Any]:
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
        run.progress(f"{label}, asked again", done, number)
    return {"questions": number, "same": number - len(differ), "differ": sorted(differ), "latency_ms": latency(again)}


def _dropped(name: str) -> str:
    return f"The release {name} has been dropped, so its questions cannot be asked any more; begin a new evaluation."


def purpose_of(example: Example) -> str:
    """Return the purpose of a question's search, by which it is found again."""
    return example.id[:200]


def search_pinned(pin: Pin, example: Example, k: int = 20) -> SearchRun:
    """Search one question of an evaluation and return the row of the search. Raises InvalidRequest, StageError."""
    row = request_search(
        knowledge_base=pin.release.knowledge_base.name, question=example.text, pipeline=pin.pipeline, k=k,
        origin=SearchRun.Origin.EVALUATION, purpose=purpose_of(example), enqueue=False, pin=pin,
    )  # fmt: skip
    return run_search(row.pk)
