"""Compiles the SQL statements for the values that a plan's order compares."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from search.adapters.graph_matching.order import allowed_types
from search.adapters.graph_postgres.compile import GraphTables, SqlQuery
from search.adapters.graph_postgres.conditions import NAME, SqlParameters
from search.adapters.graph_postgres.edges import HopWriter
from search.domain.graph import Schema
from search.domain.plan import Count, Hop, Order, Plan, Target


def compile_order(
    order: Order, schema: Schema, tables: GraphTables, keys: Sequence[int], among: Collection[int] | None = None
) -> SqlQuery:
    """Return the statement: its rows are a key, and its field as JSON or the number of nodes that it is joined with.

    Only the nodes `among` are counted; None counts all.
    """
    parameters = SqlParameters()
    given = parameters.add(list(keys), "int[]")
    if isinstance(order.by, str):
        value = "to_jsonb(name)" if order.by == NAME else f"fields -> {parameters.add(order.by, 'text')}"
        text = f"SELECT key, {value} FROM {tables.nodes} WHERE key = ANY({given})"
        return SqlQuery(text, parameters.values, keep=False)
    assert isinstance(order.by, Count)
    walk, kept = _counted(order.by, schema, tables, among, parameters)
    counted = f"SELECT count(DISTINCT e.there) FROM (SELECT) AS start {walk}{kept}"
    return SqlQuery(f"SELECT given.key, ({counted}) FROM unnest({given}) AS given(key)", parameters.values, keep=False)


def compile_joined(
    count: Count, schema: Schema, tables: GraphTables, keys: Sequence[int], among: Collection[int] | None
) -> SqlQuery:
    """Return the statement: its rows are a key and a different node that the count counts of it."""
    parameters = SqlParameters()
    given = parameters.add(list(keys), "int[]")
    walk, kept = _counted(count, schema, tables, among, parameters)
    text = f"SELECT DISTINCT given.key, e.there FROM unnest({given}) AS given(key) {walk}{kept}"
    return SqlQuery(text, parameters.values, keep=False)


def _counted(
    count: Count, schema: Schema, tables: GraphTables, among: Collection[int] | None, parameters: SqlParameters
) -> tuple[str, str]:
    """Return the join with the nodes that a count counts of `given.key`, and the condition that they are `among`."""
    hop = Hop("T", count.rel, "counted", count.to_label, count.direction)
    types = allowed_types(Plan(hops=(hop,), target=Target("T")), schema)
    walk = HopWriter(tables.edges, schema, types, parameters).walk(hop, "T", "counted", "e", {"T": "given.key"}, ())
    return walk, "" if among is None else f" WHERE e.there = ANY({parameters.add(sorted(among), 'int[]')})"


def compile_edges(
    hop: Hop, plan: Plan, schema: Schema, tables: GraphTables, field: str, keys: Sequence[int], among: Collection[int]
) -> SqlQuery:
    """Return the statement: its rows are a key that T takes, and the field of an edge from it to a node `among`."""
    parameters = SqlParameters()
    near = plan.target.var
    far = hop.to_var if hop.source == near else hop.source
    more = f", properties -> {parameters.add(field, 'text')} AS value"
    writer = HopWriter(tables.edges, schema, allowed_types(plan, schema), parameters)
    walk = writer.walk(hop, near, far, "e", {near: "given.key"}, sorted(among), more)
    given = parameters.add(list(keys), "int[]")
    text = f"SELECT given.key, e.value FROM unnest({given}) AS given(key) {walk} WHERE e.value IS NOT NULL"
    return SqlQuery(text, parameters.values, keep=False)
