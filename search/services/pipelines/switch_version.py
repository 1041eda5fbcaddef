"""switch_version: let searches use another version of a pipeline (promote), or the one before (roll back)."""

from __future__ import annotations

from django.db import transaction

from search import wiring
from search.domain.errors import Fault, InvalidRequest, nearest
from search.models import KnowledgeBase, PipelineVersion
from search.services.access.rights import check_may
from search.services.access.visitors import User
from search.services.audit.note import note
from search.services.pipelines.save_pipeline_version import activate_pipeline_version

VIEW_VERSIONS, ADD_VERSIONS = "search.view_pipelineversion", "search.add_pipelineversion"
ACTIVATE_VERSIONS = "search.change_knowledgebase"


def find_version(knowledge_base: KnowledgeBase, pipeline: str, number: int) -> PipelineVersion:
    """Return a version by its number. Raises InvalidRequest if there is none."""
    versions = PipelineVersion.objects.select_related("knowledge_base").filter(
        knowledge_base=knowledge_base, pipeline=check_pipeline(pipeline)
    )
    found = versions.filter(version=number).first()
    if found is None:
        known = ", ".join(str(one) for one in versions.values_list("version", flat=True)) or "none"
        message = f"{knowledge_base} has no version {number} of {pipeline}; it has: {known}."
        raise InvalidRequest([Fault("/version", message)])
    return found


def check_pipeline(pipeline: str) -> str:
    """Return the name of a pipeline. Raises InvalidRequest if there is no such pipeline."""
    known = wiring.pipelines()
    if pipeline not in known:
        message = f"There is no pipeline {pipeline[:80]!r}; there are: {', '.join(known)}."
        raise InvalidRequest([Fault("/pipeline", message, nearest(pipeline, known))])
    return pipeline


def promote(*, knowledge_base: KnowledgeBase, pipeline: str, version: int, user: User) -> PipelineVersion | None:
    """Let the next searches use a version, and return it; 0 stands for the site's specification, which has no row.

    Raises NotAllowed; InvalidRequest if there is no such version, or it names an artifact that cannot be used.
    """
    check_may(user, ACTIVATE_VERSIONS, "activate versions of pipelines")
    if version == 0:
        _deactivate(knowledge_base, check_pipeline(pipeline))
        return None
    found = find_version(knowledge_base, pipeline, version)
    activate_pipeline_version(found)
    return found


def roll_back(*, knowledge_base: KnowledgeBase, pipeline: str, user: User) -> PipelineVersion | None:
    """Let the next searches use the version that was in use before the active one, and return it.

    That is the newest older version that was ever activated. Before the first of them there is the site's
    specification: then the result is None. Raises NotAllowed; InvalidRequest if no version is active, or the older one
    names an artifact that cannot be used.
    """
    check_may(user, ACTIVATE_VERSIONS, "activate versions of pipelines")
    with transaction.atomic():
        KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        before = version_before(knowledge_base, check_pipeline(pipeline))
        if before is None:
            _deactivate(knowledge_base, pipeline)
        else:
            activate_pipeline_version(before)
    return before


def version_before(knowledge_base: KnowledgeBase, pipeline: str) -> PipelineVersion | None:
    """Return the version to which `roll_back` goes; None stands for the site's specification.

    Raises InvalidRequest if no version is active.
    """
    versions = PipelineVersion.objects.select_related("knowledge_base").filter(
        knowledge_base=knowledge_base, pipeline=pipeline
    )
    active = versions.filter(active=True).first()
    if active is None:
        message = f"{knowledge_base} uses the site's specification of {pipeline}, so there is nothing to roll back."
        raise InvalidRequest([Fault("/pipeline", message)])
    older = versions.filter(version__lt=active.version, activated__isnull=False)
    return older.order_by("-version").first()


def _deactivate(knowledge_base: KnowledgeBase, pipeline: str) -> None:
    with transaction.atomic():
        KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        PipelineVersion.objects.filter(knowledge_base=knowledge_base, pipeline=pipeline, active=True).update(
            active=False
        )
        note("versions switched off", knowledge_base, pipeline=pipeline)
