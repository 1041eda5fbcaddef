"""fit_versions: after a release was switched, use the versions of pipelines that fit its vectors.

What has learned over the vectors of one encoder cannot be used with those of another. So a switch to a release of
another encoder returns to the last version that fits it, or leaves out what does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from search import wiring
from search.artifact_files import CONFIGURATION
from search.domain.errors import InvalidRequest
from search.models import Artifact, KnowledgeBase, PipelineVersion
from search.services.pipelines.check_artifacts import named_artifacts
from search.services.pipelines.save_pipeline_version import activate_pipeline_version, save_pipeline_version

LEFT_OUT = "Left out, because it has learned over other vectors:"
"""Begin of the note of a version that was made by leaving artifacts out."""


def fit_versions(knowledge_base: KnowledgeBase) -> None:
    """Let every pipeline of a knowledge base use a version that fits its active release, in the caller's transaction.

    A version that fits stays, unless it was only made by leaving artifacts out and there is an older one that fits.
    """
    release = knowledge_base.active_release
    if release is None or release.vector_set is None:
        return
    encoder = release.vector_set.encoder
    active = PipelineVersion.objects.filter(knowledge_base=knowledge_base, active=True).select_related("knowledge_base")
    for version in active:
        if version.pipeline not in wiring.pipelines():
            continue
        others = _of_other_encoders(version, encoder)
        if not others and not version.note.startswith(LEFT_OUT):
            continue
        if not any(map(_activated, _fitting(version, encoder))) and others:
            named = ", ".join(version.options[option] for option in others)
            save_pipeline_version(
                knowledge_base=knowledge_base, pipeline=version.pipeline, options=_without(version, others),
                note=f"{LEFT_OUT} {named}.", whole=True,
            )  # fmt: skip


def _fitting(version: PipelineVersion, encoder: str) -> Iterator[PipelineVersion]:
    """Yield the other versions that were in use, name artifacts, and fit an encoder's vectors; the newest first."""
    others = PipelineVersion.objects.select_related("knowledge_base").filter(
        knowledge_base=version.knowledge_base, pipeline=version.pipeline, activated__isnull=False
    )
    for one in others.exclude(pk=version.pk).order_by("-version"):
        named = named_artifacts(one.pipeline, one.options)
        there = Artifact.objects.filter(pk__in=named.values()).count()
        if named and there == len(set(named.values())) and not _of_other_encoders(one, encoder):
            yield one


def _activated(version: PipelineVersion) -> bool:
    """Activate a version, and return whether that was possible: the files of its artifacts may be gone."""
    try:
        with transaction.atomic():
            activate_pipeline_version(version)
    except InvalidRequest:
        return False
    return True


def _of_other_encoders(version: PipelineVersion, encoder: str) -> list[str]:
    """Return the options of a version that name an artifact which has learned over vectors of another encoder."""
    found = Artifact.objects.in_bulk(list(named_artifacts(version.pipeline, version.options).values()))
    return [
        option for option, name in named_artifacts(version.pipeline, version.options).items()
        if name in found and _encoder_of(found[name]) not in ("", encoder)
    ]  # fmt: skip


def _encoder_of(artifact: Artifact) -> str:
    """Return the encoder over whose vectors an artifact has learned; empty if it needs none or cannot be read."""
    try:
        configuration: Mapping[str, Any] = json.loads((artifact.directory / CONFIGURATION).read_bytes())
    except (OSError, ValueError):
        return ""
    return str(configuration.get("encoder") or "")


def _without(version: PipelineVersion, others: list[str]) -> dict[str, Any]:
    """Return a version's options without these artifacts, and with the variants of stages that need none of them."""
    rows: Mapping[str, Mapping[str, Any]] = settings.GRASP_LEARNERS
    options = {name: value for name, value in version.options.items() if name not in others}
    for row in rows.values():
        stage = row["OPTION"].partition(".")[0]
        if row["PIPELINE"] == version.pipeline and row["OPTION"] in others:
            # The way back from the variant that takes the artifact; `*` says that it needs none.
            back = {taken: before for before, taken in row.get("VARIANTS", {}).items() if before != "*"}
            if options.get(stage) in back:
                options[stage] = back[options[stage]]
    taken = wiring.pipeline(version.pipeline)
    return _known_to(taken, options)


def _known_to(pipeline: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options without those of variants that are not chosen any more."""
    known = pipeline.settings_schema()["properties"]
    kept = {}
    for name, value in options.items():
        stage = name.partition(".")[0]
        variants = known.get(name, {}).get("variants")
        if name == stage or variants is None or options.get(stage, known.get(stage, {}).get("default")) in variants:
            kept[name] = value
    return kept
