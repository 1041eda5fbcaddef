"""train: learn from questions and their answers, register what was learned, and save the pipeline that uses it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import orjson
from django.db.models import F

from search import wiring as search_wiring
from search.domain.errors import Fault, InvalidRequest
from search.interfaces import Keys, NodeStore
from search.models import KnowledgeBase, PipelineVersion, Release
from search.services.pipelines.register_artifact import register_artifact
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.stages.plan import Planner
from training import wiring
from training.data.examples import FAULTS_SHOWN, BadQuestions, Example
from training.data.splits import refuse_test
from training.learning.task import Progress, Task, TooFew


def train(
    *,
    kind: str,
    knowledge_base: str,
    examples: Sequence[Example],
    settings: Mapping[str, Any],
    activate: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train, register the artifact, save the pipeline's next version that names it, and return the report.

    With `activate` the knowledge base's next searches use it, in workers that run already too; an older version of the
    pipeline takes it back. Nothing is written before the training has ended. Raises BadQuestions for questions of a
    test split, too few of them, or answers that are no nodes; InvalidRequest with every other fault of the request.
    """
    began = time.perf_counter()
    for named in {example.split for example in examples}:
        refuse_test(named, "Training")
    learner, configuration = wiring.learner(kind, settings)
    pipeline, option = wiring.option_of(kind)
    release = _release(knowledge_base)
    planner = _planner(release, pipeline)
    task = Task(examples, _answers(examples, planner.nodes, release.name), planner)
    try:
        learned = learner(task, progress or _untold)
    except TooFew as error:
        raise BadQuestions([str(error)]) from error
    artifact = register_artifact(
        knowledge_base=release.knowledge_base, kind=kind, tensors=learned.tensors, served=learned.served,
        configuration={**configuration, "release": release.name}, metrics=learned.metrics, files=learned.files,
        data_hash=data_hash(examples),
    )  # fmt: skip
    version = save_pipeline_version(
        knowledge_base=release.knowledge_base, pipeline=pipeline, options={option: artifact.id}, activate=activate,
        note=f"Trained {kind} {artifact.id}, from {len(examples):,} questions.",
    )  # fmt: skip
    return {
        "knowledge_base": knowledge_base,
        "release": release.name,
        "kind": kind,
        "questions": len(examples),
        "artifact": artifact.id,
        "pipeline": pipeline,
        "pipeline_version": version.version,
        "active": version.active,
        "metrics": dict(learned.metrics),
        "seconds": round(time.perf_counter() - began, 2),
    }


def data_hash(examples: Sequence[Example]) -> str:
    """Return a fingerprint of questions and answers, the same whatever order they come in."""
    rows = sorted(orjson.dumps([example.id, example.text, sorted(example.answers)]) for example in examples)
    return hashlib.blake2b(b"\n".join(rows), digest_size=16).hexdigest()


def _release(name: str) -> Release:
    """Return the active release of a knowledge base."""
    base = KnowledgeBase.objects.filter(name=name).first()
    if base is None:
        raise InvalidRequest([Fault("/knowledge_base", f"There is no knowledge base {name!r}.")])
    releases = Release.objects.select_related("snapshot", "vector_set", "knowledge_base__active_settings")
    release = releases.filter(pk=F("knowledge_base__active_release"), knowledge_base=base).first()
    if release is None:
        message = f"{name} has no active release; `index_kb {name}` builds one, `activate_release` switches to one."
        raise InvalidRequest([Fault("/knowledge_base", message)])
    return release


def _planner(release: Release, pipeline: str) -> Planner:
    """Return the planner as searches use it: what it is to score is what it will list for them.

    Raises InvalidRequest where the pipeline's active version does not fit the site any more.
    """
    active = PipelineVersion.objects.filter(
        knowledge_base=release.knowledge_base, pipeline=pipeline, active=True
    ).first()
    specified = search_wiring.pipeline(pipeline).specification(active.options if active else {})
    names = {field.name for field in fields(Planner) if "help" in field.metadata} - {"artifact"}
    options = {name: value for name, value in specified["stages"]["plan"]["OPTIONS"].items() if name in names}
    tools = search_wiring.tools(release)
    return Planner(tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, **options)


def _answers(examples: Sequence[Example], nodes: NodeStore, release: str) -> list[Keys]:
    """Return the keys of each question's answers, sorted; all unknown ones are refused together."""
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
        hidden = len(faults) - FAULTS_SHOWN
        raise BadQuestions(faults[:FAULTS_SHOWN] + ([f"… and {hidden} more."] if hidden > 0 else []))
    return answers


def _untold(part: str, done: int, total: int) -> None:
    """Tell nobody."""
