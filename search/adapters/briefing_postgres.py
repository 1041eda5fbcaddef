"""What the planner's prompt says of a release: its schema, and a few names of each type, drawn from the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection

from search.domain.graph import Schema
from search.models import KnowledgeBase, Release
from search.models.partitions import partition
from search.prompts import Briefing

NAMES = 6
"""Names of a type: some are shown in the schema, others make worked examples."""
LOOKED_AT = 20_000
"""Nodes of a type that the names are drawn from."""


def briefing_of(release: Release) -> Briefing:
    """Return the briefing of a release, with the guidance that the knowledge base's settings hold."""
    base = release.knowledge_base
    return Briefing(
        schema=release.snapshot.schema,
        title=base.title or base.name,
        description=base.description,
        domain=base.domain,
        names=sample_names(release.snapshot_id, release.snapshot.schema),
        guidance=str(_values(base).get("guidance", "")),
    )


def sample_names(snapshot_id: int, schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return up to six names of each type, the same ones whenever it is asked.

    They are drawn by a hash of the id, so that they do not all begin with the same letter.
    """
    nodes = partition("search_node", snapshot_id)
    query = (
        f"SELECT name FROM (SELECT id, name FROM {nodes} WHERE type = %s AND name <> '' ORDER BY key LIMIT %s) "
        "AS drawn ORDER BY md5(id), id LIMIT %s"
    )
    names: dict[str, tuple[str, ...]] = {}
    with connection.cursor() as cursor:
        for code, node_type in enumerate(schema.node_types):
            cursor.execute(query, [code, LOOKED_AT, NAMES])
            names[node_type.name] = tuple(name for (name,) in cursor.fetchall())
    return names


def _values(base: KnowledgeBase) -> Mapping[str, Any]:
    values = base.active_settings.values if base.active_settings is not None else {}
    return values if isinstance(values, Mapping) else {}
