"""Removes the remains of imports that died: unattached tables, rows with status `building`, folders of index files."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from search.ingest import partitions, vector_engine
from search.ingest.locks import backup_runs, import_lock
from search.models import Artifact, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.models.partitions import partition

FRESH_SECONDS = 3600.0
"""Age in seconds below which an artifact's folder without a row is kept: the folder is written before its row."""


def remove_dead(keep: int | None = None) -> list[int]:
    """Mark every snapshot whose import died as failed, drop data without an owner, and return those snapshots' ids.

    A running import holds the lock of its knowledge base. If the lock is free while a snapshot has the status
    `building`, its import has died. The snapshot `keep` is left alone: the caller continues its import.
    """
    dead = []
    for snapshot in Snapshot.objects.filter(status=BuildStatus.BUILDING).select_related("knowledge_base"):
        if snapshot.pk == keep:
            continue
        with import_lock(snapshot.knowledge_base.name, grace=0) as free:
            if free and fail(snapshot):
                dead.append(snapshot.pk)
    _drop_ownerless()
    return dead


def _drop_ownerless() -> None:
    """Drop tables, index folders and artifact folders whose owner's row is missing, failed or dropped.

    The owner of each table or folder is queried again just before it is dropped. An owner's row is always written
    before its tables and folders are created. While a backup runs nothing is dropped; the next import does it.
    """
    if backup_runs():
        return
    alive = (BuildStatus.BUILDING, BuildStatus.READY)
    for table in partitions.existing():
        owners = VectorSet if table.startswith("search_vector") else Snapshot
        if not owners.objects.filter(pk=table.rsplit("_", 1)[1], status__in=alive).exists():
            partitions.drop([table])
    vector_engine.drop(keep=set(VectorSet.objects.filter(status__in=alive).values_list("pk", flat=True)))
    drop_ownerless_folders()
    for folder in (Path(settings.GRASP_HOME) / "artifacts").glob("[!.]*"):
        old = time.time() - folder.stat().st_mtime > FRESH_SECONDS
        if old and not Artifact.objects.filter(pk=folder.name).exists():
            shutil.rmtree(folder)


def drop_ownerless_folders() -> None:
    """Delete the folders of index files whose snapshot is gone, failed or dropped, on whatever machine they are."""
    alive = (BuildStatus.BUILDING, BuildStatus.READY)
    for folder in _indexes().glob("snapshot-*"):
        owner = folder.name.removeprefix("snapshot-")
        if owner.isdecimal() and not Snapshot.objects.filter(pk=owner, status__in=alive).exists():
            shutil.rmtree(folder, ignore_errors=True)


def fail(snapshot: Snapshot) -> bool:
    """Mark an unfinished snapshot as failed and remove its data; return False if the snapshot is finished after all."""
    changed = Snapshot.objects.filter(pk=snapshot.pk, status=BuildStatus.BUILDING).update(
        status=BuildStatus.FAILED, finished=timezone.now()
    )
    if changed:
        remove_data(snapshot)
    return bool(changed)


def remove_data(snapshot: Snapshot) -> None:
    """Drop a snapshot's partitions, the partitions of its vector sets, and its files; the snapshot's row is kept."""
    vectors = [partition("search_vector", pk) for pk in snapshot.vector_sets.values_list("pk", flat=True)]
    snapshot.vector_sets.update(status=BuildStatus.DROPPED)
    partitions.drop([*vectors, *(partition(table, snapshot.pk) for table in partitions.TABLES)])
    remove_folder(snapshot.pk)


def remove_superseded(snapshot: Snapshot) -> None:
    """Drop older ready snapshots of the knowledge base that have no ready release; no search can reach them.

    The caller must hold the knowledge base's import lock. While a backup runs nothing is dropped: the next import does
    it.
    """
    if backup_runs():
        return
    older = Snapshot.objects.filter(
        knowledge_base=snapshot.knowledge_base_id, status=BuildStatus.READY, pk__lt=snapshot.pk
    ).exclude(releases__status=BuildStatus.READY)
    for old in older:
        old.releases.exclude(status=BuildStatus.DROPPED).delete()
        Snapshot.objects.filter(pk=old.pk).update(status=BuildStatus.DROPPED)
        remove_data(old)


def remove_folder(snapshot_id: int) -> None:
    """Remove a snapshot's folder of memory-mapped files; a process that has mapped them can still read its mappings."""
    folder = _indexes() / f"snapshot-{snapshot_id}"
    if folder.exists():
        shutil.rmtree(folder)


def _indexes() -> Path:
    return Path(settings.GRASP_HOME) / "indexes"
