"""use_artifact: save a version of a pipeline that uses an artifact and keeps everything else as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from search import wiring
from search.models import Artifact, KnowledgeBase, PipelineVersion
from search.services.pipelines.save_pipeline_version import save_pipeline_version


def use_artifact(
    *,
    artifact: Artifact,
    knowledge_base: KnowledgeBase,
    pipeline: str,
    option: str,
    variants: Mapping[str, str] | None = None,
    on: PipelineVersion | None = None,
    note: str = "",
    author: User | None = None,
    activate: bool = True,
) -> PipelineVersion:
    """Save the options of the version `on` (None: the active one) with this artifact as a new version, and return it.

    `option` names the artifact (`stage.option`). If the stage's present variant does not take it, `variants` says which
    one does (`Pipeline.taking`); artifacts of other options are kept. Raises InvalidRequest as `save_pipeline_version`.
    """
    with transaction.atomic():
        KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        options = options_of(knowledge_base, pipeline, on)
        taking = wiring.pipeline(pipeline).taking(options, option, variants or {})
        return save_pipeline_version(
            knowledge_base=knowledge_base, pipeline=pipeline, options={**taking, option: artifact.pk}, note=note,
            author=author, activate=activate, whole=True,
        )  # fmt: skip


def options_of(knowledge_base: KnowledgeBase, pipeline: str, on: PipelineVersion | None) -> dict[str, Any]:
    """Return the options of a version; of the active one if `on` is None; none if there is no active version."""
    active = PipelineVersion.objects.filter(knowledge_base=knowledge_base, pipeline=pipeline, active=True)
    version = on or active.first()
    return dict(version.options) if version else {}
