"""Everything that a release consists of, without ids of rows, so that two of them can be compared."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from search.models import Artifact, KnowledgeBase, Release, SearchRun, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.models.partitions import partition
from tests.search.ingest import bundles

NOTED = ".checked"
"""How the names of notes end that a folder was compared with its hashes; they stand beside the folder."""


def content(base: str) -> dict[str, Any]:
    """Return everything that the active release of a knowledge base consists of, without ids of rows."""
    release = KnowledgeBase.objects.get(name=base).active_release
    assert release is not None
    directory = release.snapshot.directory
    vectors = f"vectors-{release.vector_set_id}"
    files = {name.replace(vectors, "vectors"): digest for name, digest in digests(directory).items()}
    files = {name: digest for name, digest in files.items() if not name.endswith(NOTED)}
    with connection.cursor() as cursor:
        table = partition("search_vector", release.vector_set_id or 0)
        cursor.execute(f"SELECT kind, key, part, type, text_hash, embedding::text FROM {table} ORDER BY 1, 2, 3")
        embedded = [(*row[:4], bytes(row[4]), row[5]) for row in cursor.fetchall()]
        cursor.execute(
            "SELECT tablename, regexp_replace(indexdef, '[0-9]+', '', 'g') FROM pg_indexes WHERE tablename = ANY(%s)",
            [[partition("search_node", release.snapshot_id), partition("search_edge", release.snapshot_id), table]],
        )
        indexes = sorted(definition for _, definition in cursor.fetchall())
    return {
        "nodes": bundles.nodes_of(release.snapshot), "edges": bundles.edges_of(release.snapshot), "files": files,
        "vectors": embedded, "indexes": indexes, "schema": release.snapshot.schema_json,
        "counts": (release.snapshot.nodes, release.snapshot.edges, release.vector_set and release.vector_set.vectors),
    }  # fmt: skip


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file in a folder and below, by its path inside."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def strays() -> list[str]:
    """Return what belongs to nothing: tables and folders without an owner, and rows that nobody will finish."""
    snapshots = set(Snapshot.objects.filter(status=BuildStatus.READY).values_list("pk", flat=True))
    sets = set(VectorSet.objects.filter(status=BuildStatus.READY).values_list("pk", flat=True))
    owned = {partition(table, pk) for table in ("search_node", "search_edge") for pk in snapshots}
    owned |= {partition("search_vector", pk) for pk in sets}
    with connection.cursor() as cursor:
        cursor.execute(r"SELECT tablename FROM pg_tables WHERE tablename ~ '^search_(node|edge|vector)_[0-9]+'")
        found = [f"table {name}" for (name,) in cursor.fetchall() if name not in owned]
    artifacts = set(Artifact.objects.values_list("pk", flat=True))
    for entry in _entries(settings.GRASP_HOME / "artifacts"):
        found += [] if entry.name in artifacts else [f"folder artifacts/{entry.name}"]
    for entry in _entries(settings.GRASP_HOME / "indexes"):
        known = entry.name in {f"snapshot-{pk}" for pk in snapshots}
        left = [path for path in entry.glob(".*") if not path.name.endswith(NOTED)]
        found += [f"folder {path.relative_to(settings.GRASP_HOME)}" for path in left]
        found += [] if known else [f"folder indexes/{entry.name}"]
    found += [f"{row!r} is being built" for row in Snapshot.objects.filter(status=BuildStatus.BUILDING)]
    found += [f"{row!r} is being built" for row in VectorSet.objects.filter(status=BuildStatus.BUILDING)]
    found += [f"{row!r} is being built" for row in Release.objects.filter(status=BuildStatus.BUILDING)]
    unfinished = SearchRun.objects.filter(status__in=(SearchRun.Status.RUNNING, SearchRun.Status.QUEUED))
    return found + [f"search {row.pk} is {row.status}" for row in unfinished]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
