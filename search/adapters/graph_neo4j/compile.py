"""Compiles a linked plan into one Cypher statement; values are parameters, names are made from integers only.

The steps are those of `graph_matching.eliminate`. Every hop is a separate MATCH, so that one edge may serve two hops.
Rows are made distinct in a subquery that returns them as one list, reads at most `most_rows` of them, and reports
whether it cut any off. Two sets are joined on the variable that they share: both are collected by its node, which Neo4j
does by hashing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from search.adapters.graph_matching.eliminate import Elimination
from search.adapters.graph_matching.estimate import LOOK_UP, MOST_ROWS
from search.adapters.graph_matching.order import directions
from search.adapters.graph_neo4j.conditions import CypherParameters, comparison, field_conditions
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.rows import CypherRows
from search.domain.graph import ANY
from search.domain.linking import LinkedPlan
from search.domain.plan import Filter, Hop
from search.interfaces import Adjacency


@dataclass(frozen=True, slots=True)
class CypherQuery:
    """A statement with its parameters and the names of its columns; its result is one row."""

    text: str
    parameters: Mapping[str, Any]
    columns: Sequence[str] = ("rows",)


class CypherCompiler(Elimination[CypherRows]):
    """Compiles one linked plan; an instance compiles one statement.

    No step passes on more than `most_rows` partial matches.
    """

    def __init__(
        self, linked: LinkedPlan, names: Names, adjacency: Adjacency | None = None, most_rows: int = MOST_ROWS
    ) -> None:
        super().__init__(linked, names.schema, adjacency)
        self.names = names
        self.parameters = CypherParameters()
        self.steps: list[str] = []
        self.cuts: list[str] = []
        self._most_rows = most_rows
        self._fresh = 0

    def candidates(self, rows: int) -> CypherQuery:
        """Return the statement of `execute`.

        Its only row holds the keys that T takes (at most rows + 1, best first), their scores, and whether partial
        matches were cut off.
        """
        found = self.match()
        target = self.short[self.plan.target.var]
        most = self.parameters.add(rows + 1)
        self.steps += [
            *found.opened(),
            f"WITH {target}, {self.summed(found.scores)} AS score LIMIT {self.most}",
            f"WITH {target}, max(score) AS score, count(*) AS merged",
            f"RETURN collect([{target}.key, score]) AS best, sum(merged) >= {self.most} AS cut",
            "}",
            f"WITH best, {' OR '.join([*self.cuts, 'cut'])} AS cut",
            "UNWIND CASE best WHEN [] THEN [[null, null]] ELSE best END AS row",
            # Sorting charges each row with the memory of every list in scope; grouping leaves only its own values.
            "WITH cut, row[0] AS key, max(row[1]) AS score",
            f"WITH cut, key, score ORDER BY score DESC, key LIMIT {most}",
            "RETURN collect(key) AS keys, collect(score) AS scores, cut",
        ]
        return CypherQuery("\n".join(self.steps), self.parameters.values, ("keys", "scores", "cut"))

    def matching(self, keys: Sequence[int], *, from_target: bool) -> CypherQuery:
        """Return the statement of `matching`, walked from the anchors, or from the keys with `from_target`.

        Its row holds those of the keys that T takes, and whether partial matches were cut.
        """
        self.keys, self.from_target = keys, from_target
        found = self.match()
        target = self.short[self.plan.target.var]
        self.steps += [
            *found.opened(),
            f"WITH {target} LIMIT {self.most}",
            f"WITH {target}.key AS key, count(*) AS merged",
            f"RETURN collect(key) AS keys, sum(merged) >= {self.most} AS cut",
            "}",
            f"RETURN keys, {' OR '.join([*self.cuts, 'cut'])} AS cut",
        ]
        return CypherQuery("\n".join(self.steps), self.parameters.values, ("keys", "cut"))

    def start(self, var: str) -> CypherRows:
        """Return the set of an anchor's bindings."""
        node = self.short[var]
        bindings = self.parameters.add([[key, float(score)] for key, score in self.bound[var].items()])
        clauses = [
            f"UNWIND {bindings} AS binding",
            f"MATCH ({node}:{self.names.nodes} {{key: binding[0]}})",
            f"WITH {node}, binding[1] AS {node}s",
        ]
        scores = {var: f"{node}s"}
        rows = CypherRows(clauses, [node], [node], scores=scores, size=len(self.bound[var]), untouched=var)
        rows.where(self.conditions(var))
        return rows

    def start_at_target(self, keys: Sequence[int]) -> CypherRows:
        """Return the set of the requested candidates; the target is not an anchor."""
        var = self.plan.target.var
        node = self.short[var]
        clauses = [
            f"UNWIND {self.parameters.add(list(keys))} AS key",
            f"MATCH ({node}:{self.names.nodes} {{key: key}})",
            f"WITH {node}",
        ]
        rows = CypherRows(clauses, [node], [], size=len(keys), untouched=var)
        # The walk begins at the target, so no hop leads to it and checks its type.
        rows.where([*self.type(var), *self.conditions(var)])
        return rows

    def start_over_types(self, var: str) -> CypherRows:
        """Return the set of all nodes that a variable may take; its size does not count towards `most_rows`."""
        node = self.short[var]
        rows = CypherRows([f"MATCH ({node}:{self.names.nodes})"], [node], [], size=self.estimate.nodes(var))
        rows.clauses.append(f"WITH {node}")
        rows.where([*self.type(var), *self.conditions(var)])
        return rows

    def holds(self, rows: CypherRows) -> frozenset[str]:
        """Return the variables whose nodes a set holds."""
        return frozenset(var for var, node in self.short.items() if node in rows.columns)

    def compare(self, rows: CypherRows, condition: Filter) -> None:
        """Keep the rows that satisfy a filter that compares fields of two of their nodes."""
        rows.where([comparison(condition, self.short[condition.var], self.short[condition.value.var], self.names)])

    def read(self, hop: Hop, near: str, far: str, home: Mapping[str, CypherRows]) -> float:
        """Return the number of edges that walking a hop is expected to read."""
        return self.estimate.edges(hop, near, far, home[near].size)

    def close(self, rows: CypherRows, hop: Hop, near: str, far: str) -> None:
        """Keep the rows that have an edge for a hop between two of their nodes."""
        if not hop.where:
            rows.where([f"EXISTS {{ {self.pattern(hop, near, far)} }}"])
            return
        where = " AND ".join(self.edge_conditions(hop, "e"))
        rows.where([f"EXISTS {{ MATCH {self.pattern(hop, near, far, edge='e')} WHERE {where} }}"])

    def extend(self, rows: CypherRows, hop: Hop, near: str, far: str, other: CypherRows | None) -> None:
        """Walk a hop from a node of each row to a new node; if `other` is untouched, to one of its given nodes."""
        node = self.short[far]
        asked = self.keys is not None and far == self.plan.target.var
        given = self.given(far) if asked or (other is not None and other.untouched == far) else ()
        among = []
        if asked or LOOK_UP * len(given) < self.estimate.edges(hop, near, far, 1.0):
            rows.clauses += self._looked_up(node, given) if given else []
        elif given:
            among = [f"{node}.key IN {self.parameters.add(list(given))}"]
        edge = self._edge_name() if hop.where else ""
        rows.clauses.append(f"MATCH {self.pattern(hop, near, far, edge=edge)}")
        rows.columns.append(node)
        rows.untouched = None
        among += self.edge_conditions(hop, edge)
        rows.where([*among, *self.type(far), *rows.apart(node, but=node), *self.conditions(far)])

    def _edge_name(self) -> str:
        self._fresh += 1
        return f"w{self._fresh}"

    def edge_conditions(self, hop: Hop, edge: str) -> list[str]:
        """Return the conditions on the fields of a hop's edge, which is called `edge`."""
        return field_conditions(hop.where, edge, self.names, self.parameters)

    def _looked_up(self, node: str, keys: Sequence[int]) -> list[str]:
        """Return clauses that bind a node to some keys before a hop, so that a hub's other edges are not read."""
        self._fresh += 1
        key = f"k{self._fresh}"
        return [
            f"UNWIND {self.parameters.add(list(keys))} AS {key}",
            f"MATCH ({node}:{self.names.nodes} {{key: {key}}})",
            "WITH *",
        ]

    def join(self, rows: CypherRows, other: CypherRows, shared: str | None) -> None:
        """Join two sets on the variable that both hold, or each row with each row; see `Elimination.join`."""
        for side in (rows, other):
            if side.untouched is None:
                self.make_distinct(side)
        node = self.short[shared] if shared else "nothing"
        given = node if shared else "0 AS nothing"
        apart = []
        for one, two in ((rows, other), (other, rows)):
            for anchor in one.anchors:
                apart += [f"{column} <> {anchor}" for column in two.columns if column not in (node, anchor)]
                apart += [f"({mark} IS NULL OR {mark} <> {anchor})" for mark in two.marks]
        mine, theirs = ([name for name in side.held if name != node] for side in (rows, other))
        rows.lists += [name for name in other.lists if name not in rows.lists]
        rows.clauses = [
            *rows.opened(),
            f"RETURN {given}, 0 AS side, [{', '.join(mine)}] AS row",
            "UNION ALL",
            *other.clauses,
            f"RETURN {given}, 1 AS side, [{', '.join(theirs)}] AS row",
            "}",
            f"WITH {node}, collect(CASE side WHEN 0 THEN row END) AS mine, "
            "collect(CASE side WHEN 1 THEN row END) AS theirs",
            "UNWIND mine AS one",
            "UNWIND theirs AS two",
            f"WITH {', '.join([*([node] if shared else []), *unpacked('one', mine), *unpacked('two', theirs)])}",
        ]
        rows.columns += [column for column in other.columns if column not in rows.columns]
        rows.anchors += [anchor for anchor in other.anchors if anchor not in rows.anchors]
        rows.marks |= other.marks
        rows.scores |= other.scores
        rows.size = max(1.0, rows.size * other.size / (self.estimate.nodes(shared) if shared else 1))
        rows.where(list(dict.fromkeys(apart)))

    def drop(self, rows: CypherRows, needed: frozenset[str]) -> None:
        """Drop the variables that are not needed, but remember their nodes that an anchor outside may be bound to."""
        kept = {*(self.short[var] for var in needed), *rows.anchors}
        outside = self.bindings_outside([var for var in self.bound if self.short[var] in rows.anchors])
        for column in [column for column in rows.columns if column not in kept]:
            rows.columns.remove(column)
            if outside:
                self._fresh += 1
                rows.marks[f"m{self._fresh}"] = (
                    f"CASE WHEN {column}.key IN {self.parameters.add(outside)} THEN {column} END"
                )
            rows.dropped = True

    def make_distinct(self, rows: CypherRows) -> None:
        """Turn the rows into a list of distinct rows, computed in a separate subquery.

        It reads at most `most_rows` rows and counts the rows that it merged, which shows whether there were more.
        """
        self._fresh += 1
        name, cut = f"s{self._fresh}", f"c{self._fresh}"
        held = rows.held
        chosen = [*rows.columns, *(f"{mark} AS {name}" for name, mark in rows.marks.items()), *rows.scores.values()]
        self.steps += [
            *rows.opened(),
            f"WITH {', '.join(chosen)} LIMIT {self.most}",
            f"WITH {', '.join(held)}, count(*) AS merged",
            f"RETURN collect([{', '.join(held)}]) AS {name}, sum(merged) >= {self.most} AS {cut}",
            "}",
        ]
        self.cuts.append(cut)
        rows.clauses = [f"UNWIND {name} AS row", f"WITH {', '.join(unpacked('row', held))}"]
        rows.lists, rows.dropped = [name], False
        rows.marks = {mark: mark for mark in rows.marks}
        nodes = {node: var for var, node in self.short.items()}
        possible = math.prod(self.estimate.nodes(nodes[column]) for column in rows.columns)
        rows.size = min(rows.size, self._most_rows, float(possible))

    @cached_property
    def most(self) -> str:
        """Placeholder of the most rows that a step passes on; nodes that a walk starts over do not count."""
        scanned = self.estimate.nodes(self.plan.target.var) if self.scans and not self.from_target else 0
        return self.parameters.add(self._most_rows + scanned)

    def pattern(self, hop: Hop, near: str, far: str, edge: str = "") -> str:
        """Return a hop as a Cypher pattern from variable `near` to variable `far`; `edge` names the relationship."""
        kind = "" if hop.rel == ANY else f":{self.names.relation(self.schema.relation_codes[hop.rel])}"
        stored = directions(hop, self.types, self.schema)
        left, right = "-", "-"
        if len(stored) == 1:
            left, right = ("-", "->") if (stored[0] == "out") == (near == hop.source) else ("<-", "-")
        return f"({self.short[near]}){left}[{edge}{kind}]{right}({self.short[far]})"

    def type(self, var: str) -> list[str]:
        """Return the condition on a variable's node types; none if it may have any."""
        if var not in self.types:
            return []
        labels = "|".join(self.names.type(code) for code in sorted(self.types[var]))
        return [f"{self.short[var]}:{labels}"] if labels else ["false"]

    def conditions(self, var: str) -> list[str]:
        """Return the conditions on a variable's node other than its type: requested and barred keys, filters."""
        node = self.short[var]
        conditions = []
        if (asked := self.asked_of(var)) is not None:
            conditions.append(f"{node}.key IN {self.parameters.add(asked)}")
        if barred := self.barred.get(var):
            conditions.append(f"NOT {node}.key IN {self.parameters.add(sorted(barred))}")
        filters = [condition for condition in self.plan.filters if condition.var == var]
        return conditions + field_conditions(filters, node, self.names, self.parameters)


def unpacked(row: str, names: Sequence[str]) -> list[str]:
    """Return expressions that assign the items of the list `row` to variables."""
    return [f"{row}[{index}] AS {name}" for index, name in enumerate(names)]
