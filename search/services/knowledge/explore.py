"""explore: a part of the graph that grows by relations, from one node or from the paths of a result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from search import wiring
from search.domain.graph import DIRECTIONS, Direction, Node, Relation
from search.models import Release
from search.plan_words import relation_words

ADDED = 10
"""Nodes that one step adds at most."""
FIRST = 5
"""Neighbours over each relation that a node begins with."""
MOST_FIRST = 30
"""Nodes that a node begins with at most."""
MOST_NODES = 150
MOST_STEPS = 60
MOST_SORTED = 500
"""Neighbours up to this number are read and come by name; those of a larger hub come in the order of storage."""
FULL = f"{MOST_NODES} entities are shown, and no more fit. Undo a step, or explore from another entity."
NOT_FOLLOWED = "A step of this address does not fit this graph, and was left out."

Segment = tuple[int, int, Direction]
"""A node's key, a relation's code and a direction: the edges that one step opens."""


@dataclass(frozen=True, slots=True)
class ExploreStep:
    """Shows further neighbours of a node over one relation; the same step again shows the next ones."""

    node: str
    relation: str
    direction: str

    @classmethod
    def read(cls, text: str) -> ExploreStep | None:
        """Return the step that a text of an address means, or None."""
        direction, _, rest = text.partition(":")
        relation, apart, node = rest.partition(":")
        return cls(node, unquote(relation), direction) if apart and direction in DIRECTIONS else None

    def __str__(self) -> str:
        return f"{self.direction}:{quote(self.relation, safe='')}:{self.node}"


@dataclass(frozen=True, slots=True)
class Offer:
    """The neighbours of a node over one relation: how many there are and how many of them are shown.

    `opened` says that a step has asked for them, so that the rest is drawn as a group.
    """

    step: ExploreStep
    wording: str
    count: int
    shown: int
    opened: bool

    @property
    def rest(self) -> int:
        """The number of neighbours that are not shown."""
        return self.count - self.shown


@dataclass(frozen=True, slots=True)
class ExploredNode:
    """A shown node with its relations; `column` is its place on a path, counted back from the result, or None."""

    id: str
    type: str
    name: str
    first: bool
    column: int | None
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class ExploredEdge:
    """An edge between two shown nodes, in its stored direction; `first` if it is on a path of the result."""

    source: int
    target: int
    relation: str
    wording: str
    mutual: bool
    first: bool


@dataclass(frozen=True)
class Explored:
    """The shown nodes in the order in which they came, and every edge between two of them.

    Edges name nodes by position. `notes` are sentences on what could not be done.
    """

    nodes: tuple[ExploredNode, ...]
    edges: tuple[ExploredEdge, ...]
    notes: tuple[str, ...] = ()

    def rows(self) -> Iterator[list[Any]]:
        """Yield the table: a title row, a row for each edge, and one for each node without edges."""
        yield ["id", "type", "name", "relation", "to id", "to type", "to name"]
        for edge in self.edges:
            near, far = self.nodes[edge.source], self.nodes[edge.target]
            yield [near.id, near.type, near.name, edge.relation, far.id, far.type, far.name]
        joined = {at for edge in self.edges for at in (edge.source, edge.target)}
        for at, node in enumerate(self.nodes):
            if at not in joined:
                yield [node.id, node.type, node.name, "", "", "", ""]

    def to_json(self) -> dict[str, Any]:
        """Return nodes with the relations that can be opened, edges by ids, and the notes."""
        return {
            "nodes": [
                {
                    "id": node.id, "type": node.type, "name": node.name,
                    "relations": [
                        {
                            "relation": offer.step.relation, "direction": offer.step.direction,
                            "wording": offer.wording, "count": offer.count, "shown": offer.shown,
                            "open": str(offer.step),
                        }
                        for offer in node.offers
                    ],
                }
                for node in self.nodes
            ],
            "edges": [
                {"source": self.nodes[edge.source].id, "relation": edge.relation, "target": self.nodes[edge.target].id}
                for edge in self.edges
            ],
            "notes": list(self.notes),
        }  # fmt: skip


def explore(
    release: Release, node_id: str, paths: Sequence[Sequence[Mapping[str, Any]]] = (), steps: Sequence[str] = ()
) -> Explored | None:
    """Return the nodes of `paths`, or without paths a node with its first neighbours, and what the steps add to them.

    `paths` have the form of `evidence.paths` and end at the node. None if the release has no such node. The index files
    of the release must be on this machine. A step reads no more than `MOST_SORTED` neighbours.
    """
    tools = wiring.tools(release)
    [start] = tools.nodes.keys([node_id])
    if start is None:
        return None
    growing = _Growing(tools, start)
    if paths:
        growing.begin_with_paths(paths)
    else:
        growing.begin_with_neighbours()
    growing.follow(steps)
    return growing.explored()


class _Growing:
    """Keys of nodes in the order in which they come, with the segments that were opened."""

    def __init__(self, tools: wiring.Tools, start: int) -> None:
        self.tools, self.graph, self.schema = tools, tools.adjacency, tools.schema
        self.start = start
        self.keys: dict[int, None] = {start: None}
        self.columns: dict[int, int] = {}
        self.path_edges: set[tuple[int, str, int]] = set()
        self.opened: dict[Segment, None] = {}
        self.notes: dict[str, None] = {}

    def begin_with_paths(self, paths: Sequence[Sequence[Mapping[str, Any]]]) -> None:
        for path in paths:
            keys = self.tools.nodes.keys([item["node"]["id"] for item in path[0::2]])
            for back, key in enumerate(reversed(keys)):
                if key is not None and (key in self.keys or len(self.keys) < MOST_NODES):
                    self.keys[key] = None
                    self.columns[key] = max(back, self.columns.get(key, 0))
            for edge, near, far in zip(path[1::2], keys, keys[1:], strict=False):
                if near is not None and far is not None:
                    ends = (near, far) if edge["direction"] == "out" else (far, near)
                    self.path_edges.add((ends[0], edge["relation"], ends[1]))

    def begin_with_neighbours(self) -> None:
        for relation, direction in self.graph.counts(np.array([self.start])):
            segment: Segment = (self.start, relation, direction)
            self.opened[segment] = None
            self._add(segment, min(FIRST, MOST_FIRST - len(self.keys)))

    def follow(self, steps: Sequence[str]) -> None:
        for text in steps[:MOST_STEPS]:
            step = ExploreStep.read(text)
            segment = self._segment(step) if step else None
            if segment is None:
                self.notes[NOT_FOLLOWED] = None
                continue
            self.opened[segment] = None
            self._add(segment, ADDED)
        if len(steps) > MOST_STEPS:
            self.notes[f"Only the first {MOST_STEPS} steps of this address were followed."] = None

    def _segment(self, step: ExploreStep) -> Segment | None:
        [key] = self.tools.nodes.keys([step.node])
        code = self.schema.relation_codes.get(step.relation)
        if key is None or key not in self.keys or code is None:
            return None
        direction: Direction = "out" if step.direction == "out" else "in"
        return (key, code, direction) if self.graph.degree(key, code, direction) else None

    def _add(self, segment: Segment, most: int) -> None:
        key, relation, direction = segment
        count = self.graph.degree(key, relation, direction)
        # Of a hub, as many are read as may be shown already, and those that come.
        near = self.graph.part(key, relation, direction, 0, count if count <= MOST_SORTED else len(self.keys) + most)
        fresh = [one for one in near.tolist() if one not in self.keys]
        if count <= MOST_SORTED:
            names = {node.key: node.name.casefold() for node in self.tools.nodes.references(fresh)}
            fresh.sort(key=lambda one: (names[one], one))
        room = MOST_NODES - len(self.keys)
        if room < min(most, len(fresh)):
            self.notes[FULL] = None
        self.keys.update(dict.fromkeys(fresh[: max(0, min(most, room))]))

    def explored(self) -> Explored:
        keys = np.array(list(self.keys))
        counts = self.graph.counts_of([keys[at : at + 1] for at in range(len(keys))])
        edges = self._edges(keys, counts)
        shown: dict[tuple[int, str, str], set[int]] = {}
        for edge in edges:
            shown.setdefault((edge.source, edge.relation, "out"), set()).add(edge.target)
            shown.setdefault((edge.target, edge.relation, "in"), set()).add(edge.source)
        nodes = tuple(
            self._node(at, node, counts[at], shown)
            for at, node in enumerate(self.tools.nodes.references(keys.tolist()))
        )
        return Explored(nodes, edges, tuple(self.notes))

    def _node(
        self, at: int, node: Node, counts: Mapping[tuple[int, Direction], int],
        shown: Mapping[tuple[int, str, str], set[int]],
    ) -> ExploredNode:  # fmt: skip
        offers = []
        for (code, direction), count in sorted(counts.items()):
            relation = self.schema.relations[code]
            offers.append(
                Offer(
                    ExploreStep(node.id, relation.name, direction),
                    relation_words(relation.name, direction, self.schema.wordings), count,
                    len(shown.get((at, relation.name, direction), ())), (node.key, code, direction) in self.opened,
                )
            )  # fmt: skip
        return ExploredNode(
            node.id, node.type, node.name, node.key == self.start, self.columns.get(node.key), tuple(offers)
        )

    def _edges(
        self, keys: np.ndarray[Any, Any], counts: Iterable[Mapping[tuple[int, Direction], int]]
    ) -> tuple[ExploredEdge, ...]:
        """Return every edge between two of the keys: for each relation, each pair is looked up by binary search."""
        sources: dict[int, list[int]] = {}
        for at, own in enumerate(counts):
            for code, direction in own:
                if direction == "out":
                    sources.setdefault(code, []).append(at)
        edges = []
        for code, near in sorted(sources.items()):
            pairs = np.repeat(near, len(keys)), np.tile(np.arange(len(keys)), len(near))
            there = self.graph.joined(keys[pairs[0]], keys[pairs[1]], code, "out")
            relation = self.schema.relations[code]
            for source, target in zip(pairs[0][there].tolist(), pairs[1][there].tolist(), strict=True):
                edges.append(self._edge(keys, relation, source, target))
        return tuple(edges)

    def _edge(self, keys: np.ndarray[Any, Any], relation: Relation, source: int, target: int) -> ExploredEdge:
        on_path = (int(keys[source]), relation.name, int(keys[target])) in self.path_edges
        return ExploredEdge(
            source,
            target,
            relation.name,
            relation_words(relation.name, "out", self.schema.wordings),
            relation.mutual,
            on_path,
        )
