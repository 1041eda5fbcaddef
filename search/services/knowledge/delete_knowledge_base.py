"""delete_knowledge_base: deletes a knowledge base with all its data on the disk and in the databases."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
from django.conf import settings
from django.db import OperationalError, transaction

from search.domain.graph import Schema
from search.ingest import partitions
from search.ingest.locks import import_lock
from search.models import Artifact, KnowledgeBase, VectorSet
from search.models.partitions import partition
from search.services.audit.note import note
from search.services.knowledge.releases import ReleaseError, refuse_during_backup
from search.services.knowledge.removal import artifacts_elsewhere, in_use, uses_of_base
from search.services.knowledge.sync_graph import SyncFailed, remove_graph

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DeletionReport:
    """Numbers of deleted releases and artifacts, and the ids of artifacts that other knowledge bases still use."""

    releases: int
    artifacts: int
    kept: tuple[str, ...]


def delete_knowledge_base(*, knowledge_base: KnowledgeBase) -> DeletionReport:
    """Delete a knowledge base with its releases, settings, versions, and the artifacts that only it uses.

    Recorded searches are kept. Partitions, index files, folders of artifacts and projections in Neo4j are removed after
    the transaction is committed. If something cannot be removed then, it is logged, and the next import removes it (in
    Neo4j: the next sync of a knowledge base with this name). Raises ReleaseError while an import of it or a backup
    runs, and while jobs or evaluations read it.
    """
    refuse_during_backup()
    with import_lock(knowledge_base.name) as free:
        if not free:
            raise ReleaseError(f"An import of '{knowledge_base.name}' is running; wait until it has ended.")
        with transaction.atomic():
            locked = KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
            if uses := uses_of_base(locked):
                raise ReleaseError(in_use(locked.name, uses))
            kept = _hand_over(locked)
            snapshots = list(locked.snapshots.all())
            artifacts = list(Artifact.objects.filter(knowledge_base=locked))
            tables = [partition(table, snapshot.pk) for snapshot in snapshots for table in partitions.TABLES]
            vector_sets = VectorSet.objects.filter(snapshot__knowledge_base=locked).values_list("pk", flat=True)
            tables += [partition("search_vector", pk) for pk in vector_sets]
            folders = [snapshot.directory for snapshot in snapshots]
            folders += [artifact.directory for artifact in artifacts]
            deleted = DeletionReport(locked.releases.count(), len(artifacts), kept)
            # Releases protect their snapshots, so they are deleted first.
            note("knowledge base deleted", locked, releases=deleted.releases, artifacts=deleted.artifacts)
            locked.releases.all().delete()
            locked.delete()
            transaction.on_commit(partial(_remove, tables, folders))
            if settings.NEO4J_URL and snapshots:
                transaction.on_commit(partial(_remove_projections, knowledge_base.name, snapshots[0].schema))
    return deleted


def _hand_over(knowledge_base: KnowledgeBase) -> tuple[str, ...]:
    """Assign artifacts that versions of another knowledge base use to that knowledge base; return their ids."""
    kept = artifacts_elsewhere(knowledge_base)
    for artifact, owner in kept:
        Artifact.objects.filter(pk=artifact).update(knowledge_base=owner)
    return tuple(artifact for artifact, _ in kept)


def _remove_projections(knowledge_base: str, schema: Schema) -> None:
    try:
        remove_graph(knowledge_base=knowledge_base, schema=schema)
    except SyncFailed as error:
        log.warning("projections left behind", knowledge_base=knowledge_base, reason=str(error))


def _remove(tables: Sequence[str], folders: Sequence[Path]) -> None:
    """Drop tables and remove folders; a failure of one does not stop the others."""
    for table in tables:
        try:
            partitions.drop([table])
        except OperationalError as error:
            log.warning("table left behind", table=table, reason=str(error))
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            log.warning("folder left behind", folder=str(folder), reason=str(error))
