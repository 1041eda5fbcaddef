"""save_pipeline_version: saves changed options of a pipeline as a new version; old versions can be activated again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from search import wiring
from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase, PipelineVersion
from search.services.audit.note import note as note_action
from search.services.pipelines.check_artifacts import artifact_faults


def save_pipeline_version(
    *,
    knowledge_base: KnowledgeBase,
    pipeline: str,
    options: Mapping[str, Any],
    note: str = "",
    author: User | None = None,
    activate: bool = True,
    whole: bool = False,
) -> PipelineVersion:
    """Save the active version's options, updated by `{"stage.option": value}`, as a new version, and return it.

    With `whole`, `options` are all that the version has: the active version's options are not taken over. With
    `activate` the knowledge base's searches use it from now on. Raises InvalidRequest with a fault for every
    unknown option and every invalid value, for an unknown pipeline, and with `activate` for every artifact that cannot
    be used.
    """
    if pipeline not in wiring.pipelines():
        names = ", ".join(wiring.pipelines())
        raise InvalidRequest([Fault("/pipeline", f"There is no pipeline {pipeline!r}; there are: {names}.")])
    with transaction.atomic():
        # The lock on the knowledge base's row serialises the numbering of its versions.
        KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        versions = PipelineVersion.objects.filter(knowledge_base=knowledge_base, pipeline=pipeline)
        active = versions.filter(active=True).first()
        known = wiring.pipeline(pipeline)
        # The version's options first, then the new ones: an option of a variant that is not chosen is refused.
        taken_over = active.options if active and not whole else {}
        known.specification(taken_over, options)
        laid = known.laid(taken_over, options)
        newest = versions.aggregate(newest=Max("version"))["newest"] or 0
        version = PipelineVersion.objects.create(
            knowledge_base=knowledge_base,
            pipeline=pipeline,
            version=newest + 1,
            options=laid,
            note=note,
            author=author,
        )
        note_action("version saved", version, user=author, options=laid)
        if activate:
            activate_pipeline_version(version)
    return version


def activate_pipeline_version(version: PipelineVersion) -> None:
    """Make this version the one that the knowledge base's searches use from now on.

    Raises InvalidRequest if it names an artifact that the searches cannot use.
    """
    with transaction.atomic():
        base = KnowledgeBase.objects.select_for_update().get(pk=version.knowledge_base_id)
        if faults := artifact_faults(base, version.pipeline, version.options):
            raise InvalidRequest(faults)
        others = PipelineVersion.objects.filter(knowledge_base=version.knowledge_base, pipeline=version.pipeline)
        others.filter(active=True).exclude(pk=version.pk).update(active=False)
        version.active, version.activated = True, timezone.now()
        version.save(update_fields=["active", "activated"])
        note_action("version promoted", version)
