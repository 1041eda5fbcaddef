"""Knowledge bases for the benchmarks, imported if missing. Needs Django to be set up."""

from __future__ import annotations

from pathlib import Path

from benchmarks.common import NotHere, data, show
from search import wiring
from search.models import KnowledgeBase
from search.services.knowledge.import_snapshot import import_snapshot


def imported(name: str, folder: Path | None = None) -> tuple[str, Path]:
    """Return the name of a knowledge base and its bundle's folder; it is imported and indexed if missing."""
    folder = folder or data(name)
    if not KnowledgeBase.objects.filter(name=name, active_release__isnull=False).exists():
        show(f"importing {name} …")
        import_snapshot(source=folder, name=name)
    return name, folder


def opened(name: str) -> tuple[wiring.Tools, Path]:
    """Return the tools of a knowledge base's active release, and its bundle's folder; NotHere without a release."""
    name, folder = imported(name)
    release = KnowledgeBase.objects.get(name=name).active_release
    if release is None:
        raise NotHere(f"{name} has no active release")
    return wiring.tools(release), folder
