"""train: learn from questions and their answers, save the pipeline that uses it, and switch on what is borne out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from search import wiring as search_wiring
from search.domain.run_context import RunContext
from search.models import Artifact, PipelineVersion, Release
from search.services.knowledge.releases import activate_once
from search.services.pipelines.save_pipeline_version import activate_pipeline_version
from search.services.pipelines.use_artifact import use_artifact
from training import wiring
from training.data.examples import BadQuestions, Example
from training.data.splits import TRAIN, VAL, refuse_splits
from training.models import QuestionSet
from training.services.find_release import find_release
from training.services.judge_learner import JUDGING, held_back, judge_learner, judged
from training.services.judge_version import compare
from training.services.lesson import Lesson, announced, answer_keys, taught
from training.services.synthesise import SynthesisedQuestions, synthesised_questions
from training.services.train_documents import learns_documents, train_documents
from training.services.train_request import TrainRequest, judging

SEARCHES_SEED = 50_021
"""Added to the seed of synthesised questions that searches are learned from, because the parts that search have learned
from those of the seed itself and find them too well."""
BEFORE = "before"
"""Name of the part of the work that searches with the version in use."""
_BEGAN, _TRAINED, _JUDGED = "version in use", "trained", "judged"
"""Names of the notes: the version in use at the beginning, the report of a training whose artifact was registered, and
that of one which was judged."""


def train(
    *,
    kind: str,
    knowledge_base: str,
    examples: Sequence[Example],
    settings: Mapping[str, Any],
    activate: bool = True,
    unproven: bool = False,
    allow_val: bool = False,
    run: RunContext | None = None,
    question_set: QuestionSet | None = None,
    release: str = "",
    on: PipelineVersion | None = None,
    synthesised: int = 0,
) -> dict[str, Any]:
    """Train, register the artifact, save the pipeline's next version that names it, and return the report.

    With `activate`, whole searches of held-out questions judge the new version (`judge_learner`), and it is activated
    if a paired test bears it out: the next searches of the knowledge base use it, also in running workers. `judged` of
    the metrics is the verdict. With `unproven` it is activated without being judged. Activating an
    older version of the pipeline reverts this. A training of the documents' encoder makes a release instead
    (`train_documents`). Only checkpoints are written before the training has ended. `allow_val` permits training on
    questions of `val`; the artifact records this, and reports show it. `run` is the context of the training: limit,
    progress, metrics and checkpoints; work that was interrupted goes on from its checkpoints, and registers one
    artifact. `release` is the name of a release; empty means the active one. `on` is the version of the pipeline that
    the training improves; None means the active one. `synthesised` is the number of questions that are made of the
    release, with the learner's seed, beside or instead of the given ones. A learner of searches takes none beside given
    ones.

    Raises BadQuestions for questions of other splits, too few questions, or answers that are not nodes; InvalidRequest
    with every other fault of the request; StageError when the release's encoder is not available; RunCancelled.
    """
    run = run or RunContext()
    refuse_splits(examples, "Training", (TRAIN, VAL) if allow_val else (TRAIN,))
    wiring.checked_settings(kind, settings)
    request = TrainRequest(
        knowledge_base, examples, wiring.option_of(kind)[0], (kind,),
        {f"{kind}.{name}": value for name, value in settings.items()}, allow_val=allow_val,
        question_set=question_set, release=release, synthesised=synthesised,
    )  # fmt: skip
    if unproven or not activate:
        return _trained(request, kind, on, activate, run)
    return _judged(request, kind, on, run)


def _judged(request: TrainRequest, kind: str, on: PipelineVersion | None, run: RunContext) -> dict[str, Any]:
    """Train, and activate what was learned if held-out questions bear it out."""
    if (known := run.notes.get(_JUDGED)) is not None:
        return dict(known)
    began = time.perf_counter()
    refuse_too_few(kind, request.settings_of(kind), len(request.examples), request.synthesised)
    # Before anything is searched: answers that are not nodes would be refused by the training that follows.
    of = find_release(request.knowledge_base, request.release)
    answer_keys(request.examples, search_wiring.tools(of).nodes, of.name)
    on = on or _in_use(request, run)
    if learns_documents(wiring.checked_settings(kind, request.settings_of(kind))):
        report = _judged_documents(request, kind, on, run)
    else:
        report = _judged_version(request, kind, on, run)
    report |= {"seconds": round(time.perf_counter() - began, 2)}
    with run.fenced():
        run.notes.put(_JUDGED, report)
    return report


def _judged_version(request: TrainRequest, kind: str, on: PipelineVersion | None, run: RunContext) -> dict[str, Any]:
    before = judged(request, on, judging(request, run), run.part(BEFORE))

    def make(asked: TrainRequest, run: RunContext) -> tuple[PipelineVersion, dict[str, Any]]:
        report = _trained(asked, kind, on, False, run)
        rows = PipelineVersion.objects.select_related("knowledge_base").filter(pipeline=report["pipeline"])
        return rows.get(knowledge_base__name=asked.knowledge_base, version=report["pipeline_version"]), report

    found = judge_learner(request, kind, before, make, run)
    version, told = found.version, found.verdict.to_json()
    with run.fenced(), transaction.atomic():
        artifact = Artifact.objects.select_for_update().get(pk=found.report["artifact"])
        artifact.metrics = {**artifact.metrics, "judged": told}
        artifact.save(update_fields=["metrics"])
        version.note = f"{version.note} {found.verdict.reason}"
        version.save(update_fields=["note"])
        if found.verdict.better:
            activate_pipeline_version(version)
    return {
        **found.report, "metrics": artifact.metrics, "active": version.active, "reason": found.verdict.reason,
        "evaluation": found.after.evaluation if found.after else "", "evaluation_before": before.evaluation,
    }  # fmt: skip


def _judged_documents(request: TrainRequest, kind: str, on: PipelineVersion | None, run: RunContext) -> dict[str, Any]:
    """Train an encoder on a part of the questions, and switch to its release if the rest of them bears it out.

    Another training, on all questions, would compute all vectors once more.
    """
    if request.examples:
        back = held_back(request)
        asked = [one for one, held in zip(request.examples, back, strict=True) if held]
        learned = [one for one, held in zip(request.examples, back, strict=True) if not held]
    else:
        asked, learned = judging(request, run), []
    before = judged(request, on, asked, run.part(BEFORE))
    report = _trained(replace(request, examples=learned), kind, on, False, run)
    after = judged(replace(request, release=report["new_release"]), on, asked, run.part(JUDGING))
    verdict = compare(before, after, request.asked)
    if verdict.better:
        made = find_release(request.knowledge_base, report["new_release"])
        activate_once(made.knowledge_base, made, run)
    metrics = {**report["metrics"], "judged": verdict.to_json()}
    return {
        **report, "metrics": metrics, "active": verdict.better, "reason": verdict.reason,
        "evaluation": after.evaluation, "evaluation_before": before.evaluation,
    }  # fmt: skip


def _in_use(request: TrainRequest, run: RunContext) -> PipelineVersion | None:
    """Return the version that is active when the work begins; another activation meanwhile changes nothing."""
    if (known := run.notes.get(_BEGAN)) is None:
        rows = PipelineVersion.objects.filter(knowledge_base__name=request.knowledge_base)
        active = rows.filter(pipeline=request.named_pipeline, active=True).first()
        known = {"version": active.pk if active else None}
        with run.fenced():
            run.notes.put(_BEGAN, known)
    number = known["version"]
    return None if number is None else PipelineVersion.objects.select_related("knowledge_base").get(pk=number)


def _trained(
    request: TrainRequest, kind: str, on: PipelineVersion | None, activate: bool, run: RunContext
) -> dict[str, Any]:  # fmt: skip
    """Train, and save what was learned without judging it."""
    began = time.perf_counter()
    settings = request.settings_of(kind)
    learner, configuration = wiring.learner(kind, settings)
    pipeline, option = wiring.option_of(kind)
    if (trained := run.notes.get(_TRAINED)) is not None:
        return dict(trained)
    examples, synthesised = request.examples, request.synthesised
    refuse_too_few(kind, settings, len(examples), synthesised)
    of = find_release(request.knowledge_base, request.release)
    made = _made(kind, of, 0 if examples and wiring.learns_from_searches(kind) else synthesised, configuration, run)
    lesson = Lesson(kind, learner, configuration, of, examples, made, request.question_set, request.allow_val)
    if learns_documents(configuration):
        report = train_documents(lesson, on=on, activate=activate, run=run)
        run.notes.put(_TRAINED, report)
        return report
    task = lesson.task(on)
    learned, evaluated = taught(task, run)
    artifact_id = announced(kind, run)
    with run.fenced(), transaction.atomic():
        artifact = lesson.register(artifact_id, kind, task, learned, evaluated)
        version = use_artifact(
            artifact=artifact, knowledge_base=of.knowledge_base, pipeline=pipeline, option=option,
            variants=wiring.variants_for(kind), on=on, activate=activate,
            note=f"Trained {kind} {artifact.id}, from {lesson.told()}.",
        )  # fmt: skip
        report = {
            **lesson.report(artifact.id, evaluated, time.perf_counter() - began),
            "pipeline": version.pipeline, "pipeline_version": version.version, "active": version.active,
        }  # fmt: skip
        run.notes.put(_TRAINED, report)
    return report


def refuse_too_few(kind: str, settings: Mapping[str, Any], real: int, synthesised: int) -> None:
    """Raise BadQuestions if a learner does not learn from so few questions; InvalidRequest for wrong settings."""
    if missing := wiring.too_few(kind, settings, real, synthesised):
        raise BadQuestions([missing.message])


def _made(
    kind: str, release: Release, number: int, configuration: Mapping[str, Any], run: RunContext
) -> SynthesisedQuestions:
    seed = int(configuration.get("seed", 0)) + (SEARCHES_SEED if wiring.learns_from_searches(kind) else 0)
    return synthesised_questions(release, number, seed, run, bare=wiring.learns_from_bare_words(kind))
