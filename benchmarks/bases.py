"""Knowledge bases to measure on, imported where they are not there yet. Needs Django to be set up."""

from __future__ import annotations

from pathlib import Path

from benchmarks.common import NotHere, data, show
from search import wiring
from search.models import KnowledgeBase
from search.services.knowledge.import_snapshot import import_snapshot


def imported(name: str, folder: Path | None = None) -> tuple[str, Path]:
    """Return a knowledge base, imported and indexed first where it is not there yet, and the folder of its bundle."""
    folder = folder or data(name)
    if not KnowledgeBase.objects.filter(name=name, active_release__isnull=False).exists():
        show(f"importing {name} …")
        import_snapshot(source=folder, name=name)
    return name, folder


def opened(name: str) -> tuple[wiring.Tools, Path]:
    """Return the tools of a knowledge base's release, and the folder of its bundle. NotHere where none is active."""
    name, folder = imported(name)
    release = KnowledgeBase.objects.get(name=name).active_release
    if release is None:
        raise NotHere(f"{name} has no active release")
    return wiring.tools(release), folder
