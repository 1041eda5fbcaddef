"""Removes what an import left that died: tables that nobody attached, rows that say `building`, folders of files."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from search.ingest import partitions
from search.ingest.locks import import_lock
from search.models import Artifact, Snapshot, VectorSet
from search.models.knowledge import Status
from search.models.partitions import partition

FRESH_SECONDS = 3600.0
"""An artifact's folder is written before its row: one without a row is left alone as long as it may be on its way."""


def remove_dead() -> list[int]:
    """Fail every snapshot that says it is being built while nobody builds it, and drop what belongs to no snapshot.

    An import holds its knowledge base's lock as long as it lives, so a free lock means that it is dead. Returns the
    snapshots found dead.
    """
    dead = []
    for snapshot in Snapshot.objects.filter(status=Status.BUILDING).select_related("knowledge_base"):
        with import_lock(snapshot.knowledge_base.name, grace=0) as free:
            if free and fail(snapshot):
                dead.append(snapshot.pk)
    _drop_ownerless()
    return dead


def _drop_ownerless() -> None:
    """Drop tables and folders whose snapshot or vector set is gone, failed or dropped, or whose artifact is gone.

    Each owner is asked for anew: its row is written before anything is made for it.
    """
    alive = (Status.BUILDING, Status.READY)
    for table in partitions.existing():
        owners = VectorSet if table.startswith("search_vector") else Snapshot
        if not owners.objects.filter(pk=table.rsplit("_", 1)[1], status__in=alive).exists():
            partitions.drop([table])
    for folder in _indexes().glob("snapshot-*"):
        owner = folder.name.removeprefix("snapshot-")
        if owner.isdecimal() and not Snapshot.objects.filter(pk=owner, status__in=alive).exists():
            shutil.rmtree(folder)
    for folder in (Path(settings.GRASP_HOME) / "artifacts").glob("[!.]*"):
        old = time.time() - folder.stat().st_mtime > FRESH_SECONDS
        if old and not Artifact.objects.filter(pk=folder.name).exists():
            shutil.rmtree(folder)


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
    snapshot.vector_sets.update(status=Status.DROPPED)
    partitions.drop([*vectors, *(partition(table, snapshot.pk) for table in partitions.TABLES)])
    remove_folder(snapshot.pk)


def remove_superseded(snapshot: Snapshot) -> None:
    """Drop older snapshots of the knowledge base that never became a release: nobody can search or finish them.

    To be called under the knowledge base's import lock.
    """
    older = Snapshot.objects.filter(
        knowledge_base=snapshot.knowledge_base_id, status=Status.READY, pk__lt=snapshot.pk
    ).exclude(releases__status=Status.READY)
    for old in older:
        old.releases.exclude(status=Status.DROPPED).delete()
        Snapshot.objects.filter(pk=old.pk).update(status=Status.DROPPED)
        remove_data(old)


def remove_folder(snapshot_id: int) -> None:
    """Remove the folder of memory-mapped files; a process that has them open keeps what it has."""
    folder = _indexes() / f"snapshot-{snapshot_id}"
    if folder.exists():
        shutil.rmtree(folder)


def _indexes() -> Path:
    return Path(settings.GRASP_HOME) / "indexes"
