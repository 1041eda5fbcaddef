"""describe_node: a node as a JSON object, with its fields and its relations in groups and pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from search import wiring
from search.domain.graph import Direction, Field, NodeType, Relation, Schema
from search.interfaces import Adjacency
from search.models import Edge, Node, Release
from search.plan_words import relation_words

PAGE = 50
"""Neighbours on one page of a group."""
MOST_COUNTED = 10_000
"""A release without index files is counted in the database, up to this number of edges of a group."""
MOST_SORTED = 2_000
"""Groups up to this size are sorted by name; larger ones are in the order of ids, in which they are stored."""

Group = tuple[str, str]
"""A relation's name and a direction, `out` or `in`."""


def describe_node(
    release: Release, node_id: str, turned: Group = ("", ""), page: int = 1, *, related: bool = True
) -> dict[str, Any] | None:
    """Return a node of a release by its id, or None if there is none.

    Each group of relations shows its first page of `PAGE` neighbours; the group `turned` shows page `page`, or the
    nearest page that exists. `count` comes from the offsets of the memory-mapped graph, so that a hub costs no more
    than any other node, and is exact. Without these files it is exact up to `MOST_COUNTED`; beyond it, `more` is true.
    With `related` False, no relations are returned.
    """
    snapshot, schema = release.snapshot, release.snapshot.schema
    node = Node.objects.filter(snapshot_id=snapshot.pk, id=node_id).first() if "\x00" not in node_id else None
    if node is None:
        return None
    node_type = schema.node_types[node.type]
    graph = graph_of(release)
    groups = [
        _group(
            _Neighbours(node, schema, relation, direction, graph), page if turned == (relation.name, direction) else 1
        )
        for relation, direction in (_possible(schema, node_type) if related else ())
    ]
    return {
        "id": node.id,
        "type": node_type.name,
        "name": node.name,
        "aliases": list(node.aliases),
        "url": node.url,
        "fields": _fields(node, node_type),
        "relations": [group for group in groups if group["count"]],
        "knowledge_base": release.knowledge_base.name,
        "release": release.name,
    }


def _fields(node: Node, node_type: NodeType) -> list[dict[str, Any]]:
    """Return the fields that the node has, in the order of its type, followed by fields that the type does not list."""
    known = {field.name: field for field in node_type.fields}
    names = [name for name in known if name in node.fields] + [name for name in node.fields if name not in known]
    return [
        {"name": name, "kind": known.get(name, Field(name)).kind, "value": node.fields[name]}
        for name in names
        if node.fields[name] not in ("", [], None)
    ]


def _possible(schema: Schema, node_type: NodeType) -> Iterator[tuple[Relation, Direction]]:
    """Yield every relation and direction in which a node of this type may have edges, in the order of the schema."""
    seen: set[Group] = set()
    for relation_type in schema.relation_types:
        directions: list[Direction] = []
        if relation_type.source == node_type.name:
            directions.append("out")
        if relation_type.target == node_type.name:
            directions.append("in")
        for direction in directions:
            if (relation_type.relation, direction) not in seen:
                seen.add((relation_type.relation, direction))
                yield schema.relation(relation_type.relation), direction


def graph_of(release: Release) -> Adjacency | None:
    """Return the memory-mapped graph of a release, or None where its files are not on this machine."""
    return (
        wiring.tools(release).adjacency if (release.snapshot.directory / "adjacency" / "types.npy").exists() else None
    )


@dataclass(frozen=True)
class _Neighbours:
    """The distinct neighbours of a node over one relation in one direction."""

    node: Node
    schema: Schema
    relation: Relation
    direction: Direction
    graph: Adjacency | None

    @property
    def code(self) -> int:
        return self.schema.relation_codes[self.relation.name]

    @property
    def far(self) -> str:
        return "target" if self.direction == "out" else "source"

    @property
    def edges(self) -> Any:
        near = "source" if self.direction == "out" else "target"
        return Edge.objects.filter(**{"snapshot_id": self.node.snapshot_id, "relation": self.code, near: self.node.key})

    def count(self) -> int:
        """Return their number; without the graph's files no more than `MOST_COUNTED` + 1."""
        if self.graph is not None:
            return self.graph.degree(self.node.key, self.code, self.direction)
        return int(self._stored()[: MOST_COUNTED + 1].count())

    def keys(self, first: int, most: int) -> list[int]:
        """Return up to `most` keys from position `first` on, in the order of keys."""
        if self.graph is not None:
            return self.graph.part(self.node.key, self.code, self.direction, first, most).tolist()
        return list(self._stored()[first : first + most])

    def _stored(self) -> Any:
        # Parallel edges lead to one neighbour: counted twice, they would make pages with nobody on them.
        return self.edges.order_by(self.far).values_list(self.far, flat=True).distinct()


def _group(near: _Neighbours, page: int) -> dict[str, Any]:
    count = near.count()
    more = near.graph is None and count > MOST_COUNTED
    shown = min(count, MOST_COUNTED) if more else count
    pages = max(1, -(-shown // PAGE))
    page = min(max(page, 1), pages)
    return {
        "relation": near.relation.name,
        "direction": near.direction,
        "wording": relation_words(near.relation.name, near.direction, near.schema.wordings),
        "count": shown,
        "more": more,
        "page": page,
        "pages": pages,
        "items": _items(near, (page - 1) * PAGE, shown) if count else [],
    }


def _items(near: _Neighbours, first: int, count: int) -> list[dict[str, Any]]:
    """Return a page of neighbours: by name if there are few enough to sort, otherwise in the order of ids."""
    sort = count <= MOST_SORTED
    keys = near.keys(0, count) if sort else near.keys(first, PAGE)
    nodes = Node.objects.filter(snapshot_id=near.node.snapshot_id, key__in=keys).defer("aliases", "url", "fields")
    found = list(nodes.order_by("name", "key")[first : first + PAGE] if sort else nodes.order_by("key"))
    properties = dict(
        near.edges.filter(**{f"{near.far}__in": [n.key for n in found]}).values_list(near.far, "properties")
    )
    types = near.schema.node_types
    return [
        {"id": n.id, "type": types[n.type].name, "name": n.name, "properties": properties.get(n.key) or {}}
        for n in found
    ]
