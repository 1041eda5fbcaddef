"""The knowledge that the planner's prompt has of a release: its schema, and sampled names of each node type."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.db import connection

from search.domain.graph import Schema
from search.domain.schema_settings import adapted
from search.models import KnowledgeBase, KnowledgeBaseSettings, Release, Snapshot
from search.models.partitions import partition
from search.prompts import Briefing, PlanPrompts

NAMES_A_TYPE = 6
"""Names of each type: some are shown in the schema, the others are used in worked examples."""
SAMPLED_NODES = 20_000
"""Nodes of a type from which the names are sampled."""


def plan_prompts(release: Release, settings_version: int | None = None) -> PlanPrompts:
    """Return the prompts for planning over a release, as its knowledge base's settings want them.

    `settings_version` is a version of the settings, 0 for none; None stands for the active one at this moment. The
    knowledge base's row is read each time; names and texts are made once.
    """
    base = KnowledgeBase.objects.select_related("active_settings").get(pk=release.knowledge_base_id)
    version = base.active_settings
    if settings_version is not None and settings_version != (version.version if version else 0):
        version = base.settings_versions.filter(version=settings_version).first()
    return _prompts(
        release.snapshot_id, base.title or base.name, base.description, base.domain, version.pk if version else None
    )


@lru_cache(maxsize=16)
def _prompts(snapshot_id: int, title: str, description: str, domain: str, settings_id: int | None) -> PlanPrompts:
    values = _values(None if settings_id is None else KnowledgeBaseSettings.objects.get(pk=settings_id))
    schema = adapted(Snapshot.objects.get(pk=snapshot_id).schema, values)
    guidance = str(values.get("guidance", ""))
    return PlanPrompts(Briefing(schema, title, description, domain, sample_names(snapshot_id, schema), guidance))


def sample_names(snapshot_id: int, schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return up to `NAMES_A_TYPE` names of each node type; the sample is always the same.

    Names are ordered by a hash of the id, so that they do not all begin with the same letter.
    """
    nodes = partition("search_node", snapshot_id)
    query = (
        f"SELECT name FROM (SELECT id, name FROM {nodes} WHERE type = %s AND name <> '' ORDER BY key LIMIT %s) "
        "AS drawn ORDER BY md5(id), id LIMIT %s"
    )
    names: dict[str, tuple[str, ...]] = {}
    with connection.cursor() as cursor:
        for code, node_type in enumerate(schema.node_types):
            cursor.execute(query, [code, SAMPLED_NODES, NAMES_A_TYPE])
            names[node_type.name] = tuple(name for (name,) in cursor.fetchall())
    return names


def _values(version: KnowledgeBaseSettings | None) -> Mapping[str, Any]:
    return version.values if version is not None and isinstance(version.values, Mapping) else {}
