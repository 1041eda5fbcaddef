"""Releases of a knowledge base: find one, activate one, and drop one with the data that no other release needs."""

from __future__ import annotations

import shutil

from django.db import transaction
from django.utils import timezone

from search.domain.run_context import RunContext
from search.ingest import partitions
from search.ingest.cleanup import remove_data
from search.ingest.locks import backup_runs, import_lock
from search.models import KnowledgeBase, Release, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.models.partitions import partition
from search.services.audit.note import note
from search.services.knowledge.removal import in_use, uses_of_release
from search.services.pipelines.fit_versions import fit_versions

DESCRIBED_BY_BUNDLE = ("title", "description", "domain", "language", "licence", "source", "examples")

ACTIVATED_NOTE = "activated"
"""Name of the note that holds the id of the release that a job has activated."""


class ReleaseError(Exception):
    """The release cannot be used in this way; the text is a sentence for people."""


def find_release(*, knowledge_base: KnowledgeBase, release: str) -> Release:
    """Return a release by its number (`3`) or its name (`movies-3`); ReleaseError if there is none."""
    number = release.removeprefix(f"{knowledge_base.name}-")
    found = knowledge_base.releases.filter(number=int(number)).first() if number.isdecimal() else None
    if found is None:
        numbers = ", ".join(str(n) for n in knowledge_base.releases.order_by("number").values_list("number", flat=True))
        has = f"its releases are {numbers}" if numbers else "it has no releases"
        raise ReleaseError(f"'{knowledge_base.name}' has no release '{release}'; {has}.")
    return found


def activate_release(*, knowledge_base: KnowledgeBase, release: Release) -> None:
    """Make `release` the active one; the knowledge base takes over the description of the release's bundle.

    If its vectors are those of another encoder, its pipelines switch to versions that fit them (`fit_versions`).
    Raises ReleaseError if the release belongs to another knowledge base or is not ready.
    """
    with transaction.atomic():
        locked = KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        current = Release.objects.select_for_update(of=("self",)).select_related("snapshot").get(pk=release.pk)
        if current.knowledge_base_id != locked.pk:
            raise ReleaseError(f"{release} is no release of '{locked.name}'.")
        if current.status != BuildStatus.READY:
            raise ReleaseError(
                f"{release} is {current.get_status_display()}; only a release that is ready can be searched."
            )
        locked.active_release = current
        for attribute in DESCRIBED_BY_BUNDLE:
            if attribute in current.snapshot.about:
                setattr(locked, attribute, current.snapshot.about[attribute])
        locked.full_clean()
        locked.save()
        Release.objects.filter(pk=current.pk).update(activated=timezone.now())
        fit_versions(locked)
        note("release activated", current)
    knowledge_base.refresh_from_db()
    release.refresh_from_db()


def activate_once(knowledge_base: KnowledgeBase, release: Release, run: RunContext) -> None:
    """Make `release` the active one as the last write of a job; a later attempt of the same job does nothing.

    Between an attempt that died after this and the next one, an admin may have activated another release: it stays.
    """
    if run.notes.get(ACTIVATED_NOTE) == release.pk:
        return
    with run.fenced(), transaction.atomic():
        activate_release(knowledge_base=knowledge_base, release=release)
        run.notes.put(ACTIVATED_NOTE, release.pk)


def drop_release(*, knowledge_base: KnowledgeBase, release: Release) -> None:
    """Drop a release of a knowledge base; its row is kept, so that its number is not used again.

    Raises ReleaseError for the active release, while an import or a backup runs, because they may read the vectors, and
    while jobs or evaluations read it.
    """
    refuse_during_backup()
    with import_lock(knowledge_base.name) as free:
        if not free:
            raise ReleaseError(f"An import of '{knowledge_base.name}' is running; wait until it has ended.")
        vector_set, snapshot = _mark(knowledge_base, release)
        shutil.rmtree(release.similar_directory, ignore_errors=True)
        # If this process dies here, the next import's clean-up finds what was marked.
        if vector_set is not None:
            partitions.drop([partition("search_vector", vector_set.pk)])
        if snapshot is not None:
            remove_data(snapshot)


def refuse_during_backup() -> None:
    """Raise ReleaseError while a backup runs: it reads the data of every release."""
    if backup_runs():
        raise ReleaseError("A backup is running, and it reads this; try again when it has ended.")


def _mark(knowledge_base: KnowledgeBase, release: Release) -> tuple[VectorSet | None, Snapshot | None]:
    """Mark the release and the data that only it uses as dropped; return the data, None for what others use."""
    with transaction.atomic():
        locked = KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        if release.knowledge_base_id != locked.pk:
            raise ReleaseError(f"{release} is no release of '{locked.name}'.")
        if locked.active_release_id == release.pk:
            raise ReleaseError(f"{release} is the active release; activate another one first.")
        if uses := uses_of_release(release):
            raise ReleaseError(in_use(str(release), uses))
        Release.objects.filter(pk=release.pk).update(status=BuildStatus.DROPPED)
        note("release dropped", release)
        others = Release.objects.exclude(status=BuildStatus.DROPPED)
        vector_set = release.vector_set
        if vector_set is not None and others.filter(vector_set=vector_set).exists():
            vector_set = None
        if vector_set is not None:
            VectorSet.objects.filter(pk=vector_set.pk).update(status=BuildStatus.DROPPED)
        snapshot = None if others.filter(snapshot=release.snapshot).exists() else release.snapshot
        if snapshot is not None:
            Snapshot.objects.filter(pk=snapshot.pk).update(status=BuildStatus.DROPPED)
        return vector_set, snapshot
