"""Executes sets on the memory-mapped graph and columns of a release, each set once for a question.

What is found agrees with the plan that `compose` writes of a set: a walk from named nodes does not come back to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import DIRECTIONS, OPPOSITE, Direction
from search.domain.plan.parts import Aggregate
from search.domain.values import as_number, period
from search.interfaces import Adjacency, Columns, Keys
from search.joined_nodes import Steps, joined, numbers_of_joined
from search.stages.plan.sets import (
    Compared,
    Counted,
    Either,
    Kind,
    Meet,
    Named,
    NodeSet,
    OfEdge,
    Top,
    Walk,
    Where,
    WhereCount,
    Without,
    codes,
    walk_over,
    within,
)

_NONE = np.empty(0, dtype=np.int32)
_MOST_KEPT = 64
"""Most sets that are kept for later questions."""
_COMPARE = {
    "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_REDUCE: dict[Aggregate, Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]]] = {
    "sum": np.add.reduceat, "min": np.minimum.reduceat, "max": np.maximum.reduceat,
    "mean": lambda values, first: np.add.reduceat(values, first) / np.diff(first, append=len(values)),
}  # fmt: skip
"""What is computed from the values of each node, which stand together; `first` is where those of a node begin."""


@dataclass
class Trial:
    """Executes the sets of one question. `most_edges` bounds what one walk reads; a larger one is not executed.

    `of_kinds` holds what walks from all nodes of some types find, which is the same for every question of a release.
    """

    adjacency: Adjacency
    columns: Columns
    playing: Callable[[int, int, Direction], int] = lambda types, relation, direction: types
    dated: frozenset[tuple[int, str]] = frozenset()
    most_edges: int = 2_000_000
    of_kinds: dict[NodeSet, Keys] = field(default_factory=dict)
    _found: dict[NodeSet, Keys] = field(default_factory=dict)
    _sorted: dict[tuple[int, str], tuple[Keys, NDArray[np.float64]]] = field(default_factory=dict)

    def __call__(self, of: NodeSet) -> Keys:
        """Return the sorted keys of the nodes of a set."""
        known = self._found
        if isinstance(of, Walk) and isinstance(of.of, Kind):
            known = self.of_kinds
            if len(known) >= _MOST_KEPT and of not in known:
                known.clear()
        found = known.get(of)
        if found is None:
            found = known[of] = self._execute(of)
        return found

    def _execute(self, of: NodeSet) -> Keys:
        execute: Callable[[Any], Keys] = self._ways_to_execute[type(of)]
        return execute(of)

    @cached_property
    def _ways_to_execute(self) -> dict[type, Callable[[Any], Keys]]:
        return {
            Kind: lambda of: self.adjacency.of_types(codes(of.types)),
            Named: lambda of: np.array(sorted(of.keys), dtype=np.int32),
            Walk: self._walked,
            Meet: lambda of: self._met(of.types, of.one, of.other),
            Either: lambda of: self._typed(np.union1d(self(of.one), self(of.other)), of.types),
            Where: self._where,
            WhereCount: self._where_count,
            Top: self._top,
            Without: lambda of: np.setdiff1d(self(of.of), self(of.other), assume_unique=True),
            Compared: self._compared,
        }

    def _met(self, types: int, one: NodeSet, other: NodeSet) -> Keys:
        if isinstance(one, Kind) or isinstance(other, Kind):
            kept = other if isinstance(one, Kind) else one
            return self._typed(self(kept), types)
        return np.intersect1d(self(one), self(other), assume_unique=True)

    def _typed(self, keys: Keys, types: int) -> Keys:
        wanted = np.zeros(len(self.adjacency.schema.node_types), dtype=bool)
        wanted[codes(types)] = True
        return keys[wanted[self.adjacency.types[keys]]]

    def _walked(self, of: Walk) -> Keys:
        if isinstance(of.of, Kind) and not of.where:
            # The nodes with any such edge: the other end's types are those of the walk.
            ends = self.adjacency.of_types(codes(of.types))
            has = sum(self.adjacency.degrees(ends, of.relation, OPPOSITE[way]) for way in self._ways(of)) > 0
            near = ends[has]
            if of.of.types == self._near_types(of):
                return near
        start = self(of.of)
        if not len(start):
            return _NONE
        if of.relation in self._large and self._edges_of(start, of) > self.most_edges:
            return _NONE
        if of.where:
            whole = np.unique(self._edges(of)[0])
        else:
            reached = [self.adjacency.neighbours(start, of.relation, way) for way in self._ways(of)]
            whole = reached[0] if len(reached) == 1 else np.union1d(*reached)
        found = self._typed(whole, self.playing(of.types, of.relation, of.direction))
        for key in self._origin(of):
            found = found[found != key]
        return found

    def _edges_of(self, start: Keys, of: Walk) -> int:
        return sum(self.adjacency.edges(start, of.relation, way) for way in self._ways(of))

    def _edges(self, of: Walk) -> tuple[Keys, Keys, Keys]:
        """Return the node that each edge of a walk reaches, with the edge's source and target."""
        found = [(_NONE, _NONE, _NONE)]
        start = self(of.of)
        for way in self._ways(of):
            walked = self.adjacency.walk(start, of.relation, way, self.most_edges)
            if walked is None:
                continue
            near, far = start[walked[0]], walked[1]
            source, target = (near, far) if way == "out" else (far, near)
            met = np.ones(len(near), dtype=bool)
            for one in of.where:
                held = self.adjacency.values_of(of.relation, one.field)
                met &= False if held is None else held.meeting(source, target, one.as_filter())
            found.append((far[met], source[met], target[met]))
        far, source, target = (np.concatenate(side) for side in zip(*found, strict=True))
        return far, source, target

    def _edge_numbers(self, of: NodeSet, edge: OfEdge, end: str) -> tuple[Keys, NDArray[np.float64]]:
        """Return the nodes of a set to which edges with a field lead, and of each the number that comes first."""
        walk = walk_over(of, edge)
        held = self.adjacency.values_of(edge.relation, edge.field)
        if walk is None or held is None:
            return _NONE, np.empty(0)
        far, source, target = self._edges(walk)
        owner, values = held.of(source, target)
        far, numbers = far[owner], np.array([as_number(value) for value in values], dtype=np.float64)
        kept = np.isin(far, self(of)) & ~np.isnan(numbers)
        keys, place = np.unique(far[kept], return_inverse=True)
        first = np.full(len(keys), np.inf if end == "asc" else -np.inf)
        (np.minimum if end == "asc" else np.maximum).at(first, place, numbers[kept])
        return keys, first

    def _ways(self, of: Walk | Counted) -> tuple[Direction, ...]:
        """Return the directions of walking: both for a relation that reads the same in both."""
        return DIRECTIONS if self.adjacency.schema.relations[of.relation].mutual else (of.direction,)

    def _near_types(self, of: Walk) -> int:
        """Return the mask of all types from which the relation of a walk may begin to reach its types."""
        schema, mask = self.adjacency.schema, 0
        for source, target in schema.edges_between[schema.relations[of.relation].name]:
            near, far = (source, target) if of.direction == "out" else (target, source)
            mask |= 1 << near if of.types >> far & 1 else 0
        return mask

    def _origin(self, of: Walk) -> list[int]:
        """Return the nodes that a walk begins at, which it does not come back to; none where it begins at several."""
        named = within(of, lambda relation: self.adjacency.schema.relations[relation].mutual)
        return [int(found[0]) for one in named if len(found := self(one)) == 1]

    @cached_property
    def _large(self) -> frozenset[int]:
        """The relations of which a walk may read too many edges."""
        schema = self.adjacency.schema
        edges = [0] * len(schema.relations)
        for kind in schema.relation_types:
            edges[schema.relation_codes[kind.relation]] += 2 * kind.count
        return frozenset(code for code, number in enumerate(edges) if number > self.most_edges)

    def _column(self, code: int, name: str) -> tuple[Keys, NDArray[np.float64]]:
        found = self._sorted.get((code, name))
        if found is None:
            label = self.adjacency.schema.node_types[code].name
            found = self._sorted[code, name] = self.columns.numbers(label, name)
        return found

    def numbers(self, keys: Keys, name: str, end: str = "") -> tuple[Keys, NDArray[np.float64]]:
        """Return the keys that have a field and its numbers; of several the one that comes first in an order `end`."""
        found_keys, found = [], []
        own = self.adjacency.types[keys]
        for code in np.unique(own):
            mine = keys[own == code]
            there, numbers = self._column(int(code), name)
            low, high = np.searchsorted(there, mine, "left"), np.searchsorted(there, mine, "right")
            has = high > low
            mine, low, high = mine[has], low[has], high[has]
            if not len(mine):
                continue
            value = numbers[low]
            for at in np.flatnonzero(high - low > 1):
                several = numbers[low[at] : high[at]]
                value[at] = several.max() if end == "desc" else several.min()
            found_keys.append(mine)
            found.append(value)
        if not found:
            return _NONE, np.empty(0)
        keys, values = np.concatenate(found_keys), np.concatenate(found)
        order = np.argsort(keys, kind="stable")
        return keys[order], values[order]

    def _where(self, of: Where) -> Keys:
        inner = self(of.of)
        if not len(inner):
            return inner
        schema, name = self.adjacency.schema, of.field
        labels = [schema.node_types[code].name for code in codes(of.types)]
        if of.op in ("exists", "missing"):
            has = np.unique(np.concatenate([self.columns.having(label, name) for label in labels]))
            keep = np.intersect1d if of.op == "exists" else np.setdiff1d
            return keep(inner, has, assume_unique=True)
        dated = any((code, name) in self.dated for code in codes(of.types))
        texts = isinstance(of.value, str) and not dated
        if texts or of.op in ("contains", "not contains", "in", "not in"):
            values = of.value if isinstance(of.value, tuple) else (of.value,)
            part = of.op in ("contains", "not contains")
            those = [self.columns.equal(label, name, value, part=part) for label in labels for value in values]
            met = np.unique(np.concatenate(those))
            keep = np.setdiff1d if of.op in ("!=", "not in", "not contains") else np.intersect1d
            return keep(inner, met, assume_unique=True)
        keys, numbers = self.numbers(inner, name)
        ends = of.value if isinstance(of.value, tuple) else (of.value, of.value)
        (low, _), (_, high) = period(ends[0]), period(ends[1])
        there = {
            "<": numbers < low, "<=": numbers <= high, ">": numbers > high, ">=": numbers >= low,
        }.get(of.op, (numbers >= low) & (numbers <= high))  # fmt: skip
        return np.setdiff1d(inner, keys[there], assume_unique=True) if of.op == "!=" else keys[there]

    def counts(self, keys: Keys, count: Counted) -> NDArray[np.int64]:
        """Return for each key the number of different nodes that it is joined with."""
        numbers = numbers_of_joined(self.adjacency, self._steps(count), keys, codes(count.to), *self._among(count))
        if numbers is None:
            first, *others = (self.adjacency.degrees(keys, *step) for step in self._steps(count))
            return sum(others, first)
        return numbers

    def _steps(self, count: Counted) -> Steps:
        return [(count.relation, way) for way in self._ways(count)]

    def _among(self, count: Counted) -> tuple[Keys | None, int]:
        """Return the only nodes to count, and the most edges that are read."""
        return None if count.among is None else self(count.among), self.most_edges

    def _measures(self, keys: Keys, count: Counted) -> tuple[Keys, NDArray[np.float64]]:
        """Return those of the keys that have a number of neighbours, or what is computed from them, and this."""
        if count.function is None:
            return keys, self.counts(keys, count).astype(np.float64)
        pairs = joined(self.adjacency, self._steps(count), keys, codes(count.to), *self._among(count))
        if pairs is None or not len(pairs[0]):
            return _NONE, np.empty(0)
        order = np.argsort(pairs[0], kind="stable")
        place, far = pairs[0][order], pairs[1][order]
        end = "desc" if count.function == "max" else "asc"
        known, numbers = self.numbers(np.unique(far), count.of, end)
        at = np.searchsorted(known, far)
        has = np.isin(far, known)
        place, values = place[has], numbers[at[has]]
        places, first = np.unique(place, return_index=True)
        if not len(places):
            return _NONE, np.empty(0)
        return keys[places], _REDUCE[count.function](values, first)

    def _where_count(self, of: WhereCount) -> Keys:
        inner, found = self._measures(self(of.of), of.count)
        if isinstance(of.value, tuple):
            return inner[(found >= of.value[0]) & (found <= of.value[1])]
        return inner[_COMPARE[of.op](found, of.value)]

    def _top(self, of: Top) -> Keys:
        inner = self(of.of)
        if not len(inner):
            return inner
        if isinstance(of.by, str):
            keys, values = self.numbers(inner, of.by, of.end)
        elif isinstance(of.by, OfEdge):
            keys, values = self._edge_numbers(of.of, of.by, of.end)
        else:
            keys, values = self._measures(inner, of.by)
        if not len(keys):
            return _NONE
        if not of.limit:
            return keys
        places = np.unique(values)
        kept = places[: of.limit] if of.end == "asc" else places[::-1][: of.limit]
        return keys[np.isin(values, kept)]

    def _compared(self, of: Compared) -> Keys:
        inner, others = self(of.of), self(of.other)
        keys, values = self.numbers(inner, of.field)
        _, against = self.numbers(others, of.other_field)
        if not len(against):
            return _NONE
        most = against.min() if of.op in (">", ">=") else against.max()
        met = keys[np.isin(values, against) if of.op == "=" else _COMPARE[of.op](values, most)]
        return np.setdiff1d(met, others, assume_unique=True)
