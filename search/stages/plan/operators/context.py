"""What the functions of the grammar's rules may ask: the words of the schema, and how usual a relation is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from search.domain.graph import Direction
from search.stages.plan.derivation import Features
from search.stages.plan.schema_index import SchemaIndex

Made = tuple[Any, Features]
"""A meaning that a rule makes, and the features of this step beside that of the rule."""


@dataclass(frozen=True, eq=False)
class Context:
    """The schema that a question is read for."""

    schema: SchemaIndex

    def share(self, relation: int, way: Direction, types: int) -> float:
        """Return the share of a relation among all edges that lead to some types, in [0, 1]."""
        own = total = 0
        for (at, one), count in self._edges.items():
            reached = sum(number for code, number in count.items() if types >> code & 1)
            total += reached
            own += reached if (at, one) == (relation, way) else 0
        return own / total if total else 0.0

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
