"""describe_knowledge_base: a short description of a knowledge base, or one with its whole schema."""

from __future__ import annotations

from collections import Counter
from typing import Any

from search.models import KnowledgeBase


def describe_knowledge_base(base: KnowledgeBase, *, schema: bool = False) -> dict[str, Any]:
    """Return name, description, release and counts as a JSON object; with `schema` also types and relations.

    No node is read. `base` should be selected together with its active release and that release's snapshot.
    """
    release = base.active_release
    described: dict[str, Any] = {
        "name": base.name,
        "title": base.title or base.name,
        "description": base.description,
        "domain": base.domain,
        "language": base.language,
        "licence": base.licence,
        "source": base.source,
        "examples": base.examples,
        "visibility": base.visibility,
        "release": release.name if release else None,
        "nodes": release.snapshot.nodes if release else 0,
        "edges": release.snapshot.edges if release else 0,
    }
    return described | (_schema(base) if schema else {})


def _schema(base: KnowledgeBase) -> dict[str, Any]:
    if base.active_release is None:
        return {"node_types": [], "relations": [], "relation_types": []}
    schema = base.active_release.snapshot.schema.to_json()
    counts: Counter[str] = Counter()
    for entry in schema["relation_types"]:
        counts[entry["relation"]] += entry["count"]
    return {
        "node_types": schema["node_types"],
        "relations": [relation | {"count": counts[relation["name"]]} for relation in schema["relations"]],
        "relation_types": schema["relation_types"],
    }
