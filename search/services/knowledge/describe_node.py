"""describe_node: the one projection of a node to JSON: its fields, and its relations grouped and paged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from search.domain.graph import Direction, Field, NodeType, Relation, Schema
from search.models import Edge, Node, Release
from search.text import words

PAGE = 50
COUNTED = 10_000
"""Edges of one group are counted up to here: the page of a hub costs no more than that of another node."""
SORTED = 2_000
"""Groups up to this size are in the order of names, larger ones in that of ids, which is how they are stored."""

Group = tuple[str, str]
"""A relation's name and a direction, `out` or `in`."""


def describe_node(release: Release, node_id: str, turned: Group = ("", ""), page: int = 1) -> dict[str, Any] | None:
    """Return a node of a release by its id, None when there is none.

    Each group of relations shows its first page of 50 neighbours, but `turned` shows the page asked for, kept within
    what there is. `count` is exact up to 10,000; beyond that `more` is true.
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
    """Return the fields that the node has, in the order of its type, then whatever the type does not know."""
    known = {field.name: field for field in node_type.fields}
    names = [name for name in known if name in node.fields] + [name for name in node.fields if name not in known]
    return [
        {"name": name, "kind": known.get(name, Field(name)).kind, "value": node.fields[name]}
        for name in names
        if node.fields[name] not in ("", [], None)
    ]


def _possible(schema: Schema, node_type: NodeType) -> Iterator[tuple[Relation, Direction]]:
    """Give every relation and direction over which a node of that type may have edges, in the order of the schema."""
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
    count = neighbours[: COUNTED + 1].count()
    shown = min(count, COUNTED)
    pages = max(1, -(-shown // PAGE))
    page = min(max(page, 1), pages)
    return {
        "relation": relation.name,
        "direction": direction,
        "wording": _wording(relation, direction),
        "count": shown,
        "more": count > COUNTED,
        "page": page,
        "pages": pages,
        "items": _neighbours(node, schema, edges, far, slice((page - 1) * PAGE, page * PAGE), shown) if count else [],
    }


def _wording(relation: Relation, direction: Direction) -> str:
    """Say the relation as seen from the node, in the schema's own words where it has some."""
    said = relation.inverse if direction == "in" else relation.description
    return said or words(relation.name)


def _neighbours(node: Node, schema: Schema, edges: Any, far: str, page: slice, count: int) -> list[dict[str, Any]]:
    nodes = Node.objects.filter(snapshot_id=node.snapshot_id).defer("aliases", "url", "fields")
    if count <= SORTED:
        found = list(nodes.filter(key__in=edges.values(far)).order_by("name", "key")[page])
    else:
        keys = list(edges.order_by(far).values_list(far, flat=True).distinct()[page])
        found = list(nodes.filter(key__in=keys).order_by("key"))
    properties = dict(edges.filter(**{f"{far}__in": [n.key for n in found]}).values_list(far, "properties"))
    return [
        {"id": n.id, "type": schema.node_types[n.type].name, "name": n.name, "properties": properties.get(n.key) or {}}
        for n in found
    ]
