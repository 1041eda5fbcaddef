"""Descriptions of candidates for a judge, shortened in two steps where a prompt would be too long.

AF-Retriever, section 3.2, step 8: the whole description has the texts of a node, the names of its neighbours, and those
of the neighbours of a neighbour that is the only one of its kind (relations 1-1 and n-1, seen from the candidate). The
first step leaves only the neighbours that the triplets were grounded with, the second none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from search.domain.graph import Direction, Node
from search.interfaces import Adjacency, Keys, NodeStore
from search.text import document, words

Shortening = Literal[0, 1, 2]
"""0: whole descriptions; 1: only relations with grounded entities; 2: no relations."""
SHORTENINGS: tuple[Shortening, ...] = (0, 1, 2)
LEFT_OUT = ("", "relations with other entities than the grounded ones are left out", "relations are left out")
"""What descriptions lack, by `Shortening`; a part of a sentence."""
SECOND_NAMES = 5
"""Most names of neighbours of a neighbour, for each relation."""
Way = tuple[int, Direction]


@dataclass
class Describer:
    """Describes nodes; `entities` are the keys of the grounded symbols other than the target, `names` bounds lists."""

    nodes: NodeStore
    adjacency: Adjacency
    entities: frozenset[int]
    names: int = 10
    relations: bool = True

    def describe(self, candidates: Sequence[Node], shortening: Shortening) -> list[str]:
        """Return the descriptions of whole nodes, in their order."""
        if shortening == 2 or not self.relations:
            return [document(node) for node in candidates]
        return ["\n".join([document(node), *self._lines(node, shortening)]) for node in candidates]

    def _lines(self, node: Node, shortening: Shortening) -> list[str]:
        """Return one line for each relation of a node, and one for each relation of its single neighbours."""
        key = np.array([node.key], dtype=np.int32)
        lines: list[str] = []
        for way in self.adjacency.has_edges(key):
            near = self.adjacency.neighbours(key, *way)
            if shortening == 1:
                near = near[[int(one) in self.entities for one in near]] if len(near) else near
            if not len(near):
                continue
            lines.append(f"{self._word(way)}: {self._named(near, self.names)}")
            if shortening == 0 and len(near) == 1 and self._is_single(node, way):
                lines += self._second(int(near[0]), node.key, way)
        return lines

    def _second(self, near: int, back_to: int, way: Way) -> list[str]:
        """Return lines on the relations of a single neighbour, without the candidate itself."""
        key = np.array([near], dtype=np.int32)
        lines = []
        for further in self.adjacency.has_edges(key):
            far = self.adjacency.neighbours(key, *further)
            far = far[far != back_to]
            if len(far):
                lines.append(f"{self._word(way)} → {self._word(further)}: {self._named(far, SECOND_NAMES)}")
        return lines

    def _is_single(self, node: Node, way: Way) -> bool:
        """Return whether no node of a node's type has several neighbours over a relation in a direction."""
        return self.adjacency.is_single(self.adjacency.schema.type_codes[node.type], *way)

    def _word(self, way: Way) -> str:
        relation, direction = way
        known = self.adjacency.schema.relations[relation]
        name = words(known.name)
        return name if direction == "out" else known.inverse or f"{name} (of)"

    def _named(self, keys: Keys, most: int) -> str:
        more = f"; and {len(keys) - most:,} more" if len(keys) > most else ""
        return "; ".join(node.name for node in self.nodes.references(keys[:most].tolist())) + more
