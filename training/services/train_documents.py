"""train_documents: train the encoder of questions and documents, and make a release whose vectors it has computed.

The artifact is the encoder. The new release has the snapshot of the old one and a vector set of its own, so searches
switch to it, and back, as between any two releases. Its questions are read by the encoder that made its vectors.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from search.domain.run_context import RunContext
from search.models import Artifact, PipelineVersion
from search.neural.encoder_names import ENCODER, trained_name
from search.neural.site_encoders import encoder as site_encoder
from search.services.knowledge.index_snapshot import IndexFailed, build_index
from search.services.knowledge.releases import activate_once
from training import wiring
from training.data.examples import BadQuestions
from training.learning.retriever_settings import TRAINED
from training.services.lesson import Lesson, announced, taught

_ENCODER = "encoder"
"""Name of the note with the report of a trained encoder, so that it is not trained again if indexing is interrupted."""


def learns_documents(configuration: Mapping[str, Any]) -> bool:
    """Return whether a learner with these settings trains the encoder of the documents."""
    return configuration.get("documents") == TRAINED


def train_documents(lesson: Lesson, *, on: PipelineVersion | None, activate: bool, run: RunContext) -> dict[str, Any]:
    """Train, register the encoder, compute the vectors anew, and return the report; `activate` switches to the release.

    `new_release` of the report is the release's name. What was interrupted goes on: the training at its checkpoint, the
    vectors at the block that was not finished. Raises the exceptions of `train`.
    """
    began = time.perf_counter()
    release = lesson.release
    if release.vector_set is None:
        raise BadQuestions(
            [f"{release.name} has no vectors that could be trained: index the knowledge base with vectors."]
        )
    report: dict[str, Any] | None = run.notes.get(_ENCODER)
    if report is None:
        report = _trained(lesson, on, run)
    artifact = Artifact.objects.get(pk=report["artifact"])
    try:
        encoder = site_encoder(trained_name(artifact.pk, artifact.content_hash))
        indexed = build_index(
            snapshot=release.snapshot, run=run, encoder=encoder, kinds=tuple(release.vector_set.kinds)
        )
    except IndexFailed as error:
        raise BadQuestions(
            [f"The encoder {artifact.pk} is trained, but its vectors are not computed: {error}"]
        ) from error
    run.check()
    base = release.knowledge_base
    if activate:
        activate_once(base, indexed.release, run)
    pipeline, _ = wiring.option_of(lesson.kind)
    version = PipelineVersion.objects.filter(knowledge_base=base, pipeline=pipeline, active=True).first()
    return {
        **report, "new_release": indexed.release.name, "embedded": indexed.embedded, "pipeline": pipeline,
        "pipeline_version": version.version if version else 0, "active": activate,
        "seconds_of_vectors": round(sum(indexed.seconds.values()), 2),
        "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip


def _trained(lesson: Lesson, on: PipelineVersion | None, run: RunContext) -> dict[str, Any]:
    """Train and register the encoder, and return its report."""
    began = time.perf_counter()
    task = lesson.task(on)
    learned, evaluated = taught(task, run)
    artifact_id = announced(ENCODER, run)
    with run.fenced(), transaction.atomic():
        artifact = lesson.register(artifact_id, ENCODER, task, learned, evaluated)
        report = lesson.report(artifact.pk, evaluated, time.perf_counter() - began)
        run.notes.put(_ENCODER, report)
    return report
