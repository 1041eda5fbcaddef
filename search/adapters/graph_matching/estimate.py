"""How many edges a walk reads, told before it is walked: by degrees where nodes are known, by averages elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from search.adapters.graph_matching.order import directions
from search.domain.graph import ANY, Direction, Schema
from search.domain.plan import Hop
from search.interfaces import Adjacency

Types = Mapping[str, frozenset[int]]

MOST_ROWS = 200_000
"""Partial matches that a statement carries on at a time; reading so many takes a part of a second."""
LOOK_UP = 8
"""Edges that are read in the time that one takes to be looked up by both of its ends."""
SMALL = 20_000
"""Rows that are read in a moment: below this the order of hops is chosen by other reasons than their number."""


class Estimate:
    """Expected sizes for one plan; `known` are the keys that a variable can only have (anchors, a target asked for).

    Without an adjacency the degrees of known nodes count as the average of their type.
    """

    def __init__(
        self, schema: Schema, types: Types, known: Mapping[str, Sequence[int]], adjacency: Adjacency | None
    ) -> None:
        self._schema = schema
        self._types = types
        self._known = known
        self._adjacency = adjacency
        self._degrees: dict[str, dict[tuple[int, Direction], int]] = {}

    def edges(self, hop: Hop, near: str, far: str, rows: float) -> float:
        """Return how many edges lead from `rows` partial matches, over a hop, from its end `near` to its end `far`."""
        known = self._known.get(near)
        if known is not None and self._adjacency is not None:
            return rows * self._from_known(hop, near, far, known, self._adjacency) / max(len(known), 1)
        return rows * self._average(hop, near, far)

    def nodes(self, var: str) -> int:
        """Return how many nodes a variable can take."""
        known = self._known.get(var)
        return max(1, self._nodes_of(var) if known is None else len(known))

    def burden(self, edges: float) -> int:
        """Return 0 for what is read in a moment, and one more for every further power of ten."""
        return 0 if edges <= SMALL else 1 + int(math.log10(edges / SMALL))

    def _from_known(self, hop: Hop, near: str, far: str, keys: Sequence[int], adjacency: Adjacency) -> int:
        if near not in self._degrees:
            self._degrees[near] = adjacency.counts(np.array(sorted(keys), dtype=np.int32))
        wanted = None if hop.rel == ANY else self._schema.relation_codes[hop.rel]
        ways = self._ways(hop, near)
        found = self._degrees[near].items()
        return sum(count for (code, way), count in found if way in ways and wanted in (None, code))

    def _average(self, hop: Hop, near: str, far: str) -> float:
        """Return the mean number of such edges of a node of the types that `near` may have."""
        here, there = self._types.get(near), self._types.get(far)
        ways = self._ways(hop, near)
        total = 0
        for (source, target), count in self._schema.edges_between.get(hop.rel, {}).items():
            for way, one, two in (("out", source, target), ("in", target, source)):
                if way in ways and (here is None or one in here) and (there is None or two in there):
                    total += count
        return total / max(1, self._nodes_of(near))

    def _ways(self, hop: Hop, near: str) -> set[Direction]:
        """Return in which stored directions, seen from `near`, the hop can be walked."""
        stored = directions(hop, self._types, self._schema)
        turned: dict[Direction, Direction] = {"out": "in", "in": "out"}
        return set(stored) if near == hop.source else {turned[way] for way in stored}

    def _nodes_of(self, var: str) -> int:
        codes = self._types.get(var)
        return sum(kind.count for code, kind in enumerate(self._schema.node_types) if codes is None or code in codes)
