"""graph_state: whether Neo4j can execute plans of every knowledge base, and if not, why."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import connect
from search.adapters.graph_neo4j.project import markers
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.models import KnowledgeBase

STATE_SECONDS = 0.6
"""Time limit for Neo4j's answer, shorter than a status page's limit for all services."""


def graph_state() -> str:
    """Return a sentence that says why Postgres stands in for Neo4j, or an empty string if it does not."""
    try:
        known = markers(connect(Address.parse(settings.NEO4J_URL)), Limit.seconds(STATE_SECONDS))
    except ValueError as error:
        return str(error)
    except StageError as error:
        return f"{error.reason}. Postgres stands in for it."
    whole = {marker.snapshot for marker in known if marker.state == "whole"}
    try:
        active = dict(
            KnowledgeBase.objects.exclude(active_release=None).values_list("name", "active_release__snapshot_id")
        )
    except DatabaseError:
        return "Neo4j answers. What it should hold is unknown while Postgres does not answer."
    missing = sorted(name for name, snapshot in active.items() if snapshot not in whole)
    if not missing:
        return ""
    return (
        f"Neo4j does not hold the graph of {', '.join(missing)}, so Postgres stands in for it there. "
        "A job “Copy to Neo4j” puts it there."
    )
