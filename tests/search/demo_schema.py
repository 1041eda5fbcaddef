"""The schemas of the demo knowledge bases, read off their files, for tests that need no database."""

from __future__ import annotations

import json
from pathlib import Path

from search.domain.graph import Field, Node, NodeType, Relation, RelationType, Schema
from search.prompts import Briefing

DEMO = Path(__file__).resolve().parents[2] / "search" / "fixtures" / "demo"


def demo_schema(name: str) -> Schema:
    """Return the schema that a demo's manifest declares."""
    manifest = json.loads((DEMO / name / "kb.json").read_text())
    kinds = manifest["relation_types"]
    relations = {
        kind["relation"]: Relation(
            kind["relation"], kind.get("description", ""), kind.get("inverse", ""), tuple(kind.get("aliases", ()))
        )
        for kind in kinds
    }
    return Schema(
        node_types=tuple(
            NodeType(
                name,
                declared["count"],
                tuple(Field(f, d["type"], d.get("many", False)) for f, d in declared.get("fields", {}).items()),
                declared.get("answerable", True),
                tuple(declared.get("aliases", ())),
            )
            for name, declared in manifest["node_types"].items()
        ),
        relations=tuple(relations.values()),
        relation_types=tuple(RelationType(k["source"], k["relation"], k["target"], k["count"]) for k in kinds),
    )


def demo_briefing(name: str) -> Briefing:
    """Return the briefing of a demo, with the first names of each type."""
    manifest = json.loads((DEMO / name / "kb.json").read_text())
    names: dict[str, list[str]] = {}
    for line in (DEMO / name / "nodes.jsonl").read_text().splitlines():
        node = json.loads(line)
        if len(shown := names.setdefault(node["type"], [])) < 6:
            shown.append(node["name"])
    return Briefing(demo_schema(name), manifest["title"], manifest["description"], manifest["domain"], names)


def demo_nodes(name: str) -> list[Node]:
    """Return the nodes of a demo base with the keys that they get when it is imported."""
    rows = [json.loads(line) for line in (DEMO / name / "nodes.jsonl").read_text().splitlines()]
    rows.sort(key=lambda row: row["id"].encode())
    return [
        Node(key, row["id"], row["type"], row["name"], tuple(row.get("aliases", ())), fields=row.get("fields", {}))
        for key, row in enumerate(rows)
    ]
