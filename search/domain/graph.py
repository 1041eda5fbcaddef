"""Nodes, their types, their relations: the shape of a semi-structured knowledge base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

FieldKind = Literal["text", "keyword", "number", "date"]
FieldValue = str | int | float | list[str] | list[int] | list[float]
Direction = Literal["out", "in"]

ANY = "*"
"""Written instead of a relation or a node type where any will do."""


@dataclass(frozen=True, slots=True)
class Node:
    """One entity.

    `key` is the node's position in its snapshot. Keys follow the bytewise order of ids, so that a tie broken by key is
    a tie broken by id. `fields` may be left empty where only the reference (id, type, name) is needed.
    """

    key: int
    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    url: str = ""
    fields: Mapping[str, FieldValue] = field(default_factory=dict)

    def to_json(self) -> dict[str, str]:
        """Return the reference that results, bindings and paths show."""
        return {"id": self.id, "type": self.type, "name": self.name}


@dataclass(frozen=True, slots=True)
class Field:
    """A typed field of a node type: its kind, whether it holds a list, and how many nodes have it."""

    name: str
    kind: FieldKind = "text"
    many: bool = False
    coverage: int = 0
    inferred: bool = True


@dataclass(frozen=True, slots=True)
class NodeType:
    """A type of node with its fields, how many nodes it has, and whether its nodes may be answers."""

    name: str
    count: int = 0
    fields: tuple[Field, ...] = ()
    answerable: bool = True
    aliases: tuple[str, ...] = ()
    description: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation by name, with its wording in the stored direction, the other way round, and its aliases."""

    name: str
    description: str = ""
    inverse: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationType:
    """A relation between two node types in the stored direction, and how many edges it has."""

    source: str
    relation: str
    target: str
    count: int = 0


@dataclass(frozen=True)
class Schema:
    """Everything a planner may know about a knowledge base without looking at a node.

    The position of a node type or relation in its tuple is its code in storage.
    """

    node_types: tuple[NodeType, ...]
    relations: tuple[Relation, ...]
    relation_types: tuple[RelationType, ...]
    language: str = "en"

    @cached_property
    def type_codes(self) -> dict[str, int]:
        """Code of each node type, by name."""
        return {node_type.name: code for code, node_type in enumerate(self.node_types)}

    @cached_property
    def relation_codes(self) -> dict[str, int]:
        """Code of each relation, by name."""
        return {relation.name: code for code, relation in enumerate(self.relations)}

    @cached_property
    def ends(self) -> dict[str, frozenset[tuple[int, int]]]:
        """Type codes of source and target that each relation really joins, by its name; under ANY those of all."""
        return {relation: frozenset(pairs) for relation, pairs in self.edges_between.items()}

    @cached_property
    def edges_between(self) -> dict[str, dict[tuple[int, int], int]]:
        """Numbers of edges by type codes of source and target, of each relation by its name; under ANY those of all."""
        codes = self.type_codes
        counts: dict[str, dict[tuple[int, int], int]] = {ANY: {}}
        for kind in self.relation_types:
            pair = codes[kind.source], codes[kind.target]
            for relation in (kind.relation, ANY):
                of_relation = counts.setdefault(relation, {})
                of_relation[pair] = of_relation.get(pair, 0) + kind.count
        return counts

    def node_type(self, name: str) -> NodeType:
        """Return the node type of that name; KeyError when there is none."""
        return self.node_types[self.type_codes[name]]

    def relation(self, name: str) -> Relation:
        """Return the relation of that name; KeyError when there is none."""
        return self.relations[self.relation_codes[name]]

    @cached_property
    def answerable(self) -> tuple[str, ...]:
        """Names of the node types that may be answers."""
        return tuple(node_type.name for node_type in self.node_types if node_type.answerable)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as JSON; `from_json` reads it back equal."""
        return {
            "language": self.language,
            "node_types": [
                {
                    "name": t.name,
                    "count": t.count,
                    "answerable": t.answerable,
                    "aliases": list(t.aliases),
                    "description": t.description,
                    "hidden": t.hidden,
                    "fields": [
                        {"name": f.name, "kind": f.kind, "many": f.many, "coverage": f.coverage, "inferred": f.inferred}
                        for f in t.fields
                    ],
                }
                for t in self.node_types
            ],
            "relations": [
                {"name": r.name, "description": r.description, "inverse": r.inverse, "aliases": list(r.aliases)}
                for r in self.relations
            ],
            "relation_types": [
                {"source": r.source, "relation": r.relation, "target": r.target, "count": r.count}
                for r in self.relation_types
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schema:
        """Read what `to_json` wrote."""
        return cls(
            language=data.get("language", "en"),
            node_types=tuple(
                NodeType(
                    name=t["name"],
                    count=t["count"],
                    answerable=t["answerable"],
                    aliases=tuple(t["aliases"]),
                    description=t["description"],
                    hidden=t.get("hidden", False),
                    fields=tuple(Field(**f) for f in t["fields"]),
                )
                for t in data["node_types"]
            ),
            relations=tuple(
                Relation(r["name"], r["description"], r["inverse"], tuple(r["aliases"])) for r in data["relations"]
            ),
            relation_types=tuple(RelationType(**r) for r in data["relation_types"]),
        )
