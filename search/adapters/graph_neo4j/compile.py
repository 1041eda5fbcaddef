"""A linked plan as one Cypher statement: its values are parameters, its names come from integers alone.

The statement is built by eliminating variables, as that of Postgres is. Each anchor starts a set of partial matches
(its bindings); every hop is a MATCH of its own, so that an edge may serve two of them; a variable whose hops are all
done is dropped and the rows made distinct. Two sets are joined where they share a variable: both are collected by its
node, which Neo4j does by hashing. What is kept to stay exact:

- The nodes of a set's anchors, until the end, because no other variable of the row may take them.
- Of a dropped variable, its node where an anchor outside the set might be bound to it, else null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.adapters.graph_neo4j.conditions import Parameters, field_conditions
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.rows import Rows
from search.adapters.graph_postgres.order import allowed_types, depths, directions, next_hop, usable_bindings
from search.domain.errors import StageError
from search.domain.graph import ANY
from search.domain.linking import LinkedPlan
from search.domain.plan import Hop


@dataclass(frozen=True, slots=True)
class Query:
    """A statement with its parameters; it gives one row of lists."""

    text: str
    parameters: Mapping[str, Any]


class Compiler:
    """Compiles one linked plan; used once for one statement."""

    def __init__(self, linked: LinkedPlan, names: Names) -> None:
        self.plan = linked.plan
        self.names = names
        self.schema = names.schema
        self.parameters = Parameters()
        self.short = {var: f"v{i}" for i, var in enumerate(self.plan.variables)}
        self.types = allowed_types(self.plan, self.schema)
        self.keys: Sequence[int] | None = None
        self._fresh = 0
        self.bound = usable_bindings(linked, self.types, self.schema)

    def candidates(self, rows: int) -> Query:
        """Return the statement of `execute`: keys and scores of the nodes that T takes, best first.

        They are at most rows + 1, so that one sees whether there were more.
        """
        found = self._match()
        target = self.short[self.plan.target.var]
        most = self.parameters.add(rows + 1)
        clauses = [
            *found.clauses,
            f"WITH {target}, max(score) AS score",
            f"WITH {target}.key AS key, score ORDER BY score DESC, key LIMIT {most}",
            "RETURN collect(key) AS keys, collect(score) AS scores",
        ]
        return Query("\n".join(clauses), self.parameters.values)

    def paths(self, keys: Sequence[int], most: int) -> Query:
        """Return the statement of `paths`: one list of rows.

        A row is the score, the key of every variable's node (in the order of `Plan.variables`), and for every hop the
        type of the relationship and whether it is stored as the hop is written. The best bindings of each key are found
        first; the rest of the match is then filled in for these alone, and the first that fits is taken.
        """
        self.keys = keys
        found = self._match()
        limit = self.parameters.add(most)
        target = self.short[self.plan.target.var]
        anchors = [anchor for anchor in found.anchors if anchor != target]
        order = ", ".join(["score DESC", *(f"{anchor}.key" for anchor in anchors)])
        clauses = [
            *found.clauses,
            f"WITH DISTINCT {', '.join([target, *anchors, 'score'])} ORDER BY {order}",
            f"WITH {target}, collect([{', '.join([*anchors, 'score'])}])[..{limit}] AS best",
            "UNWIND range(0, size(best) - 1) AS place",
            f"WITH {target}, place, best[place] AS row",
            f"WITH {', '.join([target, 'place', *_unpacked('row', [*anchors, 'score'])])}",
            *self._filled(target, anchors, limit),
            f"WITH * ORDER BY {target}.key, place",
            f"RETURN collect([{', '.join(self._outputs([target, *anchors]))}]) AS rows",
        ]
        return Query("\n".join(clauses), self.parameters.values)

    def _outputs(self, fixed: Sequence[str]) -> list[str]:
        keys = [f"{var}.key" if var in fixed else var for var in self.short.values()]
        return ["score", *keys, *(f"{kind}{i}" for i in range(len(self.plan.hops)) for kind in ("r", "o"))]

    def _match(self) -> Rows:
        """Join everything into one set of rows that has the target's node and the score."""
        home = {var: self._start(var) for var in self.bound}
        pending = list(self.plan.hops)
        depth = depths(self.plan)
        while pending:
            step = next_hop(pending, {var: id(rows) for var, rows in home.items()}, depth)
            if step is None:
                break
            hop, near, far = step
            pending.remove(hop)
            rows = home[near]
            other = home.get(far)
            if other is rows:
                rows.where([f"EXISTS {{ {self._pattern(hop, near, far)} }}"])
            else:
                rows.make_distinct()
                # A variable that the other set holds comes from there; this set reaches it under the same name.
                self._extend(rows, hop, near, far)
                if other is not None:
                    self._drop_done(rows, [*pending, Hop(far, ANY, far)])
                    self._join(rows, other, self.short[far])
            self._drop_done(rows, pending)
            home = {var: rows if owner is rows or owner is other else owner for var, owner in home.items()}
            home[far] = rows
        if pending or len({id(rows) for rows in home.values()}) != 1 or self.plan.target.var not in home:
            raise StageError("traverse", "the hops do not connect every anchor with the target", permanent=True)
        return home[self.plan.target.var]

    def _start(self, var: str) -> Rows:
        """Begin with the bindings of an anchor."""
        node = self.short[var]
        bindings = self.parameters.add([[key, float(score)] for key, score in self.bound[var].items()])
        clauses = [
            f"UNWIND {bindings} AS binding",
            f"MATCH ({node}:{self.names.nodes} {{key: binding[0]}})",
            f"WITH {node}, binding[1] AS score",
        ]
        rows = Rows(clauses, [node], [node])
        rows.where(self._conditions(var))
        return rows

    def _extend(self, rows: Rows, hop: Hop, near: str, far: str) -> None:
        """Walk a hop from a node of each row to one more node."""
        node = self.short[far]
        rows.clauses.append(f"MATCH {self._pattern(hop, near, far)}")
        rows.columns.append(node)
        rows.where([*self._type(far), *rows.apart(node, but=node), *self._conditions(far)])

    def _join(self, rows: Rows, other: Rows, shared: str) -> None:
        """Join two sets on the variable that both have; no variable of one may take an anchor's node of the other."""
        rows.make_distinct()
        other.make_distinct()
        apart = []
        for one, two in ((rows, other), (other, rows)):
            for anchor in one.anchors:
                apart += [f"{column} <> {anchor}" for column in two.columns if column not in (shared, anchor)]
                apart += [f"({mark} IS NULL OR {mark} <> {anchor})" for mark in two.marks]
        mine, theirs = ([name for name in side.held if name not in (shared, "score")] for side in (rows, other))
        rows.clauses = [
            "CALL () {",
            *rows.clauses,
            f"RETURN {shared}, 0 AS side, [{', '.join([*mine, 'score'])}] AS row",
            "UNION ALL",
            *other.clauses,
            f"RETURN {shared}, 1 AS side, [{', '.join([*theirs, 'score'])}] AS row",
            "}",
            f"WITH {shared}, collect(CASE side WHEN 0 THEN row END) AS mine, "
            "collect(CASE side WHEN 1 THEN row END) AS theirs",
            "UNWIND mine AS one",
            "UNWIND theirs AS two",
            f"WITH {', '.join([shared, *_unpacked('one', mine), *_unpacked('two', theirs)])}, "
            f"one[{len(mine)}] + two[{len(theirs)}] AS score",
        ]
        rows.columns += [column for column in other.columns if column not in rows.columns]
        rows.anchors += [anchor for anchor in other.anchors if anchor not in rows.anchors]
        rows.marks |= other.marks
        rows.where(list(dict.fromkeys(apart)))

    def _drop_done(self, rows: Rows, pending: Sequence[Hop]) -> None:
        """Drop the variables that no hop needs any more, remembering what an anchor outside might collide with."""
        needed = {self.short[end] for hop in pending for end in (hop.source, hop.to_var)}
        needed |= {self.short[self.plan.target.var], *rows.anchors}
        outside = sorted(
            {key for var, keys in self.bound.items() if self.short[var] not in rows.anchors for key in keys}
        )
        for column in [column for column in rows.columns if column not in needed]:
            rows.columns.remove(column)
            if outside:
                self._fresh += 1
                rows.marks[f"m{self._fresh}"] = (
                    f"CASE WHEN {column}.key IN {self.parameters.add(outside)} THEN {column} END"
                )
            rows.dropped = True

    def _filled(self, target: str, anchors: Sequence[str], limit: str) -> list[str]:
        """Return the subquery that walks every hop between the anchors and a known target; nothing without hops."""
        if not self.plan.hops:
            return []
        known = [target, *anchors]
        # Anchors are in `Rows.anchors`, of which the target may be one; here they keep every other variable off.
        rows = Rows([], list(known), [self.short[anchor.var] for anchor in self.plan.anchors])
        pending, depth, taken = list(self.plan.hops), depths(self.plan), {}
        standing = {var for var, node in self.short.items() if node in known}
        while pending:
            step = next_hop(pending, dict.fromkeys(standing, 0), depth)
            if step is None:
                raise StageError("explain", "the hops do not connect every anchor with the target", permanent=True)
            hop, near, far = step
            pending.remove(hop)
            index = next(i for i, other in enumerate(self.plan.hops) if other is hop)
            rows.clauses.append(f"MATCH {self._pattern(hop, near, far, edge=f'e{index}')}")
            taken[index] = f"type(e{index}) AS r{index}, startNode(e{index}) = {self.short[hop.source]} AS o{index}"
            if far not in standing:
                standing.add(far)
                node = self.short[far]
                rows.where([*self._type(far), *rows.apart(node, but=node), *self._conditions(far)])
        free = [f"{node}.key AS {node}" for node in self.short.values() if node not in known]
        returned = ", ".join([*free, *(taken[index] for index in range(len(self.plan.hops)))])
        return [f"CALL ({', '.join(known)}) {{", *rows.clauses, f"RETURN DISTINCT {returned} LIMIT {limit}", "}"]

    def _pattern(self, hop: Hop, near: str, far: str, edge: str = "") -> str:
        """Return a hop as a pattern from the variable `near` to the variable `far`, both by name."""
        kind = "" if hop.rel == ANY else f":{self.names.relation(self.schema.relation_codes[hop.rel])}"
        stored = directions(hop, self.types, self.schema)
        left, right = "-", "-"
        if len(stored) == 1:
            left, right = ("-", "->") if (stored[0] == "out") == (near == hop.source) else ("<-", "-")
        return f"({self.short[near]}){left}[{edge}{kind}]{right}({self.short[far]})"

    def _type(self, var: str) -> list[str]:
        if var not in self.types:
            return []
        labels = "|".join(self.names.type(code) for code in sorted(self.types[var]))
        return [f"{self.short[var]}:{labels}"] if labels else ["false"]

    def _conditions(self, var: str) -> list[str]:
        """Return what a variable's node must satisfy beyond its type: the filters, and the keys asked for."""
        node = self.short[var]
        conditions = []
        if self.keys is not None and var == self.plan.target.var:
            conditions.append(f"{node}.key IN {self.parameters.add(list(self.keys))}")
        filters = [condition for condition in self.plan.filters if condition.var == var]
        return conditions + field_conditions(filters, node, self.names, self.parameters)


def _unpacked(row: str, names: Sequence[str]) -> list[str]:
    """Return what takes a list apart into variables."""
    return [f"{row}[{index}] AS {name}" for index, name in enumerate(names)]
