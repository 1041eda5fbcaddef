"""The schema as a planner walks it: which relation leads from which node type to which, oddities folded away."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Direction, Schema

_RARE = 0.15
"""An odd end has at most so many edges for each edge of the main type there, and for each node of its own type: few of
the relation's edges end there, and few of the type's nodes have one."""


class SchemaStep(NamedTuple):
    """One hop of a metapath by codes: relation, direction, and the node type at its far end (the main one)."""

    relation: int
    direction: Direction
    to_type: int


class Metapath(NamedTuple):
    """A walk over node types: where it starts and its steps."""

    start: int
    steps: tuple[SchemaStep, ...] = ()

    @property
    def end(self) -> int:
        """Type code of the last node."""
        return self.steps[-1].to_type if self.steps else self.start

    def then(self, step: SchemaStep) -> Metapath:
        """Return the walk with one more step."""
        return Metapath(self.start, (*self.steps, step))


@dataclass(frozen=True, eq=False)
class Shape:
    """What a schema allows at the ends of its relations.

    Sources that identify entities by name alone merge homonyms, so that a film named 1984 takes the place of the year:
    `movie RELEASE_YEAR movie`, rare and odd. At such an end the node plays the *role* of the relation's main type.
    """

    schema: Schema

    def role(self, relation: int, near: Direction, node_type: int) -> int:
        """Return the type that a node plays where a hop over a relation in direction `near` starts."""
        return self._folds[relation, near].get(node_type, node_type)

    def allows(self, node_type: int, relation: int, direction: Direction) -> bool:
        """Whether nodes in that role start hops over the relation in that direction."""
        return node_type in self._ends[relation, direction]

    def roles(self, relation: int, near: Direction) -> NDArray[np.int16]:
        """Return the role of every node type at the near end of a hop, shape (types,)."""
        return self._roles[relation, near]

    def far_ends(self, node_type: int, relation: int, direction: Direction) -> frozenset[int]:
        """Return the types that a hop over the relation may end at, from nodes of that type or in that role."""
        return self._reached.get((node_type, relation, direction), frozenset())

    def share(self, node_type: int, relation: int, direction: Direction) -> float:
        """Return the share of the edges of a type's nodes that are of this relation and direction."""
        total = self._edges.get(node_type, 0)
        return self._counts[relation, direction].get(node_type, 0) / total if total else 0.0

    def mixed(self, step: SchemaStep) -> bool:
        """Whether nodes of other types play the type at the far end of a hop, and no other type is at home there."""
        far: Direction = "in" if step.direction == "out" else "out"
        return bool(self._folds[step.relation, far]) and len(self._ends[step.relation, far]) == 1

    @cached_property
    def _counts(self) -> dict[tuple[int, Direction], dict[int, int]]:
        """Edges by the type at their near end, for each relation and direction of walking."""
        counts: dict[tuple[int, Direction], dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for kind in self.schema.relation_types:
            relation = self.schema.relation_codes[kind.relation]
            counts[relation, "out"][self.schema.type_codes[kind.source]] += kind.count
            counts[relation, "in"][self.schema.type_codes[kind.target]] += kind.count
        return counts

    @cached_property
    def _edges(self) -> dict[int, int]:
        """Edges of the nodes of each type, in both directions."""
        edges: dict[int, int] = defaultdict(int)
        for counts in self._counts.values():
            for code, count in counts.items():
                edges[code] += count
        return edges

    @cached_property
    def _folds(self) -> dict[tuple[int, Direction], dict[int, int]]:
        folds: dict[tuple[int, Direction], dict[int, int]] = defaultdict(dict)
        for end, counts in self._counts.items():
            main = max(counts, key=lambda code: (counts[code], -code))
            for code, count in counts.items():
                if code != main and count <= _RARE * min(counts[main], self.schema.node_types[code].count):
                    folds[end][code] = main
        return folds

    @cached_property
    def _roles(self) -> dict[tuple[int, Direction], NDArray[np.int16]]:
        types = range(len(self.schema.node_types))
        return {
            end: np.array([folds.get(code, code) for code in types], dtype=np.int16)
            for end in self._counts
            for folds in [self._folds[end]]
        }

    @cached_property
    def _reached(self) -> dict[tuple[int, int, Direction], frozenset[int]]:
        reached: dict[tuple[int, int, Direction], set[int]] = defaultdict(set)
        for kind in self.schema.relation_types:
            relation = self.schema.relation_codes[kind.relation]
            source = self.role(relation, "out", self.schema.type_codes[kind.source])
            target = self.role(relation, "in", self.schema.type_codes[kind.target])
            reached[source, relation, "out"].add(target)
            reached[target, relation, "in"].add(source)
        return {key: frozenset(types) for key, types in reached.items()}

    @cached_property
    def _ends(self) -> dict[tuple[int, Direction], set[int]]:
        ends: dict[tuple[int, Direction], set[int]] = defaultdict(set)
        for end, counts in self._counts.items():
            ends[end] = set(counts) - set(self._folds[end])
        return ends
