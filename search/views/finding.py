"""Lookup of the objects that a URL names, limited to those that the user may see."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest

from search.models import KnowledgeBase, SearchRun
from search.services.access.visible import NO_MORE, find_search

RELATED = ("knowledge_base", "release__snapshot")


def find_run(request: HttpRequest, run_id: UUID, *, stored: bool = False) -> SearchRun:
    """Return the run with its release, as `find_search` does.

    Raises Http404 if it does not exist, if the user may not read it, and without `stored` if the user may read no more
    than what it stored.
    """
    run = find_search(run_id, request.user, stored=True, related=RELATED)
    if run is None:
        raise Http404("There is no search with this address.")
    if run.only_stored and not stored:
        raise Http404(NO_MORE)
    return run


def find_knowledge_base(request: HttpRequest, name: str) -> KnowledgeBase:
    """Return the knowledge base of that name; raises Http404 if it does not exist or the user may not see it."""
    visible = KnowledgeBase.objects.visible_to(request.user).select_related("active_release__snapshot")
    base = visible.filter(name=name).first() if "\x00" not in name else None
    if base is None:
        raise Http404(f"There is no knowledge base “{name[:80]}”.")
    return base
