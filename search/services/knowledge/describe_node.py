"""describe_node: a node as a JSON object, with its fields and its relations in groups and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from search.domain.graph import Direction, Field, NodeType, Relation, Schema
from search.models import Edge, Node, Release
from search.text import words

PAGE = 50
"""Neighbours on one page of a group."""
MOST_COUNTED = 10_000
"""Edges of a group are counted up to this number, so that the page of a hub costs no more than any other."""
MOST_SORTED = 2_000
"""Groups up to this size are sorted by name; larger ones are in the order of ids, in which they are stored."""

Group = tuple[str, str]
"""A relation's name and a direction, `out` or `in`."""


def describe_node(release: Release, node_id: str, turned: Group = ("", ""), page: int = 1) -> dict[str, Any] | None:
    """Return a node of a release by its id, or None if there is none.

    Each group of relations shows its first page of `PAGE` neighbours; the group `turned` shows page `page`, or the
    nearest page that exists. `count` is exact up to `MOST_COUNTED`; beyond it, `more` is true.
    """
    snapshot, schema = release.snapshot, release.snapshot.schema
    node = Node.objects.filter(snapshot_id=snapshot.pk, id=node_id).first() if "\x00" not in node_id else None
    if node is None:
        return None
    node_type = schema.node_types[node.type]
    groups = [
        _group(node, schema, relation, direction, page if turned == (relation.name, direction) else 1)
        for relation, direction in _possible(schema, node_type)
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


def _group(node: Node, schema: Schema, relation: Relation, direction: Direction, page: int) -> dict[str, Any]:
    near, far = ("source", "target") if direction == "out" else ("target", "source")
    edges = Edge.objects.filter(
        **{"snapshot_id": node.snapshot_id, "relation": schema.relation_codes[relation.name], near: node.key}
    )
    # Parallel edges lead to one neighbour: counted twice, they would make pages with nobody on them.
    neighbours = edges.order_by(far).values_list(far, flat=True).distinct()
    count = neighbours[: MOST_COUNTED + 1].count()
    shown = min(count, MOST_COUNTED)
    pages = max(1, -(-shown // PAGE))
    page = min(max(page, 1), pages)
    return {
        "relation": relation.name,
        "direction": direction,
        "wording": _wording(relation, direction),
        "count": shown,
        "more": count > MOST_COUNTED,
        "page": page,
        "pages": pages,
        "items": _neighbours(node, schema, edges, far, slice((page - 1) * PAGE, page * PAGE), shown) if count else [],
    }


def _wording(relation: Relation, direction: Direction) -> str:
    """Return the relation as seen from the node, in the schema's wording if it has one."""
    said = relation.inverse if direction == "in" else relation.description
    return said or words(relation.name)


def _neighbours(node: Node, schema: Schema, edges: Any, far: str, page: slice, count: int) -> list[dict[str, Any]]:
    nodes = Node.objects.filter(snapshot_id=node.snapshot_id).defer("aliases", "url", "fields")
    if count <= MOST_SORTED:
        found = list(nodes.filter(key__in=edges.values(far)).order_by("name", "key")[page])
    else:
        keys = list(edges.order_by(far).values_list(far, flat=True).distinct()[page])
        found = list(nodes.filter(key__in=keys).order_by("key"))
    properties = dict(edges.filter(**{f"{far}__in": [n.key for n in found]}).values_list(far, "properties"))
    return [
        {"id": n.id, "type": schema.node_types[n.type].name, "name": n.name, "properties": properties.get(n.key) or {}}
        for n in found
    ]
