"""Compiles the SQL statement for the values that a plan's order compares."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from search.adapters.graph_matching.order import allowed_types
from search.adapters.graph_postgres.compile import Query, Tables
from search.adapters.graph_postgres.conditions import NAME, Parameters
from search.adapters.graph_postgres.edges import HopWriter
from search.domain.graph import Schema
from search.domain.plan import Hop, Order, Plan, Target


def compile_order(
    order: Order, schema: Schema, tables: Tables, keys: Sequence[int], among: Collection[int] | None = None
) -> Query:
    """Return the statement: its rows are a key, and its field as JSON or the number of nodes that it is joined with.

    Only the nodes `among` are counted; None counts all.
    """
    parameters = Parameters()
    given = parameters.add(list(keys), "int[]")
    if isinstance(order.by, str):
        value = "to_jsonb(name)" if order.by == NAME else f"fields -> {parameters.add(order.by, 'text')}"
        text = f"SELECT key, {value} FROM {tables.nodes} WHERE key = ANY({given})"
        return Query(text, parameters.values, keep=False)
    hop = Hop("T", order.by.rel, "counted", order.by.to_label, order.by.direction)
    types = allowed_types(Plan(hops=(hop,), target=Target("T")), schema)
    walk = HopWriter(tables.edges, schema, types, parameters).walk(hop, "T", "counted", "e", {"T": "given.key"}, ())
    counted = f"SELECT count(DISTINCT e.there) FROM (SELECT) AS start {walk}"
    if among is not None:
        counted += f" WHERE e.there = ANY({parameters.add(sorted(among), 'int[]')})"
    return Query(f"SELECT given.key, ({counted}) FROM unnest({given}) AS given(key)", parameters.values, keep=False)
