"""graph_state: whether Neo4j executes the plans of every knowledge base, and why not."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import connect
from search.adapters.graph_neo4j.project import markers
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.models import KnowledgeBase

SECONDS = 0.6
"""How long Neo4j is waited for: less than a status page waits for all its services."""


def graph_state() -> str:
    """Return in a sentence why Postgres executes plans in place of Neo4j; an empty text where it does not."""
    try:
        known = markers(connect(Address.parse(settings.NEO4J_URL)), Limit.seconds(SECONDS))
    except ValueError as error:
        return str(error)
    except StageError as error:
        return f"{error.reason}. Postgres executes plans."
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
        f"Neo4j does not hold the graph of {', '.join(missing)}, so Postgres executes plans there. "
        f"manage.py sync_graph {missing[0]} puts it there."
    )
