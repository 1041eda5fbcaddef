"""A linked plan as one SQL statement: its values are parameters, its identifiers come from integers alone.

The statement is built by eliminating variables. Each anchor starts a set of partial matches (its bindings); hops extend
a set by one variable, hops between two sets join them, and a variable whose hops are all done is dropped, so that only
the nodes that matter for the rest are carried on and duplicates disappear early. Two things are kept to stay exact:

- The nodes of a set's anchors, until the end, because no other variable of the row may take them.
- Of a dropped variable, its node where an anchor outside the set might be bound to it, else NULL: this is all that a
  later join has to compare, and it keeps the rows few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.adapters.graph_postgres.conditions import Parameters, field_conditions
from search.adapters.graph_postgres.order import allowed_types, depths, directions, next_hop
from search.adapters.graph_postgres.rows import Arm, Rows
from search.domain.errors import StageError
from search.domain.graph import ANY, Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Hop
from search.models.partitions import partition

STEPS = ",\n"


@dataclass(frozen=True, slots=True)
class Query:
    """A statement with named placeholders, and their values."""

    text: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tables:
    """The partitions of one snapshot; their names hold nothing but its number."""

    snapshot_id: int

    @property
    def edges(self) -> str:
        """The partition of edges."""
        return partition("search_edge", self.snapshot_id)

    @property
    def nodes(self) -> str:
        """The partition of nodes."""
        return partition("search_node", self.snapshot_id)


class Compiler:
    """Compiles one linked plan; used once for one statement."""

    def __init__(self, linked: LinkedPlan, schema: Schema, tables: Tables) -> None:
        self.plan = linked.plan
        self.schema = schema
        self.tables = tables
        self.parameters = Parameters()
        self.short = {var: f"v{i}" for i, var in enumerate(self.plan.variables)}
        self.types = allowed_types(self.plan, schema)
        self.keys: Sequence[int] | None = None
        self._fresh = 0
        self._steps: list[str] = []
        self.bound: dict[str, dict[int, float]] = {}
        for anchor in self.plan.anchors:
            usable: dict[int, float] = {}
            for binding in linked.bindings_of(anchor.var):
                allowed = self.types.get(anchor.var)
                if allowed is None or schema.type_codes.get(binding.node.type) in allowed:
                    score = usable.get(binding.node.key, binding.score)
                    usable[binding.node.key] = max(score, binding.score)
            self.bound[anchor.var] = usable

    def candidates(self, rows: int) -> Query:
        """Return the statement of `execute`: key and score of every node that T takes, at most rows + 1, best first."""
        found = self._match()
        most = self.parameters.add(rows + 1)
        target = found.columns[self.plan.target.var]
        steps = f"WITH {STEPS.join(self._steps)}\n" if self._steps else ""
        text = (
            f"{steps}SELECT {target} AS key, max({found.score}) AS score\n{found.body()}\n"
            f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {most}"
        )
        return Query(text, self.parameters.values)

    def paths(self, keys: Sequence[int], most: int) -> Query:
        """Return the statement of `paths`.

        Its columns are the score, the node of every variable (in the order of `Plan.variables`), and for every hop the
        code of its relation and whether the edge is stored as the hop is written. The best bindings of each key are
        found first; the rest of the match is then filled in for these alone, and the first that fits is taken.
        """
        self.keys = keys
        found = self._match()
        target = self.plan.target.var
        fixed = list(dict.fromkeys([target, *found.anchors]))
        limit = self.parameters.add(most)
        chosen = ", ".join(f"{found.columns[var]} AS {self.short[var]}" for var in fixed)
        order = ", ".join(self.short[var] for var in fixed)
        filled = Rows(["(SELECT) AS start"], {var: f"best.{self.short[var]}" for var in fixed}, list(found.anchors), "")
        hops = self._fill(filled)
        nodes = [f"{filled.columns[var]} AS {self.short[var]}" for var in self.plan.variables if var not in fixed]
        inner = [f"SELECT {', '.join([*nodes, *hops])}\n{filled.body()}\nLIMIT {limit}"] if hops else []
        self._steps.append(f"found AS (SELECT DISTINCT {chosen}, {found.score} AS score\n{found.body()})")
        text = (
            f"WITH {STEPS.join(self._steps)},\n"
            f"ranked AS (SELECT *, row_number() OVER (PARTITION BY {self.short[target]} "
            f"ORDER BY score DESC, {order}) AS place FROM found),\n"
            f"best AS MATERIALIZED (SELECT * FROM ranked WHERE place <= {limit})\n"
            f"SELECT {', '.join(['best.score', *self._outputs(fixed)])}\nFROM best"
        )
        for select in inner:
            text += f"\nCROSS JOIN LATERAL ({select}) AS filled"
        return Query(f"{text}\nORDER BY best.{self.short[target]}, best.place", self.parameters.values)

    def _outputs(self, fixed: Sequence[str]) -> list[str]:
        where = {var: "best" if var in fixed else "filled" for var in self.plan.variables}
        nodes = [f"{where[var]}.{self.short[var]}" for var in self.plan.variables]
        return nodes + [f"filled.{name}{i}" for i in range(len(self.plan.hops)) for name in ("r", "o")]

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
                rows.conditions.append(self._edge_exists(hop, rows.columns))
            else:
                self._make_distinct(rows)
                self._extend(rows, hop, near, far)
                if other is not None:
                    self._drop_done(rows, [*pending, Hop(far, ANY, far)])
                    self._join(rows, other, far)
            self._drop_done(rows, pending)
            home = {var: rows if owner is rows or owner is other else owner for var, owner in home.items()}
            home[far] = rows
        sets = {id(rows) for rows in home.values()}
        if pending or len(sets) != 1 or self.plan.target.var not in home:
            raise StageError("traverse", "the hops do not connect every anchor with the target", permanent=True)
        return home[self.plan.target.var]

    def _start(self, var: str) -> Rows:
        """Begin with the bindings of an anchor."""
        scores = self.bound[var]
        alias = f"b{self.short[var]}"
        keys = self.parameters.add(list(scores), "int[]")
        weights = self.parameters.add(list(scores.values()), "float8[]")
        rows = Rows(
            [f"unnest({keys}, {weights}) AS {alias}(key, score)"], {var: f"{alias}.key"}, [var], f"{alias}.score"
        )
        rows.conditions += self._conditions(var, f"{alias}.key")
        return rows

    def _extend(self, rows: Rows, hop: Hop, near: str, far: str) -> None:
        """Walk a hop from a node of each row to one more node."""
        alias = self._alias("e")
        rows.items.append(self._edges(hop, near, alias, {near: rows.columns[near]}, far))
        column = f"{alias}.there"
        rows.apart(column, but=far)
        rows.columns[far] = column
        rows.conditions += self._conditions(far, column)

    def _join(self, rows: Rows, other: Rows, shared: str) -> None:
        """Join two sets on the variable that both have; no variable of one may take an anchor's node of the other."""
        self._make_distinct(rows)
        self._make_distinct(other)
        joined = [f"{rows.columns[shared]} = {other.columns[shared]}"]
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
        rows.score = f"{rows.score} + {other.score}"

    def _drop_done(self, rows: Rows, pending: Sequence[Hop]) -> None:
        """Drop the variables that no hop needs any more, remembering what an anchor outside might collide with."""
        needed = {end for hop in pending for end in (hop.source, hop.to_var)} | {self.plan.target.var, *rows.anchors}
        outside = sorted({key for var, keys in self.bound.items() if var not in rows.anchors for key in keys})
        for var in [var for var in rows.columns if var not in needed]:
            column = rows.columns.pop(var)
            if outside:
                rows.marks.append(
                    f"CASE WHEN {column} = ANY({self.parameters.add(outside, 'int[]')}) THEN {column} END"
                )
            rows.dropped = True

    def _make_distinct(self, rows: Rows) -> None:
        """Make a step of its own of the rows, distinct and computed once, where variables have been dropped."""
        if not rows.dropped:
            return
        alias = self._alias("s")
        named = {f"{self.short[var]}": column for var, column in rows.columns.items()}
        named |= {f"m{i}": mark for i, mark in enumerate(rows.marks)} | {"score": rows.score}
        select = ", ".join(f"{expression} AS {name}" for name, expression in named.items())
        self._steps.append(f"{alias} AS MATERIALIZED (SELECT DISTINCT {select}\n{rows.body()})")
        rows.items = [alias]
        rows.columns = {var: f"{alias}.{self.short[var]}" for var in rows.columns}
        rows.marks = [f"{alias}.m{i}" for i in range(len(rows.marks))]
        rows.score, rows.conditions, rows.dropped = f"{alias}.score", [], False

    def _fill(self, rows: Rows) -> list[str]:
        """Walk every hop between the anchors and a known target; return the columns that say which edges were taken."""
        pending = list(self.plan.hops)
        depth = depths(self.plan)
        taken: list[str] = []
        while pending:
            step = next_hop(pending, dict.fromkeys(rows.columns, 0), depth)
            if step is None:
                raise StageError("explain", "the hops do not connect every anchor with the target", permanent=True)
            hop, near, far = step
            pending.remove(hop)
            alias = self._alias("e")
            known = {var: rows.columns[var] for var in (near, far) if var in rows.columns}
            rows.items.append(self._edges(hop, near, alias, known, far))
            if far not in rows.columns:
                rows.apart(f"{alias}.there", but=far)
                rows.columns[far] = f"{alias}.there"
                rows.conditions += self._conditions(far, f"{alias}.there")
            index = next(i for i, other in enumerate(self.plan.hops) if other is hop)
            taken += [f"{alias}.relation AS r{index}", f"{alias}.forward AS o{index}"]
        return taken

    def _edges(self, hop: Hop, near: str, alias: str, known: Mapping[str, str], far: str) -> str:
        """Return the FROM item of one hop; it gives `there`, `relation` and `forward`.

        A lateral subquery that cannot be merged into the statement (a union, or one with OFFSET) is run once a row,
        from the index. Left free, the planner, whose estimates multiply along the hops, turns to reading every edge.
        """
        selects: list[str] = []
        for arm in self._arms(hop, near):
            where = [f"{arm.here} = {known[near]}"]
            if hop.rel != ANY:
                where.append(f"relation = {self.parameters.add(self.schema.relation_codes[hop.rel], 'int2')}")
            if far in known:
                where.append(f"{arm.there} = {known[far]}")
            elif far in self.types:
                where.append(f"{arm.there_type} = ANY({self.parameters.add(sorted(self.types[far]), 'int2[]')})")
            if selects:
                where.append("source <> target")
            forward = "true" if arm.stored == "out" else "false"
            selects.append(
                f"SELECT {arm.there} AS there, relation, {forward} AS forward "
                f"FROM {self.tables.edges} WHERE {' AND '.join(where)}"
            )
        fence = " OFFSET 0" if len(selects) == 1 else ""
        return f"CROSS JOIN LATERAL ({' UNION ALL '.join(selects)}{fence}) AS {alias}"

    def _edge_exists(self, hop: Hop, columns: Mapping[str, str]) -> str:
        """Return the condition that an edge joins two nodes that are known already."""
        relation = ""
        if hop.rel != ANY:
            relation = f" AND relation = {self.parameters.add(self.schema.relation_codes[hop.rel], 'int2')}"
        arms = [
            f"EXISTS (SELECT FROM {self.tables.edges} WHERE {arm.here} = {columns[hop.source]} "
            f"AND {arm.there} = {columns[hop.to_var]}{relation})"
            for arm in self._arms(hop, hop.source)
        ]
        return f"({' OR '.join(arms)})"

    def _arms(self, hop: Hop, near: str) -> list[Arm]:
        """Return the ways to walk a hop from `near` that the schema has edges for."""
        arms = []
        for stored in directions(hop, self.types, self.schema):
            if (stored == "out") == (near == hop.source):
                arms.append(Arm("source", "target", "target_type", stored))
            else:
                arms.append(Arm("target", "source", "source_type", stored))
        return arms

    def _conditions(self, var: str, column: str) -> list[str]:
        """Return what a variable's node must satisfy beyond its type: the filters, and the keys asked for."""
        conditions = []
        if self.keys is not None and var == self.plan.target.var:
            conditions.append(f"{column} = ANY({self.parameters.add(list(self.keys), 'int[]')})")
        filters = [condition for condition in self.plan.filters if condition.var == var]
        if filters:
            where = " AND ".join(field_conditions(filters, "node", self.parameters))
            conditions.append(f"EXISTS (SELECT FROM {self.tables.nodes} AS node WHERE node.key = {column} AND {where})")
        return conditions

    def _alias(self, prefix: str) -> str:
        self._fresh += 1
        return f"{prefix}{self._fresh}"
