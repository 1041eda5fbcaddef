"""Compiles the Cypher statement for the best paths of candidates, which repeats the match from either of its ends."""

from __future__ import annotations

from collections.abc import Sequence

from search.adapters.graph_matching.estimate import MOST_ROWS
from search.adapters.graph_matching.order import depths, next_hop
from search.adapters.graph_matching.paths import compiled
from search.adapters.graph_neo4j.compile import CypherCompiler, CypherQuery, unpacked
from search.adapters.graph_neo4j.names import Names
from search.adapters.graph_neo4j.rows import CypherRows
from search.domain.errors import StageError
from search.domain.linking import LinkedPlan
from search.interfaces import Adjacency


def compile_paths(
    linked: LinkedPlan,
    names: Names,
    keys: Sequence[int],
    most: int,
    adjacency: Adjacency | None = None,
    most_rows: int = MOST_ROWS,
    *,
    from_target: bool = False,
) -> CypherQuery:
    """Return the statement for the best `most` paths of each key; see `compiled`."""
    return compiled(lambda: _PathCompiler(linked, names, adjacency, most_rows), keys, most, from_target=from_target)


class _PathCompiler(CypherCompiler):
    """Compiles one linked plan for given candidates; an instance compiles one statement."""

    def paths(self, keys: Sequence[int], most: int, *, from_target: bool) -> CypherQuery:
        """Return the statement of `paths`: its result is one list of rows, and whether partial matches were cut off.

        A row is its rank among the paths of its target, the score, the key of every variable (in the order of
        `Plan.variables`), and for every hop the type of the relationship and whether it is stored in the hop's
        direction. The best bindings of each candidate are found first. The rest of the match is then filled in for
        these only, and the first fitting match is taken. The match is walked from the anchors, or from the candidates
        with `from_target`.
        """
        self.keys, self.from_target = keys, from_target
        found = self.match()
        target = self.short[self.plan.target.var]
        anchors = [anchor for anchor in found.anchors if anchor != target]
        # All joins are done, so the remembered nodes are not needed any more.
        found.columns, found.marks = [target, *anchors], {}
        self.make_distinct(found)
        limit = self.parameters.add(most)
        order = ", ".join(["score DESC", *(f"{anchor}.key" for anchor in anchors)])
        row = f"[{', '.join([*anchors, 'score'])}]"
        scored = f"[{', '.join([*anchors, self.summed(found.scores)])}]"
        self.steps += [
            *found.opened(),
            f"WITH {target}, collect({scored}) AS rows",
            # One subquery for each target: sorting charges each row with the memory of every list in scope.
            f"CALL ({target}, rows) {{",
            "UNWIND rows AS row",
            f"WITH {', '.join(unpacked('row', [*anchors, 'score']))} ORDER BY {order} LIMIT {limit}",
            f"RETURN collect({row}) AS best",
            "}",
            "UNWIND range(0, size(best) - 1) AS place",
            f"WITH {target}, place, best[place] AS row",
            f"WITH {', '.join([target, 'place', *unpacked('row', [*anchors, 'score'])])}",
            *self._filled(target, anchors, limit),
            f"RETURN collect([{', '.join(['place', *self._outputs([target, *anchors])])}]) AS rows",
            "}",
            f"RETURN rows, {' OR '.join(self.cuts)} AS cut",
        ]
        return CypherQuery("\n".join(self.steps), self.parameters.values, ("rows", "cut"))

    def _outputs(self, fixed: Sequence[str]) -> list[str]:
        keys = [f"{var}.key" if var in fixed else var for var in self.short.values()]
        return ["score", *keys, *(f"{kind}{i}" for i in range(len(self.plan.hops)) for kind in ("r", "o"))]

    def _filled(self, target: str, anchors: Sequence[str], limit: str) -> list[str]:
        """Return the subquery that walks every hop between the anchors and a known target; empty without hops."""
        if not self.plan.hops:
            return []
        known = [target, *anchors]
        # As `CypherRows.anchors`, the anchors (the target may be one) exclude their nodes for every other variable.
        rows = CypherRows([], list(known), [self.short[anchor.var] for anchor in self.plan.anchors])
        pending, depth, taken = list(self.plan.hops), depths(self.plan), {}
        standing = {var for var, node in self.short.items() if node in known}
        compared = list(self.plan.comparisons)
        while pending:
            step = next_hop(pending, dict.fromkeys(standing, 0), depth)
            if step is None:
                raise StageError("explain", "not every starting point is connected with the target", permanent=True)
            hop, near, far = step
            pending.remove(hop)
            index = next(i for i, other in enumerate(self.plan.hops) if other is hop)
            rows.clauses.append(f"MATCH {self.pattern(hop, near, far, edge=f'e{index}')}")
            if conditions := self.edge_conditions(hop, f"e{index}"):
                rows.where(conditions)
            taken[index] = f"type(e{index}) AS r{index}, startNode(e{index}) = {self.short[hop.source]} AS o{index}"
            if far not in standing:
                standing.add(far)
                node = self.short[far]
                rows.where([*self.type(far), *rows.apart(node, but=node), *self.conditions(far)])
                rows.columns.append(node)
                self._compare(rows, compared)
        free = [f"{node}.key AS {node}" for node in self.short.values() if node not in known]
        returned = ", ".join([*free, *(taken[index] for index in range(len(self.plan.hops)))])
        return [f"CALL ({', '.join(known)}) {{", *rows.clauses, f"RETURN DISTINCT {returned} LIMIT {limit}", "}"]
