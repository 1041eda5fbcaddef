"""drop_release: removes a release, with its vectors, graph and files if no other release needs them."""

from __future__ import annotations

from django.db import transaction

from search.ingest import partitions
from search.ingest.cleanup import remove_data
from search.ingest.locks import import_lock
from search.models import KnowledgeBase, Release, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.models.partitions import partition
from search.services.knowledge.activate_release import ReleaseError


def drop_release(*, knowledge_base: KnowledgeBase, release: Release) -> None:
    """Drop a release of a knowledge base; its row is kept, so that its number is not used again.

    Raises ReleaseError for the active release, and while an import runs, because it may read the vectors.
    """
    with import_lock(knowledge_base.name) as free:
        if not free:
            raise ReleaseError(f"An import of '{knowledge_base.name}' is running; wait until it has ended.")
        vector_set, snapshot = _mark(knowledge_base, release)
        # If this process dies here, the next import's clean-up finds what was marked.
        if vector_set is not None:
            partitions.drop([partition("search_vector", vector_set.pk)])
        if snapshot is not None:
            remove_data(snapshot)


def _mark(knowledge_base: KnowledgeBase, release: Release) -> tuple[VectorSet | None, Snapshot | None]:
    """Mark the release and the data that only it uses as dropped; return the data, None for what others use."""
    with transaction.atomic():
        locked = KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        if release.knowledge_base_id != locked.pk:
            raise ReleaseError(f"{release} is no release of '{locked.name}'.")
        if locked.active_release_id == release.pk:
            raise ReleaseError(f"{release} is the release that answers; activate another one first.")
        Release.objects.filter(pk=release.pk).update(status=BuildStatus.DROPPED)
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
