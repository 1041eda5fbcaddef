"""Estimates how many edges a walk reads: by degrees for known nodes, by averages of node types otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from search.adapters.graph_matching.order import directions
from search.domain.graph import ANY, OPPOSITE, Direction, Schema
from search.domain.plan import Hop
from search.interfaces import Adjacency

Types = Mapping[str, frozenset[int]]
"""Variable → codes of the node types that it may have; variables of any type are absent."""

MOST_ROWS = 200_000
"""Most partial matches that one step of a statement passes on; reading this many takes a fraction of a second."""
LOOK_UP = 8
"""Cost of looking up one edge by both of its ends, in sequential edge reads."""
SMALL = 20_000
"""Edges up to which a read is considered free: below this, the order of hops does not depend on their number."""


class WalkEstimate:
    """Expected sizes for one plan; `known` maps a variable to its only possible keys (an anchor, a requested target).

    Without an adjacency, known nodes are assumed to have the average degree of their type.
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
        """Return the expected number of edges of a hop from `rows` partial matches, from end `near` to end `far`."""
        known = self._known.get(near)
        if known is not None and self._adjacency is not None:
            return rows * self._from_known(hop, near, far, known, self._adjacency) / max(len(known), 1)
        return rows * self._average(hop, near, far)

    def nodes(self, var: str) -> int:
        """Return the number of nodes that a variable can take, at least 1."""
        known = self._known.get(var)
        return max(1, self._nodes_of(var) if known is None else len(known))

    def burden(self, edges: float) -> int:
        """Return the cost class of reading `edges` edges: 0 up to `SMALL`, then one more for each power of ten."""
        return 0 if edges <= SMALL else 1 + int(math.log10(edges / SMALL))

    def _from_known(self, hop: Hop, near: str, far: str, keys: Sequence[int], adjacency: Adjacency) -> int:
        if near not in self._degrees:
            self._degrees[near] = adjacency.counts(np.array(sorted(keys), dtype=np.int32))
        wanted = None if hop.rel == ANY else self._schema.relation_codes[hop.rel]
        ways = self._ways(hop, near)
        found = self._degrees[near].items()
        return sum(count for (code, way), count in found if way in ways and wanted in (None, code))

    def _average(self, hop: Hop, near: str, far: str) -> float:
        """Return the mean number of edges for the hop over all nodes of the types that `near` may have."""
        here, there = self._types.get(near), self._types.get(far)
        ways = self._ways(hop, near)
        total = 0
        for (source, target), count in self._schema.edges_between.get(hop.rel, {}).items():
            for way, one, two in (("out", source, target), ("in", target, source)):
                if way in ways and (here is None or one in here) and (there is None or two in there):
                    total += count
        return total / max(1, self._nodes_of(near))

    def _ways(self, hop: Hop, near: str) -> set[Direction]:
        """Return the stored directions, seen from `near`, in which the hop can be walked."""
        stored = directions(hop, self._types, self._schema)
        return set(stored) if near == hop.source else {OPPOSITE[way] for way in stored}

    def _nodes_of(self, var: str) -> int:
        codes = self._types.get(var)
        return sum(kind.count for code, kind in enumerate(self._schema.node_types) if codes is None or code in codes)
