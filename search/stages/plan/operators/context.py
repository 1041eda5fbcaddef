"""What the functions of the grammar's rules may ask: the words of the schema, and how usual a relation is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from search.domain.graph import OPPOSITE, Direction
from search.stages.plan.derivation import Features
from search.stages.plan.schema_index import SchemaIndex

_GATHERED = 2.5
"""Least mean number of edges by which nodes of a type gather others."""
_RARE = 0.02
"""Share of a relation's edges below which the types that these lead to are rare ends of it."""
_MOST_LONGER = 4
"""Most ways over two relations that are tried between two sets."""
Made = tuple[Any, Features]
"""A meaning that a rule makes, and the features of this step beside that of the rule.

A `partial` instead of the meaning makes it: of many joins few are probable enough to be kept.
"""


class RelationWay(NamedTuple):
    """A relation from nodes of some types (`near`) to others (`reached`), and its share of the edges to these."""

    relation: int
    direction: Direction
    reached: int
    near: int
    share: float


@dataclass(frozen=True, eq=False)
class Context:
    """The schema that a question is read for."""

    schema: SchemaIndex
    _ways: dict[tuple[int, int], list[RelationWay]] = field(default_factory=dict)
    _far: dict[tuple[int, int, Direction], int] = field(default_factory=dict)
    _longer: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    _shares: dict[tuple[int, Direction, int], float] = field(default_factory=dict)

    def ways(self, types: int, to: int) -> list[RelationWay]:
        """Return the relations from nodes of some types to some types."""
        key = types, to
        found = self._ways.get(key)
        if found is None:
            found = []
            for relation, way in self.schema.steps:
                reached = self.far(types, relation, way) & to
                if reached:
                    near = self.schema.near(reached, relation, way) & types
                    found.append(RelationWay(relation, way, reached, near, self.share(relation, way, reached)))
            # Threads share this: what stands in the table is complete.
            found = self._ways[key] = sorted(found, key=lambda one: -one.share)
        return found

    def gathers(self, types: int) -> list[RelationWay]:
        """Return the relations over which nodes of some types gather many others, as categories and brands do."""
        return [
            one
            for one in self.ways(types, self.schema.all_types)
            if self._edges_from(types, one.relation, one.direction) >= _GATHERED * self._nodes(types)
        ]

    def _edges_from(self, types: int, relation: int, way: Direction) -> int:
        back = self._edges.get((relation, OPPOSITE[way]), {})
        return sum(count for code, count in back.items() if types >> code & 1)

    def _nodes(self, types: int) -> int:
        return sum(kind.count for code, kind in enumerate(self.schema.schema.node_types) if types >> code & 1)

    def longer(self, types: int, to: int) -> list[tuple[tuple[int, Direction, int], tuple[int, Direction, int], float]]:
        """Return the usual ways over two relations, the most usual first, with how usual each is, in [0, 1]."""
        key = types, to
        found = self._longer.get(key)
        if found is None:
            several = []
            for relation, way, middle, _, _ in self.ways(types, self.schema.all_types):
                for other, other_way, reached, near, _ in self.ways(middle, to):
                    back = relation == other and way != other_way
                    if not (back and self.schema.schema.relations[relation].mutual):
                        share = self.share(relation, way, near) * self.share(other, other_way, reached)
                        several.append(((relation, way, near), (other, other_way, reached), share))
            found = self._longer[key] = sorted(several, key=lambda one: -one[2])[:_MOST_LONGER]
        return found

    def share(self, relation: int, way: Direction, types: int) -> float:
        """Return the share of a relation among all edges that lead to some types, in [0, 1]."""
        known = self._shares.get((relation, way, types))
        if known is not None:
            return known
        own = total = 0
        for (at, one), count in self._edges.items():
            reached = sum(number for code, number in count.items() if types >> code & 1)
            total += reached
            own += reached if (at, one) == (relation, way) else 0
        found = self._shares[relation, way, types] = own / total if total else 0.0
        return found

    def far(self, types: int, relation: int, way: Direction) -> int:
        """Return the types that a relation leads to from nodes of some types, without rare ends of it.

        Those are mistakes of the data. What a walk finds may be of such a type nevertheless, in the usual one's role.
        """
        key = types, relation, way
        found = self._far.get(key)
        if found is None:
            usual = types & self._usual(relation, OPPOSITE[way])
            found = self._far[key] = self.schema.far(usual, relation, way) & self._usual(relation, way)
        return found

    def _usual(self, relation: int, way: Direction) -> int:
        """Return the types that more than hardly any edge of a relation leads to."""
        count = self._edges.get((relation, way), {})
        least = _RARE * sum(count.values())
        return sum(1 << code for code, number in count.items() if number >= least)

    @cached_property
    def _edges(self) -> dict[tuple[int, Direction], dict[int, int]]:
        schema = self.schema.schema
        found: dict[tuple[int, Direction], dict[int, int]] = {}
        for kind in schema.relation_types:
            for _, end, way in kind.ways:
                counts = found.setdefault((schema.relation_codes[kind.relation], way), {})
                code = schema.type_codes[end]
                counts[code] = counts.get(code, 0) + kind.count
        return found
