"""The parts of a semi-structured knowledge base: nodes, node types, relations, schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

FieldKind = Literal["text", "keyword", "number", "date"]
FieldValue = str | int | float | list[str] | list[int] | list[float]
Direction = Literal["out", "in"]
DIRECTIONS: tuple[Direction, Direction] = ("out", "in")
OPPOSITE: Mapping[Direction, Direction] = {"out": "in", "in": "out"}

ANY = "*"
"""Stands for any relation or any node type."""


@dataclass(frozen=True, slots=True)
class Node:
    """One entity.

    `key` is the node's position in its snapshot. Keys follow the bytewise order of ids, so breaking ties by key is the
    same as breaking them by id. `fields` may be empty if only the reference (id, type, name) is needed.
    """

    key: int
    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    url: str = ""
    fields: Mapping[str, FieldValue] = field(default_factory=dict)

    def to_json(self) -> dict[str, str]:
        """Return the reference (id, type, name) that results, bindings and paths show."""
        return {"id": self.id, "type": self.type, "name": self.name}


@dataclass(frozen=True, slots=True)
class Field:
    """A typed field of a node type.

    `many` says that its values are lists. `coverage` is the number of nodes that have it. `inferred` says that the
    bundle did not declare its kind. `unit` is the declared unit of its numbers, such as `EUR`; others have theirs in
    their name (`weight_g`).
    """

    name: str
    kind: FieldKind = "text"
    many: bool = False
    coverage: int = 0
    inferred: bool = True
    unit: str = ""


@dataclass(frozen=True, slots=True)
class NodeType:
    """A type of node: its fields, the number of its nodes, and whether its nodes may be answers (`answerable`).

    A `hidden` type is not shown to planners.
    """

    name: str
    count: int = 0
    fields: tuple[Field, ...] = ()
    answerable: bool = True
    aliases: tuple[str, ...] = ()
    description: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with its wordings in the stored direction (`description`) and in the opposite one (`inverse`).

    `fields` are the fields of its edges. Snapshots that were imported before these were counted have none.
    """

    name: str
    description: str = ""
    inverse: str = ""
    aliases: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()

    @property
    def mutual(self) -> bool:
        """Whether it reads the same in both directions (`interacts with`), so its direction means nothing."""
        return bool(self.inverse) and self.inverse == self.description

    def wording(self, direction: str | None) -> str:
        """Return the wording in a direction, that of the stored one where both are meant; empty if there is none."""
        return self.inverse if direction == "in" else self.description


@dataclass(frozen=True, slots=True)
class RelationType:
    """A relation between two node types in the stored direction, with its number of edges."""

    source: str
    relation: str
    target: str
    count: int = 0

    @property
    def ways(self) -> tuple[tuple[str, str, Direction], tuple[str, str, Direction]]:
        """Both ways to walk it: the type where the walk begins, the type that it reaches, and the direction."""
        return (self.source, self.target, "out"), (self.target, self.source, "in")


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
        """Relation → the pairs of type codes (source, target) of its edges; ANY → the pairs of all relations."""
        return {relation: frozenset(pairs) for relation, pairs in self.edges_between.items()}

    @cached_property
    def edges_between(self) -> dict[str, dict[tuple[int, int], int]]:
        """Relation → {type codes (source, target): number of edges}; ANY → the same over all relations."""
        codes = self.type_codes
        counts: dict[str, dict[tuple[int, int], int]] = {ANY: {}}
        for kind in self.relation_types:
            pair = codes[kind.source], codes[kind.target]
            for relation in (kind.relation, ANY):
                of_relation = counts.setdefault(relation, {})
                of_relation[pair] = of_relation.get(pair, 0) + kind.count
        return counts

    def node_type(self, name: str) -> NodeType:
        """Return the node type with that name; KeyError if there is none."""
        return self.node_types[self.type_codes[name]]

    def relation(self, name: str) -> Relation:
        """Return the relation with that name; KeyError if there is none."""
        return self.relations[self.relation_codes[name]]

    @cached_property
    def wordings(self) -> Wordings:
        """The relations by name and the units that fields declare: what puts plans and values into words."""
        return Wordings(self)

    def edge_fields(self, relation: str) -> dict[str, Field]:
        """Return the fields of the edges of a relation by name; of ANY those of all relations."""
        return {one.name: one for r in self.relations if relation in (r.name, ANY) for one in r.fields}

    @cached_property
    def answerable(self) -> tuple[str, ...]:
        """Names of the node types that may be answers."""
        return tuple(node_type.name for node_type in self.node_types if node_type.answerable)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as a JSON object; `from_json` reads it back equal."""
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
                    "fields": _fields_json(t.fields),
                }
                for t in self.node_types
            ],
            "relations": [
                {"name": r.name, "description": r.description, "inverse": r.inverse, "aliases": list(r.aliases)}
                | ({"fields": _fields_json(r.fields)} if r.fields else {})
                for r in self.relations
            ],
            "relation_types": [
                {"source": r.source, "relation": r.relation, "target": r.target, "count": r.count}
                for r in self.relation_types
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schema:
        """Return the schema that `to_json` wrote."""
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
                Relation(
                    r["name"],
                    r["description"],
                    r["inverse"],
                    tuple(r["aliases"]),
                    tuple(Field(**f) for f in r.get("fields", ())),
                )
                for r in data["relations"]
            ),
            relation_types=tuple(RelationType(**r) for r in data["relation_types"]),
        )


class Wordings(dict[str, Relation]):
    """Relation by name, for its wordings, and in `units` the units that fields declare.

    Fields of two types with one name and different units have none here.
    """

    def __init__(self, schema: Schema) -> None:
        super().__init__({relation.name: relation for relation in schema.relations})
        declared: dict[str, set[str]] = {}
        for fields in (kind.fields for kinds in (schema.node_types, schema.relations) for kind in kinds):
            for one in fields:
                declared.setdefault(one.name, set()).add(one.unit)
        self.units = {name: min(units) for name, units in declared.items() if len(units) == 1 and units != {""}}


def _fields_json(fields: tuple[Field, ...]) -> list[dict[str, Any]]:
    return [
        {"name": f.name, "kind": f.kind, "many": f.many, "coverage": f.coverage, "inferred": f.inferred}
        | ({"unit": f.unit} if f.unit else {})
        for f in fields
    ]
