"""Compiles the statement for the best paths of candidates, which repeats the match from either of its ends."""

from __future__ import annotations

from collections.abc import Sequence

from search.adapters.graph_matching.order import depths, next_hop
from search.adapters.graph_matching.paths import compiled
from search.adapters.graph_postgres.compile import STEPS, GraphTables, SqlCompiler, SqlQuery
from search.adapters.graph_postgres.rows import SqlRows
from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.linking import LinkedPlan
from search.domain.plan import Hop
from search.interfaces import Adjacency


def compile_paths(
    linked: LinkedPlan,
    schema: Schema,
    tables: GraphTables,
    keys: Sequence[int],
    most: int,
    adjacency: Adjacency | None = None,
    *,
    from_target: bool = False,
) -> SqlQuery:
    """Return the statement for the best `most` paths of each key; see `compiled`."""
    return compiled(lambda: _PathCompiler(linked, schema, tables, adjacency), keys, most, from_target=from_target)


class _PathCompiler(SqlCompiler):
    """Compiles one linked plan for given candidates; an instance compiles one statement."""

    def paths(self, keys: Sequence[int], most: int, *, from_target: bool) -> SqlQuery:
        """Return the statement of `paths`.

        Its columns are: whether partial matches were cut off, the score, the key of every variable (in the order of
        `Plan.variables`), and for every hop the code of its relation and whether the edge is stored in the hop's
        direction. The best bindings of each candidate are found first. The rest of the match is then filled in for
        these only, and the first fitting match is taken. If nothing is found, one row says whether something was cut
        off; its other columns are NULL.
        """
        self.keys, self.from_target = keys, from_target
        found = self.match()
        target = self.plan.target.var
        fixed = list(dict.fromkeys([target, *found.anchors]))
        limit = self.parameters.add(most)
        chosen = ", ".join(f"{found.columns[var]} AS {self.short[var]}" for var in fixed)
        order = ", ".join(self.short[var] for var in fixed)
        filled = SqlRows(
            ["(SELECT) AS start"], {var: f"best.{self.short[var]}" for var in fixed}, list(found.anchors), {}
        )
        hops = self._fill(filled)
        nodes = [f"{filled.columns[var]} AS {self.short[var]}" for var in self.plan.variables if var not in fixed]
        inner = [f"SELECT {', '.join([*nodes, *hops])}\n{filled.body()}\nLIMIT {limit}"] if hops else []
        names = ", ".join([*(self.short[var] for var in fixed), "score"])
        self.steps.append(
            f"found AS MATERIALIZED (SELECT {names}, count(*) AS merged\n"
            f"FROM (SELECT {chosen}, {self.summed(found.scores)} AS score\n{found.body()}\nLIMIT {self.most}) AS part\n"
            f"GROUP BY {names})"
        )
        cut = " OR ".join([*self.cuts, f"coalesce((SELECT sum(merged) >= {self.most} FROM found), false)"])
        text = (
            f"WITH {STEPS.join(self.steps)},\n"
            f"ranked AS (SELECT *, row_number() OVER (PARTITION BY {self.short[target]} "
            f"ORDER BY score DESC, {order}) AS place FROM found),\n"
            f"best AS MATERIALIZED (SELECT * FROM ranked WHERE place <= {limit})\n"
            f"SELECT told.cut, {', '.join(['best.score', *self._outputs(fixed)])}\n"
            f"FROM (SELECT {cut} AS cut) AS told LEFT JOIN best ON true"
        )
        for select in inner:
            text += f"\nLEFT JOIN LATERAL ({select}) AS filled ON best.place IS NOT NULL"
        return SqlQuery(f"{text}\nORDER BY best.{self.short[target]}, best.place", self.parameters.values)

    def _outputs(self, fixed: Sequence[str]) -> list[str]:
        where = {var: "best" if var in fixed else "filled" for var in self.plan.variables}
        nodes = [f"{where[var]}.{self.short[var]}" for var in self.plan.variables]
        return nodes + [f"filled.{name}{i}" for i in range(len(self.plan.hops)) for name in ("r", "o")]

    def _fill(self, rows: SqlRows) -> list[str]:
        """Walk every hop between the anchors and a known target; return the columns that say which edges were taken."""
        pending = list(self.plan.hops)
        compared = list(self.plan.comparisons)
        depth = depths(self.plan)
        taken: list[str] = []
        while pending:
            step = next_hop(pending, dict.fromkeys(rows.columns, 0), depth, self._one_row)
            if step is None:
                raise StageError("explain", "not every starting point is connected with the target", permanent=True)
            hop, near, far = step
            pending.remove(hop)
            alias = self._alias("e")
            known = {var: rows.columns[var] for var in (near, far) if var in rows.columns}
            rows.items.append(self.edges.walk(hop, near, far, alias, known, ()))
            if far not in rows.columns:
                rows.apart(f"{alias}.there", but=far)
                rows.columns[far] = f"{alias}.there"
                rows.conditions += self._conditions(far, f"{alias}.there")
                self._compare(rows, compared)
            index = next(i for i, other in enumerate(self.plan.hops) if other is hop)
            taken += [f"{alias}.relation AS r{index}", f"{alias}.forward AS o{index}"]
        return taken

    def _one_row(self, hop: Hop, near: str, far: str) -> int:
        """Return the cost class of a hop that is walked once for each requested candidate."""
        return self.estimate.burden(self.estimate.edges(hop, near, far, len(self.keys or ())))
