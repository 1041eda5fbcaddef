"""paths_between: the shortest paths between two nodes of a release, with many nodes of a type in one group."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search import wiring
from search.domain.graph import Direction, Node
from search.interfaces import Keys
from search.models import Release
from search.services.knowledge.describe_node import graph_of
from search.shortest_paths import MOST_HOPS, Between, WalkedEdge, best_paths, degrees_of, shortest_paths

ALONE = 4
"""Nodes of a type that a layer shows one by one; more become a group."""
OPENED = 12
"""Nodes that an opened group shows, those with the fewest edges; the rest stays a group."""
LISTED = 50
"""Paths on one page of the list."""
EXPORTED = 10_000
"""Most paths of a table to download."""
Group = tuple[int, str]
"""The layer of a group, from 1, and the node type of its nodes."""


@dataclass(frozen=True)
class PathBox:
    """One node (`node`), or `count` nodes of a type in one box; `group` is what opens it, or lists its nodes."""

    type: str
    count: int
    node: Node | None = None
    group: Group | None = None
    rest: bool = False


@dataclass(frozen=True, slots=True)
class PathLink:
    """The edges between two boxes of neighbouring layers over one relation in one direction."""

    near: int
    far: int
    relation: str
    direction: Direction
    count: int


@dataclass(frozen=True)
class PathsBetween:
    """The paths between two nodes. `layers` are the boxes from left to right, `links[n]` those between n and n + 1.

    `reason` is a sentence where there are no paths.
    """

    release: Release
    start: Node
    end: Node
    between: Between = field(default_factory=Between)
    layers: Sequence[Sequence[PathBox]] = ()
    links: Sequence[Sequence[PathLink]] = ()
    reason: str = ""

    @cached_property
    def count(self) -> int:
        """Number of different paths."""
        return self.between.paths

    @property
    def types_between(self) -> list[str]:
        """Types of the nodes between the two, which may be left out."""
        return list(dict.fromkeys(box.type for layer in self.layers[1:-1] for box in layer))

    def paths(self, first: int, most: int) -> list[list[dict[str, Any]]]:
        """Return paths from position `first` on, over specific nodes first, in the form of `evidence.paths`."""
        tools = wiring.tools(self.release)
        found = best_paths(self.between, lambda keys: degrees_of(tools.adjacency, keys))
        chosen = list(islice(found, first, first + most))
        keys = sorted({key for path in chosen for edge in path for key in (edge.near, edge.far)})
        nodes = dict(zip(keys, tools.nodes.references(keys), strict=True))
        return [_path(path, nodes, tools) for path in chosen]

    def rows(self) -> Iterator[list[str]]:
        """Yield the paths as rows of a table, with a row of titles; up to `EXPORTED` of them."""
        titles = ["id", "type", "name"]
        yield [*titles, *(title for hop in range(1, self.between.hops + 1) for title in _titles(hop))]
        for path in self.paths(0, EXPORTED):
            yield [
                cell
                for item in path
                for cell in (
                    [item["node"]["id"], item["node"]["type"], item["node"]["name"]]
                    if "node" in item
                    else [item["relation"], item["direction"]]
                )
            ]

    def members(self, group: Group, first: int, most: int) -> tuple[int, list[Node]]:
        """Return how many nodes of a type a layer has, and a page of them, those with the fewest edges first."""
        tools = wiring.tools(self.release)
        at, label = group
        if not 0 < at < len(self.between.layers) - 1 or label not in tools.schema.type_codes:
            return 0, []
        layer = self.between.layers[at]
        own = _by_edges(tools, layer[tools.adjacency.types[layer] == tools.schema.type_codes[label]])
        return len(own), tools.nodes.references(own[first : first + most].tolist())


def paths_between(
    release: Release,
    start_id: str,
    end_id: str,
    hops: int = MOST_HOPS,
    opened: Collection[Group] = (),
    without: Collection[str] = (),
) -> PathsBetween | None:
    """Return the shortest paths of at most `hops` edges between two nodes, or None if one of them does not exist.

    The groups in `opened` show `OPENED` of their nodes one by one; nodes of the types in `without` are left out.
    """
    if graph_of(release) is None:
        return None
    tools = wiring.tools(release)
    start, end = tools.nodes.keys([start_id, end_id])
    if start is None or end is None:
        return None
    first, last = tools.nodes.references([start, end])
    if start == end:
        return PathsBetween(release, first, last, reason="Both are the same entity. Choose two different ones.")
    codes = [code for name, code in tools.schema.type_codes.items() if name in without]
    between = shortest_paths(tools.adjacency, start, end, hops, without=codes)
    if not between.steps:
        return PathsBetween(release, first, last, between, reason=_none(hops, between, bool(codes)))
    layers, boxes_of = _boxes(tools, between, opened)
    links = [
        _links(tools, between, at, boxes_of[at], boxes_of[at + 1], len(layers[at + 1])) for at in range(between.hops)
    ]
    return PathsBetween(release, first, last, between, layers, links)


def _none(hops: int, between: Between, narrowed: bool) -> str:
    within = f"No path of at most {hops} step{'s' if hops > 1 else ''} leads from one to the other"
    if narrowed:
        return f"{within} without the types that are left out."
    if between.passed_over:
        return f"{within}, as far as could be looked: {between.passed_over:,} entities have too many relations to read."
    return f"{within}."


def _titles(hop: int) -> list[str]:
    return [f"relation {hop}", f"direction {hop}", f"id {hop}", f"type {hop}", f"name {hop}"]


def _by_edges(tools: wiring.Tools, keys: Keys) -> Keys:
    return keys[np.argsort(degrees_of(tools.adjacency, keys), kind="stable")]


def _boxes(
    tools: wiring.Tools, between: Between, opened: Collection[Group]
) -> tuple[list[list[PathBox]], list[NDArray[np.int64]]]:
    """Return the boxes of each layer, and for each node of each layer the index of its box."""
    layers, boxes_of = [], []
    names = [node_type.name for node_type in tools.schema.node_types]
    for at, layer in enumerate(between.layers):
        codes = tools.adjacency.types[layer]
        boxes: list[PathBox] = []
        box_of = np.zeros(len(layer), dtype=np.int64)
        for code in np.unique(codes).tolist():
            own = layer[codes == code]
            shown = _by_edges(tools, own)[
                : OPENED if (at, names[code]) in opened else ALONE if len(own) <= ALONE else 0
            ]
            group = (at, names[code])
            if len(shown) < len(own):
                box_of[codes == code] = len(boxes) + len(shown)
            box_of[np.searchsorted(layer, shown)] = len(boxes) + np.arange(len(shown))
            boxes += [PathBox(node.type, 1, node, group) for node in tools.nodes.references(shown.tolist())]
            if len(shown) < len(own):
                boxes.append(PathBox(names[code], len(own) - len(shown), None, group, rest=len(shown) > 0))
        layers.append(boxes)
        boxes_of.append(box_of)
    return layers, boxes_of


def _links(
    tools: wiring.Tools, between: Between, at: int, near: NDArray[np.int64], far: NDArray[np.int64], boxes: int
) -> list[PathLink]:
    """Return the edges of a step, counted by the boxes of their ends, their relation and their direction."""
    step = between.steps[at]
    one = near[np.searchsorted(between.layers[at], step.near)]
    other = far[np.searchsorted(between.layers[at + 1], step.far)]
    relations = len(tools.schema.relations)
    codes, counts = np.unique(
        ((one * boxes + other) * relations + step.relation) * 2 + step.forward, return_counts=True
    )
    links = []
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        pair, relation = divmod(code // 2, relations)
        name = tools.schema.relations[relation].name
        links.append(PathLink(pair // boxes, pair % boxes, name, "out" if code % 2 else "in", count))
    return links


def _path(path: Sequence[WalkedEdge], nodes: dict[int, Node], tools: wiring.Tools) -> list[dict[str, Any]]:
    items = [_item(nodes[path[0].near])]
    for edge in path:
        relation = tools.schema.relations[edge.relation].name
        items += [{"relation": relation, "direction": "out" if edge.forward else "in"}, _item(nodes[edge.far])]
    return items


def _item(node: Node) -> dict[str, Any]:
    return {"node": {"id": node.id, "type": node.type, "name": node.name}, "var": ""}
