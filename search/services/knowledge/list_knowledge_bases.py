"""list_knowledge_bases: all knowledge bases, for commands, which may see everything."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch

from search.models import KnowledgeBase, Release
from search.models.knowledge import BuildStatus
from search.services.knowledge.activate_release import ReleaseError


def list_knowledge_bases() -> list[dict[str, Any]]:
    """Return every knowledge base as JSON, with the releases that were not dropped, newest first."""
    kept = Release.objects.exclude(status=BuildStatus.DROPPED).select_related(
        "snapshot", "vector_set", "knowledge_base"
    )
    bases = KnowledgeBase.objects.prefetch_related(Prefetch("releases", queryset=kept))
    return [_entry(knowledge_base) for knowledge_base in bases]


def named(name: str) -> KnowledgeBase:
    """Return the knowledge base with that name; if there is none, ReleaseError with the existing names."""
    found = KnowledgeBase.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(KnowledgeBase.objects.values_list("name", flat=True))
        raise ReleaseError(f"There is no knowledge base '{name}'; there {f'are {names}' if names else 'is none yet'}.")
    return found


def _entry(knowledge_base: KnowledgeBase) -> dict[str, Any]:
    releases = [_release(release, knowledge_base) for release in knowledge_base.releases.all()]
    active = next((release for release in releases if release["active"]), None)
    return {
        "name": knowledge_base.name,
        "title": knowledge_base.title,
        "domain": knowledge_base.domain,
        "language": knowledge_base.language,
        "visibility": knowledge_base.visibility,
        "active_release": active["release"] if active else None,
        "nodes": active["nodes"] if active else None,
        "edges": active["edges"] if active else None,
        "releases": releases,
    }


def _release(release: Release, knowledge_base: KnowledgeBase) -> dict[str, Any]:
    return {
        "release": release.name,
        "number": release.number,
        "status": release.status,
        "active": release.pk == knowledge_base.active_release_id,
        "snapshot": release.snapshot_id,
        "nodes": release.snapshot.nodes,
        "edges": release.snapshot.edges,
        "encoder": release.vector_set.encoder if release.vector_set else None,
        "created": release.created.isoformat(timespec="seconds"),
    }
