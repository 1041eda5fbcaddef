"""train: learn from questions and their answers, register the artifact, and save the pipeline that uses it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from django.db import transaction

from search import wiring as search_wiring
from search.domain.errors import SearchCancelled
from search.domain.run_context import RunCancelled, RunContext
from search.interfaces import Keys, NodeStore
from search.models import Job, PipelineVersion, Release
from search.services.pipelines.register_artifact import discard_artifact, new_artifact_id, register_artifact
from search.services.pipelines.use_artifact import options_of, use_artifact
from training import wiring
from training.data.examples import BadQuestions, Example, capped
from training.data.hashes import data_hash, question_hash
from training.data.splits import TRAIN, VAL, counts, refuse_splits
from training.learning.task import (
    Evaluated,
    Learned,
    LearningTask,
    Material,
    TooFew,
)
from training.models import QuestionSet
from training.services.find_release import find_release
from training.services.found import found_by
from training.services.learned_from import QUESTIONS_FILE
from training.services.model_card import CARD, job_of, model_card
from training.services.question_sets import described_set
from training.services.synthesise import SynthesisedQuestions, synthesised_questions

_TRAINED = "trained"
"""Name of the note with the report of a training whose artifact was registered."""
_WRITTEN = "artifacts"
"""Name of the note with the ids of artifacts whose files were begun, one for each attempt that came so far."""


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
    older version of the pipeline reverts this. Only checkpoints are written before the training has ended. `allow_val`
    permits training on questions of `val`; the artifact records this, and reports show it. `run` is the context of
    the training: limit, progress, metrics and checkpoints; work that was interrupted goes on from its checkpoints, and
    registers one artifact. `release` is the name of a release; empty means the active one. `on` is the version of the
    pipeline that the training improves; None means the active one. `synthesised` is the number of questions that are
    made of the release, with the learner's seed, beside or instead of the given ones.

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
    of = find_release(knowledge_base, release)
    made = synthesised_questions(of, synthesised, int(configuration.get("seed", 0)), run)
    task = learner.task(_material(of, kind, examples, on, made))
    learned, evaluated = _learned(task, run)
    settled = {
        **configuration, "release": of.name, "allow_val": allow_val, "splits": counts(examples),
        "synthesised": made.described(),
    }  # fmt: skip
    files = {
        **learned.files,
        QUESTIONS_FILE: _questions(examples, allow_val, question_set, made),
        CARD: model_card(task.describe(), kind, settled, evaluated, len(examples), question_set).encode(),
    }
    artifact_id = _announced(kind, run)
    with run.fenced(), transaction.atomic():
        artifact = register_artifact(
            artifact_id=artifact_id,
            knowledge_base=of.knowledge_base, kind=kind, tensors=learned.tensors, served=learned.served,
            configuration=settled, metrics=evaluated.metrics, files=files,
            data_hash=data_hash([*examples, *made.examples]),
            job=job_of(of, settled, learned.served, question_set),
        )  # fmt: skip
        version = use_artifact(
            artifact=artifact, knowledge_base=of.knowledge_base, pipeline=pipeline, option=option,
            variants=wiring.variants_for(kind), on=on, activate=activate,
            note=f"Trained {kind} {artifact.id}, from {_told(examples, made)}.",
        )  # fmt: skip
        seconds = time.perf_counter() - began
        report = _report(
            of, kind, examples, allow_val, question_set, made, artifact.id, version, evaluated, seconds
        )  # fmt: skip
        run.notes.put(_TRAINED, report)
    return report


def _announced(kind: str, run: RunContext) -> str:
    """Return the id of the artifact that is written next, after it was noted; remove what killed trainings have left.

    A file system and a database commit one after the other. So the id is noted before the first file is written, and
    the files of a noted artifact without a row belong to an attempt that was killed between the two.
    """
    former: list[str] = run.notes.get(_WRITTEN) or []
    with run.fenced():
        ended = Job.objects.filter(notes__has_key=_WRITTEN).exclude(state__in=(Job.State.QUEUED, Job.State.RUNNING))
        for known in (*former, *(name for notes in ended.values_list("notes", flat=True) for name in notes[_WRITTEN])):
            discard_artifact(known)
    artifact_id = new_artifact_id(kind)
    run.notes.put(_WRITTEN, [*former, artifact_id])
    return artifact_id


def _report(
    release: Release, kind: str, examples: Sequence[Example], allow_val: bool, question_set: QuestionSet | None,
    made: SynthesisedQuestions, artifact: str, version: PipelineVersion, evaluated: Evaluated, seconds: float,
) -> dict[str, Any]:  # fmt: skip
    return {
        "knowledge_base": release.knowledge_base.name,
        "release": release.name,
        "kind": kind,
        "question_set": described_set(question_set),
        "questions": len(examples),
        "splits": counts(examples),
        "synthesised": made.described(),
        "allow_val": allow_val,
        "artifact": artifact,
        "pipeline": version.pipeline,
        "pipeline_version": version.version,
        "active": version.active,
        "metrics": dict(evaluated.metrics),
        "table": {row: dict(figures) for row, figures in evaluated.table.items()},
        "seconds": round(seconds, 2),
    }


def _learned(task: LearningTask[Any], run: RunContext) -> tuple[Learned, Evaluated]:
    """Return the learned model and its measures. Raises BadQuestions for too few questions, RunCancelled."""
    try:
        learned = task.fit(run)
        evaluated = task.evaluate(learned, run)
    except TooFew as error:
        raise BadQuestions([str(error)]) from error
    except SearchCancelled as error:
        raise RunCancelled() from error
    # A training that is cancelled at this point writes no artifact.
    run.check()
    return learned, evaluated


def _told(examples: Sequence[Example], made: SynthesisedQuestions) -> str:
    """Return the numbers of questions in words."""
    parts = [f"{len(examples):,} questions"] if examples or not made.examples else []
    return " and ".join(parts + ([f"{len(made.examples):,} synthesised questions"] if made.examples else []))


def _questions(
    examples: Sequence[Example], allow_val: bool, question_set: QuestionSet | None, made: SynthesisedQuestions
) -> bytes:
    """Return the content of QUESTIONS_FILE, which records the questions that the artifact has learned from.

    A synthesised question may happen to be one that people ask, so their hashes are kept too.
    """
    hashes = sorted({*(question_hash(example) for example in examples), *made.hashes()})
    kept = {"hashes": hashes, "splits": counts(examples), "allow_val": allow_val,
            "question_set": described_set(question_set), "synthesised": made.described()}  # fmt: skip
    return orjson.dumps(kept)


def _material(
    release: Release, kind: str, examples: Sequence[Example], on: PipelineVersion | None, made: SynthesisedQuestions
) -> Material:
    """Return the learner's input: questions, answers, the release's tools, and the options of the stage to improve.

    The options are those of the variant that will use the artifact. Raises InvalidRequest when the version `on` (None:
    the active one) no longer fits the site.
    """
    name, option = wiring.option_of(kind)
    pipeline = search_wiring.pipeline(name)
    present = options_of(release.knowledge_base, name, on)
    specified = pipeline.specification(pipeline.taking(present, option, wiring.variants_for(kind)))
    tools = search_wiring.tools(release)
    options = specified["stages"][option.split(".", 1)[0]]["OPTIONS"]
    answers = _answers(examples, tools.nodes, release.name)
    return Material(
        examples, answers, tools, options, found_by(release, name, examples, on), made.examples,
        _answers(made.examples, tools.nodes, release.name),
    )  # fmt: skip


def _answers(examples: Sequence[Example], nodes: NodeStore, release: str) -> list[Keys]:
    """Return the sorted keys of each question's answers. Raises BadQuestions with all answers that are not nodes."""
    answers, faults = [], []
    for example in examples:
        keys = nodes.keys(example.answers)
        faults += [
            f"Question {example.id!r}: the answer {answer!r} is no node of {release}."
            for answer, key in zip(example.answers, keys, strict=True)
            if key is None
        ]
        answers.append(np.array(sorted({key for key in keys if key is not None}), dtype=np.int32))
    if faults:
        raise BadQuestions(capped(faults))
    return answers
