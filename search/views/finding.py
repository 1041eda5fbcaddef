"""Lookup of the objects that a URL names, limited to those that the user may see."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from search.models import KnowledgeBase, SearchRun


def find_run(request: HttpRequest, run_id: UUID) -> SearchRun:
    """Return the run with its release; raises Http404 if it does not exist or the user may not read it."""
    visible = SearchRun.objects.visible_to(request.user).select_related("knowledge_base", "release__snapshot")
    run = visible.filter(pk=run_id).first()
    if run is None:
        raise Http404("There is no search with this address.")
    return run


def find_knowledge_base(request: HttpRequest, name: str) -> KnowledgeBase:
    """Return the knowledge base of that name; raises Http404 if it does not exist or the user may not see it."""
    visible = KnowledgeBase.objects.visible_to(request.user).select_related("active_release__snapshot")
    base = visible.filter(name=name).first() if "\x00" not in name else None
    if base is None:
        raise Http404(f"There is no knowledge base “{name[:80]}”.")
    return base
