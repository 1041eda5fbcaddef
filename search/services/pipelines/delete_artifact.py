"""delete_artifact: delete the row and the files of an artifact that nothing uses."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import orjson
import structlog
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from search.domain.errors import Fault, InvalidRequest
from search.ingest.locks import backup_runs
from search.models import Artifact, Job, KnowledgeBase, PipelineVersion, Release, SearchRun, VectorSet
from search.models.knowledge import BuildStatus
from search.services.access.rights import check_may
from search.services.access.visitors import User
from search.services.audit.note import note

DELETE_ARTIFACTS = "search.delete_artifact"
UNFINISHED = (SearchRun.Status.QUEUED, SearchRun.Status.RUNNING)
log = structlog.get_logger(__name__)


class ArtifactInUse(InvalidRequest):
    """The artifact is in use; the text says by what."""


def uses_of(artifact: Artifact) -> list[str]:
    """Return what uses an artifact now, each as a noun with its name: none of it may lose the artifact.

    These are active versions of pipelines, jobs and searches that wait or run, releases whose vectors it made, a backup
    that runs, and what the functions of `GRASP_ARTIFACT_USES` return. An inactive version does not count: once its
    artifact is gone, it cannot be activated.
    """
    active = PipelineVersion.objects.filter(active=True).select_related("knowledge_base")
    uses = [f"the active version {one}" for one in active if names(one.options, artifact.pk)]
    jobs = Job.objects.filter(state__in=Job.LIVE)
    uses += [
        f"the job {job.pk} ({job.kind})" for job in jobs
        if names([job.specification, job.notes, job.arguments], artifact.pk)
    ]  # fmt: skip
    runs = SearchRun.objects.filter(status__in=UNFINISHED).values_list("pk", "specification")
    uses += [f"the search {pk}" for pk, specification in runs if names(specification, artifact.pk)]
    # A trained encoder made the vectors of a release, and must read its questions.
    made = VectorSet.objects.filter(encoder__startswith=f"{artifact.pk}@").exclude(status=BuildStatus.DROPPED)
    uses += [f"the release {release.name}" for release in Release.objects.filter(vector_set__in=made)]
    if backup_runs():
        uses.append("a backup that is running now")
    for path in settings.GRASP_ARTIFACT_USES:
        uses += import_string(path)(artifact.pk)
    return uses


def versions_with(artifact: Artifact) -> list[PipelineVersion]:
    """Return every version of a pipeline, active or not, whose options name an artifact; the newest first."""
    versions = PipelineVersion.objects.select_related("knowledge_base").order_by("-pk")
    return [version for version in versions if names(version.options, artifact.pk)]


def names(value: object, artifact: str) -> bool:
    """Whether a JSON value names an artifact anywhere; ids are unique, so it is enough to look for the text."""
    return artifact.encode() in orjson.dumps(value, default=str)


def delete_artifact(artifact: Artifact, *, user: User) -> None:
    """Delete an artifact: its row, and its files after the transaction is committed.

    Raises NotAllowed; ArtifactInUse with everything that uses it. If the files cannot be removed, that is logged, and
    the retention removes them later.
    """
    check_may(user, DELETE_ARTIFACTS, "delete trained parts")
    with transaction.atomic():
        # Saving and activating a version lock the same rows, so that no version can begin to use it meanwhile.
        list(KnowledgeBase.objects.select_for_update().order_by("pk").values_list("pk", flat=True))
        if uses := uses_of(artifact):
            more = f" and {len(uses) - 5} more" if len(uses) > 5 else ""
            message = f"{artifact.pk} is in use by {', '.join(uses[:5])}{more}; activate another version first."
            raise ArtifactInUse([Fault("/artifact", message)])
        folder = artifact.directory
        note("trained part deleted", artifact, user=user)
        Artifact.objects.filter(pk=artifact.pk).delete()
        transaction.on_commit(partial(_remove, folder))


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("folder left behind", folder=str(folder), reason=str(error))
