"""Compiles a linked plan into one SQL statement; values are parameters, identifiers are made from integers only.

The steps are those of `graph_matching.eliminate`. If a step has too many rows they are cut off, and the statement
reports it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from search.adapters.graph_matching.eliminate import Elimination
from search.adapters.graph_matching.estimate import LOOK_UP, MOST_ROWS
from search.adapters.graph_postgres.conditions import SqlParameters, comparison, field_conditions
from search.adapters.graph_postgres.edges import HopWriter
from search.adapters.graph_postgres.rows import SqlRows
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Filter, Hop
from search.interfaces import Adjacency
from search.models.partitions import partition

STEPS = ",\n"
"""Separator of the statement's common table expressions."""


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """A statement with named placeholders, and their values.

    `keep` says that it may be prepared, because one query plan is fast for all values.
    """

    text: str
    parameters: Mapping[str, Any]
    keep: bool = True


@dataclass(frozen=True, slots=True)
class GraphTables:
    """The partitions of one snapshot, whose names contain no input but its number, and the limit of rows.

    `most_rows` is the most partial matches that a step of a statement passes on.
    """

    snapshot_id: int
    most_rows: int = MOST_ROWS

    @property
    def edges(self) -> str:
        """The partition of edges."""
        return partition("search_edge", self.snapshot_id)

    @property
    def nodes(self) -> str:
        """The partition of nodes."""
        return partition("search_node", self.snapshot_id)


class SqlCompiler(Elimination[SqlRows]):
    """Compiles one linked plan; an instance compiles one statement."""

    NOTHING = "0::float8"

    def __init__(
        self, linked: LinkedPlan, schema: Schema, tables: GraphTables, adjacency: Adjacency | None = None
    ) -> None:
        super().__init__(linked, schema, adjacency)
        self.tables = tables
        self.parameters = SqlParameters()
        self.edges = HopWriter(tables.edges, schema, self.types, self.parameters)
        self.joined = False
        self.steps: list[str] = []
        self.cuts: list[str] = []
        self._fresh = 0

    def candidates(self, rows: int) -> SqlQuery:
        """Return the statement of `execute`.

        Its only row holds an array of the keys that T takes (at most rows + 1, best first), an array of their scores,
        and whether partial matches were cut off. Arrays reach the client about five times as fast as rows.
        """
        found = self.match()
        most = self.parameters.add(rows + 1)
        target = found.columns[self.plan.target.var]
        self.steps.append(
            f"best AS (SELECT key, max(score) AS score, sum(count(*)) OVER () AS merged\n"
            f"FROM (SELECT {target} AS key, {self.summed(found.scores)} AS score\n"
            f"{found.body()}\nLIMIT {self.most}) AS matches\n"
            f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {most})"
        )
        cut = " OR ".join([*self.cuts, f"max(merged) >= {self.most}"])
        text = f"WITH {STEPS.join(self.steps)}\nSELECT array_agg(key), array_agg(score), {cut} FROM best"
        # The best join method depends on the sizes of both sets, and these depend on the values.
        return SqlQuery(text, self.parameters.values, keep=not self.joined)

    def matching(self, keys: Sequence[int], *, from_target: bool) -> SqlQuery:
        """Return the statement of `matching`, walked from the anchors, or from the keys with `from_target`.

        Its one row holds those of the keys that T takes, and whether partial matches were cut.
        """
        self.keys, self.from_target = keys, from_target
        found = self.match()
        cut = " OR ".join([*self.cuts, f"count(*) >= {self.most}"])
        steps = f"WITH {STEPS.join(self.steps)}\n" if self.steps else ""
        text = (
            f"{steps}SELECT array_agg(DISTINCT key), {cut}\n"
            f"FROM (SELECT {found.columns[self.plan.target.var]} AS key\n{found.body()}\nLIMIT {self.most}) AS matches"
        )
        return SqlQuery(text, self.parameters.values, keep=not self.joined)

    def start(self, var: str) -> SqlRows:
        """Return the set of an anchor's bindings."""
        scores = self.bound[var]
        alias = f"b{self.short[var]}"
        keys = self.parameters.add(list(scores), "int[]")
        weights = self.parameters.add(list(scores.values()), "float8[]")
        rows = SqlRows(
            [f"unnest({keys}, {weights}) AS {alias}(key, score)"], {var: f"{alias}.key"}, [var],
            {var: f"{alias}.score"}, size=len(scores), untouched=var,
        )  # fmt: skip
        rows.conditions += self._conditions(var, f"{alias}.key")
        return rows

    def start_at_target(self, keys: Sequence[int]) -> SqlRows:
        """Return the set of the requested candidates; the target is not an anchor."""
        var = self.plan.target.var
        alias = f"b{self.short[var]}"
        item = f"unnest({self.parameters.add(list(keys), 'int[]')}) AS {alias}(key)"
        rows = SqlRows([item], {var: f"{alias}.key"}, [], {}, size=len(keys), untouched=var)
        rows.conditions += self._conditions(var, f"{alias}.key")
        if var in self.types:
            # The walk begins at the target, so no hop leads to it and checks its type.
            codes = self.parameters.add(sorted(self.types[var]), "int2[]")
            rows.conditions.append(
                f"EXISTS (SELECT FROM {self.tables.nodes} AS node "
                f"WHERE node.key = {alias}.key AND node.type = ANY({codes}))"
            )
        return rows

    def start_over_types(self, var: str) -> SqlRows:
        """Return the set of all nodes that a variable may take; its size does not count towards `most_rows`."""
        alias = f"b{self.short[var]}"
        size = self.estimate.nodes(var)
        rows = SqlRows([f"{self.tables.nodes} AS {alias}"], {var: f"{alias}.key"}, [], {}, size=size)
        if var in self.types:
            rows.conditions.append(f"{alias}.type = ANY({self.parameters.add(sorted(self.types[var]), 'int2[]')})")
        rows.conditions += self._key_conditions(var, f"{alias}.key")
        rows.conditions += field_conditions(self._filters(var), alias, self.parameters)
        # A statement that reads all nodes of a type needs another query plan than one that starts from a few nodes.
        self.joined = True
        return rows

    def holds(self, rows: SqlRows) -> frozenset[str]:
        """Return the variables whose nodes a set holds."""
        return frozenset(rows.columns)

    def compare(self, rows: SqlRows, condition: Filter) -> None:
        """Keep the rows that satisfy a filter that compares fields of two of their nodes."""
        rows.conditions.append(self.comparison(condition, rows.columns))

    def comparison(self, condition: Filter, columns: Mapping[str, str]) -> str:
        """Return the condition that the nodes of two known variables compare as a filter says."""
        test = comparison(condition, "one_node", "other_node", self.parameters)
        return (
            f"EXISTS (SELECT FROM {self.tables.nodes} AS one_node, {self.tables.nodes} AS other_node "
            f"WHERE one_node.key = {columns[condition.var]} AND other_node.key = {columns[condition.value.var]} "
            f"AND {test})"
        )

    def read(self, hop: Hop, near: str, far: str, home: Mapping[str, SqlRows]) -> float:
        """Return the expected number of edges that walking a hop reads, or looks up if its far nodes are given."""
        rows, other = home[near], home.get(far)
        edges = self.estimate.edges(hop, near, far, rows.size)
        return edges if other is None or other.untouched != far else min(edges, LOOK_UP * rows.size * other.size)

    def close(self, rows: SqlRows, hop: Hop, near: str, far: str) -> None:
        """Keep the rows that have an edge for a hop between two of their nodes."""
        rows.conditions.append(self.edges.exists(hop, rows.columns))

    def extend(self, rows: SqlRows, hop: Hop, near: str, far: str, other: SqlRows | None) -> None:
        """Walk a hop from a node of each row to a new node; if `other` is untouched, to one of its given nodes."""
        alias = self._alias("e")
        if self.keys is not None and far == self.plan.target.var:
            # Always look the candidates up, so that the edges of a hub just before them are not all read.
            among: Sequence[int] = self.keys
        else:
            given = self.given(far) if other is not None and other.untouched == far else ()
            among = given if LOOK_UP * len(given) < self.estimate.edges(hop, near, far, 1.0) else ()
        rows.items.append(self.edges.walk(hop, near, far, alias, {near: rows.columns[near]}, among))
        rows.untouched = None
        column = f"{alias}.there"
        rows.apart(column, but=far)
        rows.columns[far] = column
        rows.conditions += self._conditions(far, column)

    def join(self, rows: SqlRows, other: SqlRows, shared: str | None) -> None:
        """Join two sets on the variable that both hold, or each row with each row; see `Elimination.join`."""
        self.joined = True
        for side in (rows, other):
            if side.dropped:
                self.make_distinct(side)
        joined = [f"{rows.columns[shared]} = {other.columns[shared]}"] if shared else []
        for one, two in ((rows, other), (other, rows)):
            for anchor in one.anchors:
                node = one.columns[anchor]
                joined += [f"{column} <> {node}" for var, column in two.columns.items() if var != shared]
                joined += [f"{mark} IS DISTINCT FROM {node}" for mark in two.marks]
        rows.items += [f"CROSS JOIN {other.items[0]}", *other.items[1:]]
        rows.conditions += [*other.conditions, *dict.fromkeys(joined)]
        rows.columns = other.columns | rows.columns
        rows.anchors += [anchor for anchor in other.anchors if anchor not in rows.anchors]
        rows.marks += other.marks
        rows.scores |= other.scores
        rows.size = max(1.0, rows.size * other.size / (self.estimate.nodes(shared) if shared else 1))

    def drop(self, rows: SqlRows, needed: frozenset[str]) -> None:
        """Drop the variables that are not needed, but remember their nodes that an anchor outside may be bound to."""
        outside = self.bindings_outside(rows.anchors)
        for var in [var for var in rows.columns if var not in needed and var not in rows.anchors]:
            column = rows.columns.pop(var)
            if outside:
                rows.marks.append(
                    f"CASE WHEN {column} = ANY({self.parameters.add(outside, 'int[]')}) THEN {column} END"
                )
            rows.dropped = True

    def make_distinct(self, rows: SqlRows) -> None:
        """Turn the rows into a separate step that computes distinct rows once.

        It reads at most `most_rows` rows and counts the rows that it merged, which shows whether there were more.
        """
        alias = self._alias("s")
        named = {f"{self.short[var]}": column for var, column in rows.columns.items()}
        named |= {f"m{i}": mark for i, mark in enumerate(rows.marks)}
        named |= {f"score_{self.short[var]}": score for var, score in rows.scores.items()}
        chosen = ", ".join(f"{expression} AS {name}" for name, expression in named.items())
        names = ", ".join(named)
        self.steps.append(
            f"{alias} AS MATERIALIZED (SELECT {names}, count(*) AS merged\n"
            f"FROM (SELECT {chosen}\n{rows.body()}\nLIMIT {self.most}) AS part\nGROUP BY {names})"
        )
        self.cuts.append(f"coalesce((SELECT sum(merged) >= {self.most} FROM {alias}), false)")
        rows.items = [alias]
        rows.columns = {var: f"{alias}.{self.short[var]}" for var in rows.columns}
        rows.marks = [f"{alias}.m{i}" for i in range(len(rows.marks))]
        rows.scores = {var: f"{alias}.score_{self.short[var]}" for var in rows.scores}
        rows.conditions, rows.dropped = [], False
        rows.size = min(
            rows.size, self.tables.most_rows, float(math.prod(self.estimate.nodes(var) for var in rows.columns))
        )

    @cached_property
    def most(self) -> str:
        """Placeholder of the most rows that a step passes on; nodes that a walk starts over do not count."""
        scanned = self.estimate.nodes(self.plan.target.var) if self.scans and not self.from_target else 0
        return self.parameters.add(self.tables.most_rows + scanned)

    def _conditions(self, var: str, column: str) -> list[str]:
        """Return the conditions on a variable's node other than its type: filters, and the target's requested keys."""
        conditions = self._key_conditions(var, column)
        if filters := self._filters(var):
            where = " AND ".join(field_conditions(filters, "node", self.parameters))
            conditions.append(f"EXISTS (SELECT FROM {self.tables.nodes} AS node WHERE node.key = {column} AND {where})")
        return conditions

    def _key_conditions(self, var: str, column: str) -> list[str]:
        """Return the conditions on a variable's key: the requested keys, and those that an exclusion bars."""
        conditions = []
        if (asked := self.asked_of(var)) is not None:
            conditions.append(f"{column} = ANY({self.parameters.add(asked, 'int[]')})")
        if barred := self.barred.get(var):
            conditions.append(f"{column} <> ALL({self.parameters.add(sorted(barred), 'int[]')})")
            # Postgres hashes a long list only if it knows the list when it plans the query.
            self.joined = True
        return conditions

    def _filters(self, var: str) -> list[Filter]:
        return [one for one in self.plan.filters if one.var == var and one.compared is None]

    def _alias(self, prefix: str) -> str:
        self._fresh += 1
        return f"{prefix}{self._fresh}"
