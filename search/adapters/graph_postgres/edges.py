"""Writes hops as SQL over a snapshot's edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.adapters.graph_matching.order import directions
from search.adapters.graph_postgres.conditions import SqlParameters, field_conditions
from search.adapters.graph_postgres.rows import Arm
from search.domain.graph import ANY, Schema
from search.domain.plan import Hop


@dataclass(frozen=True, slots=True)
class HopWriter:
    """Writes hops as SQL; `types` maps a variable to the type codes that it may have."""

    table: str
    schema: Schema
    types: Mapping[str, frozenset[int]]
    parameters: SqlParameters

    def walk(
        self,
        hop: Hop,
        near: str,
        far: str,
        alias: str,
        known: Mapping[str, str],
        among: Sequence[int],
        more: str = "",
    ) -> str:
        """Return the FROM item of one hop; its columns are `there`, `relation`, `forward`, and those of `more`.

        `known` holds the columns of the known ends. `among` holds the only keys that an unknown `far` may take; empty
        means any. Each lateral subquery is one that Postgres cannot merge into the statement (a union, or one with
        OFFSET), so that it runs once for each row, from the index. Without this, Postgres' planner reads every edge,
        because its estimates multiply along the hops.
        """
        selects: list[str] = []
        for arm in self._arms(hop, near):
            where = [f"{arm.here} = {known[near]}"]
            if hop.rel != ANY:
                where.append(f"relation = {self._relation(hop)}")
            if far in known:
                where.append(f"{arm.there} = {known[far]}")
            else:
                if among:
                    where.append(f"{arm.there} = ANY({self.parameters.add(list(among), 'int[]')})")
                if far in self.types:
                    where.append(f"{arm.there_type} = ANY({self.parameters.add(sorted(self.types[far]), 'int2[]')})")
            where += self._where(hop)
            if selects:
                where.append("source <> target")
            forward = "true" if arm.stored == "out" else "false"
            selects.append(
                f"SELECT {arm.there} AS there, relation, {forward} AS forward{more} "
                f"FROM {self.table} WHERE {' AND '.join(where)}"
            )
        fence = " OFFSET 0" if len(selects) == 1 else ""
        return f"CROSS JOIN LATERAL ({' UNION ALL '.join(selects)}{fence}) AS {alias}"

    def exists(self, hop: Hop, columns: Mapping[str, str]) -> str:
        """Return the condition that an edge for the hop joins its two known nodes."""
        relation = "" if hop.rel == ANY else f" AND relation = {self._relation(hop)}"
        arms = [
            f"EXISTS (SELECT FROM {self.table} WHERE {arm.here} = {columns[hop.source]} "
            f"AND {arm.there} = {columns[hop.to_var]}{relation}{''.join(f' AND {one}' for one in self._where(hop))})"
            for arm in self._arms(hop, hop.source)
        ]
        return f"({' OR '.join(arms)})"

    def _where(self, hop: Hop) -> list[str]:
        """Return the conditions on the fields of a hop's edge."""
        return field_conditions(hop.where, self.table, self.parameters, "properties")

    def _relation(self, hop: Hop) -> str:
        return self.parameters.add(self.schema.relation_codes[hop.rel], "int2")

    def _arms(self, hop: Hop, near: str) -> list[Arm]:
        """Return the ways to walk a hop from `near` for which the schema has edges."""
        arms = []
        for stored in directions(hop, self.types, self.schema):
            if (stored == "out") == (near == hop.source):
                arms.append(Arm("source", "target", "target_type", stored))
            else:
                arms.append(Arm("target", "source", "source_type", stored))
        return arms
