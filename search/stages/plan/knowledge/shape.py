"""The schema for planning: the node types that each relation connects, with rare types replaced by the main one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Direction, Schema

_GATHERED = 2.5
"""Least mean number of edges by which the nodes of a type gather others."""
_RARE = 0.15
"""Largest ratio for a rare type at an end of a relation. Its edges there are at most this share of the main type's
edges there, and at most this share of the number of nodes of the rare type."""


@dataclass(frozen=True, eq=False)
class GraphShape:
    """The node types that a schema allows at the ends of its relations.

    Some sources identify entities by name alone and so merge nodes with the same name. A film named 1984 then takes the
    place of the year: `movie RELEASE_YEAR movie`. A type that is rare at an end of a relation, as the film is here,
    plays the *role* of the main type there.
    """

    schema: Schema

    def role(self, relation: int, near: Direction, node_type: int) -> int:
        """Return the role of a node type at the start of a hop over a relation in direction `near`."""
        return self._folds[relation, near].get(node_type, node_type)

    def roles(self, relation: int, near: Direction) -> NDArray[np.int16]:
        """Return the role of every node type at the start of a hop in direction `near`, shape (types,)."""
        return self._roles[relation, near]

    def far_ends(self, node_type: int, relation: int, direction: Direction) -> frozenset[int]:
        """Return the roles at the end of a hop over the relation, from nodes in the role `node_type`."""
        return self._reached.get((node_type, relation, direction), frozenset())

    @cached_property
    def gathering(self) -> frozenset[int]:
        """The types whose nodes gather many others over some relation, as categories, materials and topics do."""
        return frozenset(
            self.schema.type_codes[one.target]
            for one in self.schema.relation_types
            if one.source != one.target
            and one.count >= _GATHERED * self.schema.node_types[self.schema.type_codes[one.target]].count
        )

    @cached_property
    def _counts(self) -> dict[tuple[int, Direction], dict[int, int]]:
        """Number of edges by the type at their near end, for each relation and direction of walking."""
        counts: dict[tuple[int, Direction], dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for kind in self.schema.relation_types:
            relation = self.schema.relation_codes[kind.relation]
            counts[relation, "out"][self.schema.type_codes[kind.source]] += kind.count
            counts[relation, "in"][self.schema.type_codes[kind.target]] += kind.count
        return counts

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
