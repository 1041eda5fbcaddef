"""train: learn from questions and their answers, register the artifact, and save the pipeline that uses it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from search.domain.run_context import RunContext
from search.models import PipelineVersion, Release
from search.services.pipelines.use_artifact import use_artifact
from training import wiring
from training.data.examples import BadQuestions, Example
from training.data.splits import TRAIN, VAL, refuse_splits
from training.models import QuestionSet
from training.services.find_release import find_release
from training.services.lesson import Lesson, announced, taught
from training.services.synthesise import SynthesisedQuestions, synthesised_questions
from training.services.train_documents import learns_documents, train_documents

SEARCHES_SEED = 50_021
"""Added to the seed of synthesised questions that searches are learned from, because the parts that search have learned
from those of the seed itself and find them too well."""
_TRAINED = "trained"
"""Name of the note with the report of a training whose artifact was registered."""


def train(
    *,
    kind: str,
    knowledge_base: str,
    examples: Sequence[Example],
    settings: Mapping[str, Any],
    activate: bool = True,
    allow_val: bool = False,
    run: RunContext | None = None,
    question_set: QuestionSet | None = None,
    release: str = "",
    on: PipelineVersion | None = None,
    synthesised: int = 0,
) -> dict[str, Any]:
    """Train, register the artifact, save the pipeline's next version that names it, and return the report.

    With `activate`, the next searches of the knowledge base use the new version, also in running workers. Activating an
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
    began = time.perf_counter()
    run = run or RunContext()
    refuse_splits(examples, "Training", (TRAIN, VAL) if allow_val else (TRAIN,))
    learner, configuration = wiring.learner(kind, settings)
    pipeline, option = wiring.option_of(kind)
    if (trained := run.notes.get(_TRAINED)) is not None:
        return dict(trained)
    refuse_too_few(kind, settings, len(examples), synthesised)
    of = find_release(knowledge_base, release)
    made = _made(kind, of, 0 if examples and wiring.learns_from_searches(kind) else synthesised, configuration, run)
    lesson = Lesson(kind, learner, configuration, of, examples, made, question_set, allow_val)
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
