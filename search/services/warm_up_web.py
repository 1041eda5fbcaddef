"""warm_up_web: loads what the pages of a web process need, so that no visitor waits for it."""

from __future__ import annotations

from django.db import connections
from django.db.models import F
from django.urls import get_resolver

from search import wiring
from search.models import Release
from search.services.pipelines.list_pipelines import pipeline_choices


def warm_up_web() -> None:
    """Load the views, hold every pipeline against the settings, and open the graphs of the active releases.

    Every page with a question box asks for the pipelines, and their first check imports all stages. Raises the errors
    of Django and of the operating system.
    """
    _ = get_resolver().url_patterns
    pipeline_choices()
    try:
        for release in Release.objects.filter(pk=F("knowledge_base__active_release")):
            tools = wiring.tools(release)
            tools.nodes.references(range(min(1, tools.adjacency.size)))
    finally:
        connections.close_all()
