"""Walks one linked plan over the memory-mapped graph; the steps are those of `graph_matching.eliminate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters.graph_matching.eliminate import Elimination
from search.adapters.graph_matching.estimate import LOOK_UP
from search.adapters.graph_matching.order import depths, directions, edge_kinds, next_hop
from search.adapters.graph_memmap.fields import MappedFields
from search.adapters.graph_memmap.table import NOBODY, MatchTable, Rows
from search.domain.errors import StageError
from search.domain.graph import ANY, DIRECTIONS, OPPOSITE, Direction, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Filter, Hop
from search.interfaces import Adjacency, Keys
from search.key_sets import distinct
from search.spreading import ranges


class TooMany(Exception):
    """A step has more partial matches than are passed on."""


class PlanWalk(Elimination[MatchTable]):
    """Walks one linked plan with whole fields; an instance walks once.

    No step passes on more than `most_rows` partial matches, else TooMany is raised: what a walk returns is complete.
    `told` describes the steps for people.
    """

    def __init__(
        self, linked: LinkedPlan, schema: Schema, adjacency: Adjacency, fields: MappedFields, most_rows: int
    ) -> None:
        super().__init__(linked, schema, adjacency)
        self.graph = adjacency
        self.fields = fields
        self.most_rows = most_rows
        self.told: list[str] = []

    def candidates(self) -> tuple[Keys, NDArray[np.float64]]:
        """Return the keys that T takes and their scores, by score, then key."""
        found = self.match()
        column = found.columns[self.plan.target.var]
        if len(found) and all(found.is_same(anchor) for anchor in found.anchors):
            keys = distinct(column, self.graph.size)
            found.take(np.zeros(1, dtype=np.int64))
            return keys, np.repeat(self._scores(found), len(keys))
        keys, row = np.unique(column, return_inverse=True)
        scores = np.full(len(keys), -np.inf)
        np.maximum.at(scores, row, self._scores(found))
        order = np.lexsort((keys, -scores))
        return keys[order], scores[order]

    def matching(self, keys: Sequence[int], *, from_target: bool) -> set[int]:
        """Return those of the keys that T takes in a match, walked from the anchors or from the keys."""
        self.keys, self.from_target = keys, from_target
        return set(self.match().columns[self.plan.target.var].tolist())

    def paths(self, keys: Sequence[int], most: int, *, from_target: bool) -> list[tuple[float | int | bool, ...]]:
        """Return up to `most` best matches of each key, as the rows that `read_paths` reads.

        The best bindings of each key are found first. The rest of the match is then filled in for these only.
        """
        self.keys, self.from_target = keys, from_target
        found = self.match()
        target = self.plan.target.var
        found.columns = {var: found.columns[var] for var in dict.fromkeys([target, *found.anchors])}
        found.marks = []
        found.make_distinct()
        columns = found.columns
        tied = [columns[anchor] for anchor in reversed(found.anchors)]
        order: list[NDArray[Any]] = [*tied, -self._scores(found), columns[target]]
        found.take(np.lexsort(order))
        found.take(_first_of_each(found.columns[target], most))
        self._fill(found)
        found.take(_first_of_each(found.columns[target], most))
        keys_taken = [found.columns[var].tolist() for var in self.plan.variables]
        edges = [np.divmod(found.taken[at], 2) for at in range(len(self.plan.hops))]
        ways = [part for relation, out in edges for part in (relation.tolist(), (out == 1).tolist())]
        return list(zip(self._scores(found).tolist(), *keys_taken, *ways, strict=True))

    def start(self, var: str) -> MatchTable:
        """Return the set of an anchor's bindings."""
        keys = np.fromiter(self.bound[var], dtype=np.int32, count=len(self.bound[var]))
        table = MatchTable({var: keys}, [var])
        table.size, table.untouched = len(keys), var
        table.take(self._allowed(var, keys))
        self._keep_asked(table, var)
        self.told.append(f"{var}: {len(table)} entities")
        return table

    def start_at_target(self, keys: Sequence[int]) -> MatchTable:
        """Return the set of the requested candidates; the target is not an anchor."""
        var = self.plan.target.var
        column = np.unique(np.asarray(keys, dtype=np.int32))
        column = column[self._of_type(var, column) & self._allowed(var, column)]
        self.told.append(f"{var}: {len(column)} entities")
        return MatchTable({var: column}, [], size=len(column), untouched=var)

    def start_over_types(self, var: str) -> MatchTable:
        """Return the set of all nodes that a variable may take; its size does not count towards `most_rows`."""
        codes = sorted(self.types[var]) if var in self.types else range(len(self.schema.node_types))
        column = self.graph.of_types(codes)
        column = column[self._allowed(var, column)]
        table = MatchTable({var: column}, [], size=len(column))
        self._keep_asked(table, var)
        self.most_rows += len(table)
        self.told.append(f"{var}: {len(table)} entities")
        return table

    def holds(self, rows: MatchTable) -> frozenset[str]:
        """Return the variables whose nodes a set holds."""
        return frozenset(rows.columns)

    def compare(self, rows: MatchTable, condition: Filter) -> None:
        """Raise: plans that compare fields of two nodes are executed elsewhere."""
        raise StageError("traverse", "the memory-mapped graph compares no fields of two entities", permanent=True)

    def read(self, hop: Hop, near: str, far: str, home: Mapping[str, MatchTable]) -> float:
        """Return the number of edges that walking a hop reads, or looks up if its far nodes are given."""
        rows, other = home[near], home.get(far)
        edges = self._read(hop, near, rows)
        return edges if other is None or other.untouched != far else min(edges, LOOK_UP * rows.size * other.size)

    def close(self, rows: MatchTable, hop: Hop, near: str, far: str) -> None:
        """Keep the rows that have an edge for a hop between two of their nodes."""
        rows.take(np.unique(self._edges(hop, hop.source, hop.to_var, rows, None)[0]))
        self.told.append(f"{hop.source} –{hop.rel}– {hop.to_var}: {len(rows)} rows kept")

    def extend(self, rows: MatchTable, hop: Hop, near: str, far: str, other: MatchTable | None) -> None:
        """Walk a hop from a node of each row to a new node; if `other` is untouched, to one of its given nodes."""
        place, there, _ = self._edges(hop, near, far, rows, self._among(hop, near, far, rows, other))
        rows.take(place)
        rows.columns[far] = there
        rows.untouched = None
        rows.keep_apart(far)
        self.told.append(f"{near} –{hop.rel}– {far}: {len(rows)} rows")

    def join(self, rows: MatchTable, other: MatchTable, shared: str | None) -> None:
        """Join two sets on the variable that both hold; no variable of one may take an anchor's node of the other."""
        assert shared is not None
        for side in (rows, other):
            if side.dropped:
                side.make_distinct()
        order = np.argsort(other.columns[shared], kind="stable")
        given = other.columns[shared][order]
        first = np.searchsorted(given, rows.columns[shared], "left")
        counts = np.searchsorted(given, rows.columns[shared], "right") - first
        self._bound(int(counts.sum()))
        left = np.repeat(np.arange(len(rows)), counts)
        step = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows.take(left)
        other.take(order[np.repeat(first, counts) + step])
        apart = np.ones(len(rows), dtype=bool)
        for one, two in ((rows, other), (other, rows)):
            for anchor in one.anchors:
                node = one.columns[anchor]
                for column in (*(column for var, column in two.columns.items() if var != shared), *two.marks):
                    apart &= column != node
        rows.columns = other.columns | rows.columns
        rows.anchors += [anchor for anchor in other.anchors if anchor not in rows.anchors]
        rows.marks += other.marks
        rows.take(apart)
        self.told.append(f"joined on {shared}: {len(rows)} rows")

    def drop(self, rows: MatchTable, needed: frozenset[str]) -> None:
        """Drop the variables that are not needed, but remember their nodes that an anchor outside may be bound to."""
        outside = self.bindings_outside(rows.anchors)
        for var in [var for var in rows.columns if var not in needed and var not in rows.anchors]:
            column = rows.columns.pop(var)
            if outside:
                rows.marks.append(np.where(np.isin(column, outside), column, NOBODY))
            rows.dropped = True

    def make_distinct(self, rows: MatchTable) -> None:
        """Keep one of several equal rows."""
        rows.make_distinct()

    def _scores(self, rows: MatchTable) -> NDArray[np.float64]:
        """Return the score of each row: the sum of its anchors' scores, in the order of the plan's anchors."""
        total = np.zeros(len(rows))
        for var, scores in self.bound.items():
            if var in rows.anchors:
                keys = np.array(sorted(scores))
                given = np.array([scores[key] for key in keys.tolist()])
                total += given[np.searchsorted(keys, rows.columns[var])]
        return total

    def _fill(self, rows: MatchTable) -> None:
        """Walk every hop between the anchors and a known target, and remember the direction of each edge."""
        pending, depth = list(self.plan.hops), depths(self.plan)

        def burden(hop: Hop, near: str, far: str) -> int:
            return self.estimate.burden(self._read(hop, near, rows))

        while pending:
            step = next_hop(pending, dict.fromkeys(rows.columns, 0), depth, burden)
            if step is None:
                raise StageError("explain", "not every starting point is connected with the target", permanent=True)
            hop, near, far = step
            pending.remove(hop)
            known = rows.columns.get(far)
            place, there, taken = self._edges(hop, near, far, rows, () if known is None else None, told=True)
            order = np.argsort(place, kind="stable")
            rows.take(place[order])
            rows.columns[far] = there[order]
            rows.taken[next(i for i, other in enumerate(self.plan.hops) if other is hop)] = taken[order]
            if known is None:
                rows.keep_apart(far)

    def _edges(
        self, hop: Hop, near: str, far: str, rows: MatchTable, among: Sequence[int] | None, *, told: bool = False
    ) -> tuple[Rows, Keys, Rows]:
        """Return the edges of a hop from the rows: the row of each, its far node, its edge (`MatchTable.taken`).

        `among` are the only far nodes to look for; empty for any, None if the rows already hold the far node. The
        relation of a hop over any relation is exact only with `told`.
        """
        found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))]
        for place, there, taken in self._read_edges(hop, near, far, rows, among, told):
            if among is not None:
                kept = self._of_type(far, there)
                kept[kept] = self._allowed(far, there[kept])
                if (asked := self.asked_of(far)) is not None:
                    kept &= np.isin(there, asked)
                place, there, taken = place[kept], there[kept], taken[kept]
            found.append((place, there, taken))
            self._bound(sum(len(one[0]) for one in found))
        places, ends, kinds = zip(*found, strict=True)
        return np.concatenate(places), np.concatenate(ends), np.concatenate(kinds)

    def _read_edges(
        self, hop: Hop, near: str, far: str, rows: MatchTable, among: Sequence[int] | None, told: bool
    ) -> Iterator[tuple[Rows, Keys, Rows]]:
        """Yield the edges of `_edges` by relation and direction, by looking given far nodes up or by reading all."""
        here = rows.columns[near]
        pairs: tuple[Rows, Keys] | None = None
        if among is None:
            pairs = np.arange(len(here)), rows.columns[far]
        elif among:
            given = np.unique(np.asarray(among, dtype=np.int32))
            self._bound(len(here) * len(given))
            pairs = np.repeat(np.arange(len(here)), len(given)), np.tile(given, len(here))
        if pairs is not None and hop.rel == ANY:
            at, taken = self._joined_anyhow(hop, near, here[pairs[0]], pairs[1])
            yield pairs[0][at], pairs[1][at], taken
            return
        before: int | None = -1
        for relation, stored, way in self._ways(hop, near, each=told):
            if relation is None or pairs is None:
                place, there = self._walked(here, relation, way)
            else:
                held = self.graph.joined(here[pairs[0]], pairs[1], relation, way)
                place, there = pairs[0][held], pairs[1][held]
            if relation is not None and hop.where:
                ends = (here[place], there) if way == "out" else (there, here[place])
                met = edges_meeting(self.graph, relation, ends, hop.where)
                place, there = place[met], there[met]
            if before == relation:
                # An edge from a node to itself counts once.
                new = there != here[place]
                place, there = place[new], there[new]
            before = relation
            yield place, there, np.full(len(place), 2 * (relation or 0) + (stored == "out"))

    def _walked(self, near: Keys, relation: int | None, way: Direction) -> tuple[Rows, Keys]:
        walked = self.graph.walk(near, relation, way, self.most_rows)
        if walked is None:
            raise TooMany
        return walked

    def _joined_anyhow(self, hop: Hop, near: str, here: Keys, there: Keys) -> tuple[Rows, Rows]:
        """Return the pairs of nodes that an edge of any relation joins, by position, and the edge (`MatchTable.taken`).

        The edges are read from the end whose nodes have fewer.
        """
        here, there = here.astype(np.int64), there.astype(np.int64)
        ends = (distinct(here, self.graph.size), distinct(there, self.graph.size))
        costs = [sum(self.graph.edges(end, None, way) for way in DIRECTIONS) for end in ends]
        turned = costs[1] < costs[0]
        keys, size = ends[turned], self.graph.size
        pairs, kinds = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        before = -1
        for relation, stored, way in self._ways(hop, near, each=True):
            assert relation is not None
            place, far = self._walked(keys, relation, OPPOSITE[way] if turned else way)
            if before == relation:
                place, far = place[far != keys[place]], far[far != keys[place]]
            before = relation
            pairs.append(keys[place].astype(np.int64) * size + far)
            kinds.append(np.full(len(place), 2 * relation + (stored == "out")))
        order = np.argsort(np.concatenate(pairs))
        known, of = np.concatenate(pairs)[order], np.concatenate(kinds)[order]
        asked = there * size + here if turned else here * size + there
        first = np.searchsorted(known, asked, "left")
        counts = np.searchsorted(known, asked, "right") - first
        self._bound(int(counts.sum()))
        return np.repeat(np.arange(len(asked)), counts), of[ranges(first, counts)]

    def _among(self, hop: Hop, near: str, far: str, rows: MatchTable, other: MatchTable | None) -> Sequence[int]:
        """Return the far nodes to look up, where that costs less than reading every edge; else nothing."""
        given: Sequence[int] = ()
        if self.keys is not None and far == self.plan.target.var:
            given = self.keys
        elif other is not None and other.untouched == far:
            given = self.given(far)
        return given if given and LOOK_UP * len(given) * len(rows) < self._read(hop, near, rows) else ()

    def _allowed(self, var: str, keys: Keys) -> NDArray[np.bool_]:
        """Return which keys no exclusion bars from a variable, and meet its conditions."""
        allowed = np.ones(len(keys), dtype=bool)
        if barred := self.barred.get(var):
            allowed = np.isin(keys, np.fromiter(barred, np.int32, len(barred)), invert=True)
        for condition in self.plan.filters:
            if condition.var == var and condition.compared is None and condition.count is None:
                allowed[allowed] = self.fields.meeting(keys[allowed], condition)
        return allowed

    def _keep_asked(self, table: MatchTable, var: str) -> None:
        if (asked := self.asked_of(var)) is not None:
            table.take(np.isin(table.columns[var], asked))

    def _of_type(self, var: str, keys: Keys) -> NDArray[np.bool_]:
        """Return which keys have a type that the variable may have."""
        if var not in self.types:
            return np.ones(len(keys), dtype=bool)
        fitting = np.zeros(len(self.schema.node_types), dtype=bool)
        fitting[list(self.types[var])] = True
        return fitting[self.graph.types[keys]]

    def _bound(self, rows: int) -> None:
        if rows > self.most_rows:
            raise TooMany

    def _read(self, hop: Hop, near: str, rows: MatchTable) -> int:
        """Return the number of edges of a hop from the rows."""
        return sum(self.graph.edges(rows.columns[near], relation, way) for relation, _, way in self._ways(hop, near))

    def _ways(self, hop: Hop, near: str, *, each: bool = False) -> Iterator[tuple[int | None, Direction, Direction]]:
        """Yield the relations of a hop and the stored directions, as seen from its source and as seen from `near`.

        For a hop over any relation the relation is None, or with `each` every one that joins the types of its ends.
        """
        kinds: Sequence[tuple[int | None, Direction]] = edge_kinds(hop, self.types, self.schema)
        if hop.rel == ANY and not each:
            kinds = [(None, stored) for stored in directions(hop, self.types, self.schema)]
        for relation, stored in kinds:
            yield relation, stored, stored if near == hop.source else OPPOSITE[stored]


def edges_meeting(
    graph: Adjacency, relation: int, ends: tuple[Keys, Keys], where: Sequence[Filter]
) -> NDArray[np.bool_]:
    """Return which edges of a relation, given by source and target, meet filters on fields whose values are mapped."""
    met = np.ones(len(ends[0]), dtype=bool)
    for condition in where:
        held = graph.values_of(relation, condition.field)
        assert held is not None
        met &= held.meeting(*ends, condition)
    return met


def _first_of_each(keys: Keys, most: int) -> NDArray[np.bool_]:
    """Return which rows are among the first `most` of their key; equal keys stand side by side."""
    return np.arange(len(keys)) - np.searchsorted(keys, keys) < most
