"""The schema for planning: the node types that each relation connects, with rare types replaced by the main one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import OPPOSITE, Direction, Relation, Schema
from search.language.words import KIND_WORDS
from search.text import words

_GATHERED = 2.5
"""Least mean number of edges by which the nodes of a type gather others."""
_RARE = 0.15
"""Largest ratio for a rare type at an end of a relation. Its edges there are at most this share of the main type's
edges there, and at most this share of the number of nodes of the rare type."""


class SchemaStep(NamedTuple):
    """One hop of a metapath in codes: relation, direction, and the role (a node type) at its far end."""

    relation: int
    direction: Direction
    to_type: int


class Metapath(NamedTuple):
    """A walk over node types: the code of the first type, and the steps."""

    start: int
    steps: tuple[SchemaStep, ...] = ()

    @property
    def end(self) -> int:
        """Type code of the last node."""
        return self.steps[-1].to_type if self.steps else self.start

    def then(self, step: SchemaStep) -> Metapath:
        """Return the walk with one more step."""
        return Metapath(self.start, (*self.steps, step))


def _phrases(relation: Relation) -> list[list[str]]:
    return [words(one).split() for one in (relation.name, relation.description)]


@dataclass(frozen=True, eq=False)
class Shape:
    """The node types that a schema allows at the ends of its relations.

    Some sources identify entities by name alone and so merge nodes with the same name. A film named 1984 then takes the
    place of the year: `movie RELEASE_YEAR movie`. A type that is rare at an end of a relation, as the film is here,
    plays the *role* of the main type there.
    """

    schema: Schema

    def role(self, relation: int, near: Direction, node_type: int) -> int:
        """Return the role of a node type at the start of a hop over a relation in direction `near`."""
        return self._folds[relation, near].get(node_type, node_type)

    def allows(self, node_type: int, relation: int, direction: Direction) -> bool:
        """Whether a hop over the relation in that direction can start from nodes in the role `node_type`."""
        return node_type in self._ends[relation, direction]

    def roles(self, relation: int, near: Direction) -> NDArray[np.int16]:
        """Return the role of every node type at the start of a hop in direction `near`, shape (types,)."""
        return self._roles[relation, near]

    def far_ends(self, node_type: int, relation: int, direction: Direction) -> frozenset[int]:
        """Return the roles at the end of a hop over the relation, from nodes in the role `node_type`."""
        return self._reached.get((node_type, relation, direction), frozenset())

    def hops(self, node_type: int, relation: int, direction: Direction) -> tuple[SchemaStep, ...]:
        """Return the hops over the relation from nodes in the role `node_type`, one for each role at its end."""
        return self._hops.get((node_type, relation, direction), ())

    def share(self, node_type: int, relation: int, direction: Direction) -> float:
        """Return the share, in [0, 1], of this relation and direction among all edges of a type's nodes."""
        total = self._edges.get(node_type, 0)
        return self._counts[relation, direction].get(node_type, 0) / total if total else 0.0

    def narrows(self, relation: int, direction: Direction) -> bool:
        """Whether a hop leads from something to its kinds or parts, over a relation like `is a form of`."""
        return direction == "in" and relation in self._of_kinds

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
    def _of_kinds(self) -> frozenset[int]:
        """The relations that join a kind or part with the whole."""
        return frozenset(
            at
            for at, one in enumerate(self.schema.relations)
            if any(said[-1:] == ["of"] and KIND_WORDS & set(said) for said in _phrases(one))
        )

    def mixed(self, step: SchemaStep) -> bool:
        """Whether the far end of a hop has a single role, which nodes of other types play as well."""
        far: Direction = OPPOSITE[step.direction]
        return bool(self._folds[step.relation, far]) and len(self._ends[step.relation, far]) == 1

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
    def _edges(self) -> dict[int, int]:
        """Number of edges of the nodes of each type, in both directions together."""
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
    def _hops(self) -> dict[tuple[int, int, Direction], tuple[SchemaStep, ...]]:
        return {
            (code, relation, direction): tuple(SchemaStep(relation, direction, far) for far in sorted(types))
            for (code, relation, direction), types in self._reached.items()
        }

    @cached_property
    def _ends(self) -> dict[tuple[int, Direction], set[int]]:
        ends: dict[tuple[int, Direction], set[int]] = defaultdict(set)
        for end, counts in self._counts.items():
            ends[end] = set(counts) - set(self._folds[end])
        return ends
