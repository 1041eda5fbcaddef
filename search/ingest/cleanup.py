"""Removes what an import left that died: tables that nobody attached, rows that say `building`, folders of files."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from search.ingest import partitions
from search.ingest.locks import import_lock
from search.models import Snapshot
from search.models.knowledge import Status
from search.models.partitions import partition


def remove_dead() -> list[int]:
    """Fail every snapshot that says it is being built while nobody builds it, and drop what belongs to no snapshot.

    An import holds its knowledge base's lock as long as it lives, so a free lock means that it is dead. Returns the
    snapshots found dead.
    """
    dead = []
    for snapshot in Snapshot.objects.filter(status=Status.BUILDING).select_related("knowledge_base"):
        with import_lock(snapshot.knowledge_base.name) as free:
            if free and fail(snapshot):
                dead.append(snapshot.pk)
    for owner, tables in partitions.existing().items():
        # Asked anew for each: an import writes its row before it makes its tables.
        if not Snapshot.objects.filter(pk=owner, status__in=[Status.BUILDING, Status.READY]).exists():
            partitions.drop(tables)
            remove_folder(owner)
    return dead


def fail(snapshot: Snapshot) -> bool:
    """Mark an unfinished snapshot as failed and remove what it has; False where it is finished after all."""
    changed = Snapshot.objects.filter(pk=snapshot.pk, status=Status.BUILDING).update(
        status=Status.FAILED, finished=timezone.now()
    )
    if changed:
        remove_data(snapshot)
    return bool(changed)


def remove_data(snapshot: Snapshot) -> None:
    """Drop a snapshot's partitions, with those of its vector sets, and its files; its row stays."""
    vectors = [partition("search_vector", pk) for pk in snapshot.vector_sets.values_list("pk", flat=True)]
    partitions.drop([*vectors, *(partition(table, snapshot.pk) for table in partitions.TABLES)])
    remove_folder(snapshot.pk)


def remove_superseded(snapshot: Snapshot) -> None:
    """Drop older snapshots of the knowledge base that never became a release: nobody can search or finish them any more.

    To be called under the knowledge base's import lock.
    """
    older = Snapshot.objects.filter(
        knowledge_base=snapshot.knowledge_base_id, status=Status.READY, pk__lt=snapshot.pk
    ).exclude(releases__status=Status.READY)
    for old in older:
        old.releases.all().delete()
        Snapshot.objects.filter(pk=old.pk).update(status=Status.DROPPED)
        remove_data(old)


def remove_folder(snapshot_id: int) -> None:
    """Remove the folder of memory-mapped files; a process that has them open keeps what it has."""
    folder = Path(settings.GRASP_HOME) / "indexes" / f"snapshot-{snapshot_id}"
    if folder.exists():
        shutil.rmtree(folder)
