"""promote_job: let searches use what a job has made, a release or a version of a pipeline, if they do not yet."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.errors import Fault, InvalidRequest, NotAllowed
from search.models import Job, KnowledgeBase, PipelineVersion, Release
from search.models.knowledge import BuildStatus
from search.services.access.visible import check_sees
from search.services.access.visitors import User, is_privileged
from search.services.jobs.kinds import kind_class
from search.services.knowledge.releases import ReleaseError, activate_release, find_release
from search.services.pipelines.save_pipeline_version import activate_pipeline_version

RELEASE, PIPELINE_VERSION = "release", "pipeline_version"
"""The values of `Kind.makes`."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a job has made, and whether searches use it."""

    row: Release | PipelineVersion
    active: bool

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        if isinstance(self.row, Release):
            return f"release {self.row.name}"
        return f"{self.row.pipeline} {self.row.version}"


class NothingToPromote(InvalidRequest):
    """The job has made nothing that can be activated; the text says why."""

    def __init__(self, message: str) -> None:
        super().__init__([Fault("", message)])


def made_by(job: Job) -> Made | None:
    """Return the release or the pipeline version that a job has made, or None if it made none or it is gone."""
    result = job.result if isinstance(job.result, dict) else {}
    base = KnowledgeBase.objects.filter(name=result.get("knowledge_base") or job.knowledge_base_name).first()
    if job.state != Job.State.DONE or base is None:
        return None
    try:
        makes = kind_class(job.kind).makes
    except InvalidRequest:
        return None
    if made := result.get("new_release"):
        # A training of the documents' encoder makes a release, where other trainings make a version.
        return _release(base, str(made))
    if makes == RELEASE:
        return _release(base, str(result.get("release") or ""))
    if makes == PIPELINE_VERSION:
        versions = PipelineVersion.objects.select_related("knowledge_base").filter(knowledge_base=base)
        number = result.get("pipeline_version")
        found = versions.filter(pipeline=result.get("pipeline") or "", version=number).first() if number else None
        return Made(found, found.active) if found else None
    return None


def promote_job(job: Job, *, user: User) -> Made:
    """Activate what the job has made, and return it; what is active already stays so.

    Raises NotAllowed; NothingToPromote if there is nothing to activate, or it cannot be activated any more.
    """
    if not is_privileged(user):
        raise NotAllowed("Jobs are for staff.")
    check_sees(user, job)
    made = made_by(job)
    if made is None:
        raise NothingToPromote("The job has made neither a release nor a version of a pipeline, or it is gone.")
    check_sees(user, made.row)
    if made.active:
        return made
    if isinstance(made.row, PipelineVersion):
        try:
            activate_pipeline_version(made.row)
        except InvalidRequest as error:
            raise NothingToPromote(str(error)) from error
    else:
        try:
            activate_release(knowledge_base=made.row.knowledge_base, release=made.row)
        except ReleaseError as error:
            raise NothingToPromote(str(error)) from error
    return Made(made.row, True)


def _release(base: KnowledgeBase, name: str) -> Made | None:
    try:
        found = find_release(knowledge_base=base, release=name)
    except ReleaseError:
        return None
    if found.status != BuildStatus.READY:
        return None
    return Made(found, base.active_release_id == found.pk)
