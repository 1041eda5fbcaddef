"""tune: search validation questions, choose fusion's settings by their lists, and save a version of the pipeline."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from search.domain.errors import InvalidRequest
from search.domain.payloads import Fused
from search.domain.run_context import RunContext
from search.models import PipelineVersion, SearchRun
from search.services.code_version import code_version
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.searches.pin import Pin, PipelineChoice, mixed
from search.services.searches.pin_searches import pin_searches
from search.services.searches.search_batch import search_unstored, store_searches
from search.stages.fuse import FusionWeights
from training.data.examples import BadQuestions, Example
from training.data.hashes import question_hash
from training.data.splits import TRAIN, VAL, refuse_split, refuse_splits
from training.evaluation.comparisons import comparisons
from training.evaluation.fused_ranks import RankCase
from training.evaluation.measures import Values, intervals, means
from training.evaluation.tuning import METHODS, Tuning
from training.evaluation.tuning import tune as choose
from training.evaluation.verdict import TEST
from training.models import ChosenOptions, Evaluation, QuestionSet
from training.services.cross_fitting import CrossFitted, cross_fitted
from training.services.evaluate import MixedEvaluation
from training.services.evaluations.begin_and_end import create_evaluation, ending
from training.services.evaluations.choose_pins import frozen_pins, purpose_of
from training.services.question_sets import described_set
from training.services.tuned_lists import (
    FINAL,
    STAGE_2,
    Lists,
    case_of,
    check_weighed,
    final_weights,
    lists_of,
    read_fusion,
)

_SEARCHES, _WEIGHTS = PARTS = ("searches", "weights")
_BEGUN, _SAVED = "tuning begun", "tuning saved"
"""Names of the notes with the evaluation that was begun, and with the one whose choice was saved."""


@dataclass(frozen=True)
class _Asked:
    """The questions' lists, the fusion settings of their searches, and the number of failed searches."""

    cases: list[RankCase]
    present: FusionWeights
    errors: int


def tune(
    *,
    knowledge_base: str,
    examples: Sequence[Example],
    split: str | None,
    pipeline: str,
    activate: bool = True,
    run: RunContext | None = None,
    question_set: QuestionSet | None = None,
    pinned: Sequence[Mapping[str, Any]] = (),
    part: str = STAGE_2,
    on: PipelineVersion | None = None,
) -> dict[str, Any]:
    """Choose fusion's settings on these questions and return the report.

    Each question is searched once, and the searches are recorded as an evaluation. The grid is evaluated on the two
    lists of each search, 100 candidates deep. All searches use the same release and settings. A planner is more
    confident on questions that it has learned from, so that weights chosen there would trust the graph too much.
    Training questions of the pipeline's artifacts are therefore searched with scorers fitted without them;
    `cross_fitted` counts them. If an artifact has kept no such scorer, they are left out; `left_out` counts them.

    If cross-validation confirms the choice, it is saved as the pipeline's next version, which `activate` puts in use at
    once. Otherwise nothing is saved and `reason` says why.

    `part` is the fusion to tune: `fusion`, of the graph's list and the text's, by GRASP's grid (section on fusion); or
    `final`, of the reranker's list and the fused one, by the static grid. `on` is the version of the pipeline that is
    tuned; None means the active one. `pinned` is the specification that was chosen when the work was launched
    (`pins_as_json`), if it was. The report's `surfaces` hold H@1 and MRR over k and the weight, on all questions.

    If `run` belongs to work that has begun a tuning already, that one goes on: what was searched is not searched again,
    and a choice that was saved is not saved again.

    Raises BadQuestions for questions of splits other than train and val, or when all questions must be left out;
    InvalidRequest with every fault of the request; StageError when the pipeline cannot be composed; RunCancelled and
    LeaseLost.
    """
    allowed = (TRAIN, VAL)
    refuse_split(split, "Tuning", allowed)
    refuse_splits(examples, "Tuning", allowed)
    lists = lists_of(pipeline, part)
    run = run or RunContext()
    if (saved := _saved(run)) is not None:
        return saved
    evaluation, pin, crossed, kept = _begun(
        run, knowledge_base, examples, split, _choice(pipeline, on), lists, question_set, pinned
    )  # fmt: skip
    pins, asked_of = {pipeline: pin}, [example for example, _ in kept]
    with ending(evaluation, run):
        began = time.perf_counter()
        asked = _ask(pin, lists, kept, run)
        if reason := mixed(pins, evaluation.id, {pipeline: crossed.specifications}):
            raise MixedEvaluation(reason)
        searched = time.perf_counter()
        methods = METHODS if part == STAGE_2 else ("static",)
        tuning = choose(asked.cases, asked.present, lambda done, total: _tell(run, done, total), methods)
        seconds = {"searches": round(searched - began, 2), "weights": round(time.perf_counter() - searched, 2)}
        left_out = len(examples) - len(kept)
        report: dict[str, Any] = {
            "evaluation": str(evaluation.id),
            "knowledge_base": knowledge_base,
            "release": pin.release.name,
            "settings_version": pin.settings_version,
            "question_set": described_set(question_set),
            "split": split,
            "questions": len(kept),
            "cross_fitted": crossed.count,
            "left_out": left_out,
            "errors": asked.errors,
            "code_version": code_version(),
            "pipeline": pipeline,
            "part": part,
            "pipeline_version": None,
            "active": False,
            "decided": tuning.decided,
            "reason": _about_learned(crossed.count, left_out) + tuning.reason,
            "before": {"options": _options(lists, asked.present)} | _described(tuning.before),
            "after": {"options": _options(lists, tuning.best)} | _described(tuning.after),
            "held_out": _described(tuning.held_out),
            "gain": _described({name: tuning.held_out[name] - tuning.before[name] for name in tuning.before}),
            "test": TEST,
            "comparisons": comparisons({"held out of the choice": tuning.held_out, "in use": tuning.before}),
            "surfaces": [surface.to_json(tuning.best, asked.present) for surface in tuning.surfaces],
            "seconds": seconds,
        }
        run.check()
        with run.fenced(), transaction.atomic():
            if tuning.decided:
                version = _save(pin, lists, tuning, asked_of, evaluation, activate, on)
                report |= {"pipeline_version": version.version, "active": version.active}
            evaluation.report = report
            evaluation.save(update_fields=["report"])
            run.notes.put(_SAVED, str(evaluation.pk))
    return report


def _saved(run: RunContext) -> dict[str, Any] | None:
    """Return the report of a tuning whose choice this work has saved before it was interrupted, else None."""
    known = run.notes.get(_SAVED)
    if known is None:
        return None
    evaluation = Evaluation.objects.get(pk=known)
    if evaluation.status != Evaluation.Status.DONE:
        with ending(evaluation, run):
            run.progress(_WEIGHTS, 1, 1)
    return dict(evaluation.report or {})


def _begun(
    run: RunContext, knowledge_base: str, examples: Sequence[Example], split: str | None, choice: PipelineChoice,
    lists: Lists, question_set: QuestionSet | None, pinned: Sequence[Mapping[str, Any]],
) -> tuple[Evaluation, Pin, CrossFitted, list[tuple[Example, Pin]]]:  # fmt: skip
    """Return the evaluation that this work has begun, or a new one, with its pin and the questions that are asked."""
    known = run.notes.get(_BEGUN)
    rows = Evaluation.objects.select_related("knowledge_base", "question_set", "release__knowledge_base")
    evaluation = rows.filter(pk=known, release__isnull=False).first() if known else None
    if evaluation is not None and evaluation.release is not None:
        pin = Pin.from_json(evaluation.specifications[0], evaluation.release, evaluation.pk)
        Evaluation.objects.filter(pk=evaluation.pk).update(status=Evaluation.Status.RUNNING, reason="", finished=None)
        return evaluation, pin, *_askable(pin, examples)
    pins = frozen_pins(knowledge_base, pinned) or pin_searches(
        knowledge_base=knowledge_base, pipelines=[choice], settings={}, evaluation=uuid4()
    )
    pin = pins[choice.label]
    check_weighed(pin.specification, lists)
    crossed, kept = _askable(pin, examples)
    with run.fenced(), transaction.atomic():
        asked_of = [example for example, _ in kept]
        evaluation = create_evaluation(pins, asked_of, split, question_set, purpose=Evaluation.Purpose.TUNING)
        run.notes.put(_BEGUN, str(evaluation.pk))
    return evaluation, pin, crossed, kept


def _choice(pipeline: str, on: PipelineVersion | None) -> PipelineChoice:
    """Return the version to tune, labelled with the pipeline's name."""
    return PipelineChoice(pipeline, None if on is None else on.version, label=pipeline)


def _tell(run: RunContext, done: int, total: int) -> None:
    run.check()
    run.progress(_WEIGHTS, done, total)


def _askable(pin: Pin, examples: Sequence[Example]) -> tuple[CrossFitted, list[tuple[Example, Pin]]]:
    """Return the questions that can be searched without a scorer that has learned from them, each with its pin.

    Raises BadQuestions when no question is left.
    """
    crossed = cross_fitted(pin, examples)
    kept = [(example, own) for example, own in zip(examples, crossed.pins, strict=True) if own is not None]
    if not kept:
        raise BadQuestions(
            ["The pipeline has learned from all of these questions, so nothing can be chosen with them."]
        )
    return crossed, kept


def _about_learned(crossed: int, left_out: int) -> str:
    """Return sentences about the treatment of training questions; an empty string when there are none."""
    searched = f"{_questions(crossed)} searched with a scorer that had not learned from {_them(crossed)}. "
    return (searched if crossed else "") + (f"{_questions(left_out)} left out. " if left_out else "")


def _questions(number: int) -> str:
    return "1 training question was" if number == 1 else f"{number:,} training questions were"


def _them(number: int) -> str:
    return "it" if number == 1 else "them"


def _ask(pin: Pin, lists: Lists, questions: Sequence[tuple[Example, Pin]], run: RunContext) -> _Asked:
    """Search every question and return the lists. A failed search has empty lists and stays in the mean.

    Raises UnreadableLists when the lists of a finished search cannot be read, because tuning needs them.
    """
    cases: dict[int, RankCase] = {}
    seen: list[Fused] = []
    errors = 0
    known = dict(SearchRun.objects.filter(evaluation=pin.evaluation).values_list("purpose", "pk"))
    # Questions are grouped by specification, so that the files of each fold are loaded only once.
    order = sorted(range(len(questions)), key=lambda place: questions[place][1].specification_hash)
    for done, place in enumerate(order, 1):
        run.check()
        example, own = questions[place]
        fused = _fused(own, lists, example, known.get(purpose_of(example)), run)
        errors += fused is None
        cases[place] = case_of(example, fused, lists.part)
        seen += [fused] if fused is not None else []
        run.progress(_SEARCHES, done, len(questions))
    ordered = [cases[place] for place in range(len(questions))]
    return _Asked(ordered, _present(pin, lists, seen), errors)


def _present(pin: Pin, lists: Lists, seen: Sequence[Fused]) -> FusionWeights:
    """Return the settings of the fusion that the searches have used."""
    options: dict[str, Any] = dict(pin.specification["stages"][lists.fusion]["OPTIONS"])
    if lists.part == FINAL:
        return final_weights(options, seen)
    for name in ("bucket_weights", "risk_multipliers"):
        options[name] = tuple(options[name])
    return FusionWeights(**options)


def _fused(pin: Pin, lists: Lists, example: Example, known: UUID | None, run: RunContext) -> Fused | None:
    """Return the fusion of a question's search, made now unless it is known; None when the search fails.

    Raises UnreadableLists, and StageError when Postgres was lost.
    """
    if known is None:
        known = _searched(pin, example, run)
    row = SearchRun.objects.filter(pk=known, status=SearchRun.Status.DONE).first() if known else None
    return read_fusion(row, lists) if row is not None else None


def _searched(pin: Pin, example: Example, run: RunContext) -> UUID | None:
    """Search a question, and write the rows when it has ended, so that none is there twice; None if it is refused."""
    try:
        # One result is explained: only the lists are read.
        found = search_unstored(
            pin, question=example.text, k=1, purpose=purpose_of(example), cancelled=run.limit.cancelled
        )  # fmt: skip
    except InvalidRequest:
        return None
    # A search that was cancelled has no outcome.
    run.check()
    with run.fenced(), transaction.atomic():
        store_searches([found.stored()])
    return found.run.pk


def _save(
    pin: Pin, lists: Lists, tuning: Tuning, examples: Sequence[Example], evaluation: Evaluation, activate: bool,
    on: PipelineVersion | None,
) -> PipelineVersion:  # fmt: skip
    """Save the best settings and the hashes of their questions, and return the pipeline's new version."""
    where = f" of split {evaluation.split}" if evaluation.split else ""
    options = _options(lists, tuning.best)
    named = "Fusion" if lists.part == STAGE_2 else "Final fusion"
    with transaction.atomic():
        version = save_pipeline_version(
            knowledge_base=pin.release.knowledge_base,
            pipeline=pin.pipeline,
            options=options if on is None else {**on.options, **options},
            whole=on is not None,
            note=f"{named} tuned on {len(examples):,} questions{where}. {tuning.reason}",
            activate=activate,
        )
        ChosenOptions.objects.create(
            pipeline_version=version, part=lists.part, options=options, question_set=evaluation.question_set,
            split=evaluation.split, hashes=sorted({question_hash(example) for example in examples}),
            evaluation=evaluation,
        )  # fmt: skip
    return version


def _options(lists: Lists, fuse: FusionWeights) -> dict[str, Any]:
    """Return the settings that the fusion method uses, as options of the pipeline."""
    if lists.part == FINAL:
        return {f"{lists.fusion}.weight": fuse.weight, f"{lists.fusion}.k": fuse.k}
    names = ("k", "weight", "lead") if fuse.method == "static" else ("k", "bucket_weights", "risk_multipliers", "lead")
    values = {name: getattr(fuse, name) for name in ("method", *names)}
    return {f"{lists.fusion}.{name}": list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def _described(values: Values) -> dict[str, Any]:
    return {"metrics": means(values), "intervals": intervals(values)}
