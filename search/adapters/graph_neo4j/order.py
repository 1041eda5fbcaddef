"""Compiles the Cypher statements for the values that a plan's order compares."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from search.adapters.graph_matching.order import allowed_types, directions
from search.adapters.graph_neo4j.compile import CypherQuery
from search.adapters.graph_neo4j.conditions import CypherParameters, field_conditions
from search.adapters.graph_neo4j.names import Names
from search.domain.graph import ANY
from search.domain.plan import Count, Hop, Order, Plan


def compile_order(order: Order, names: Names, keys: Sequence[int], among: Collection[int] | None = None) -> CypherQuery:
    """Return the statement: its only row is a list of rows, each a key with its values or its count.

    The values of a field are its texts and its numbers. Nodes without any may be absent. Only the nodes `among` are
    counted; None counts all.
    """
    parameters = CypherParameters()
    start = [f"UNWIND {parameters.add(list(keys))} AS key", f"MATCH (node:{names.nodes} {{key: key}})"]
    if isinstance(order.by, Count):
        clauses = [
            *start,
            *_counted(order.by, names, among, parameters),
            "WITH key, count(DISTINCT other) AS number",
            "RETURN collect([key, number]) AS rows",
        ]
        return CypherQuery("\n".join(clauses), parameters.values)
    prefix = names.field(order.field)
    if prefix is None:
        return CypherQuery("RETURN [] AS rows", {})
    clauses = [*start, f"RETURN collect([key, node.{prefix}s, node.{prefix}n]) AS rows"]
    return CypherQuery("\n".join(clauses), parameters.values)


def compile_joined(count: Count, names: Names, keys: Sequence[int], among: Collection[int] | None) -> CypherQuery:
    """Return the statement: its only row is a list of rows, each a key and a different node that the count counts."""
    parameters = CypherParameters()
    clauses = [
        f"UNWIND {parameters.add(list(keys))} AS key",
        f"MATCH (node:{names.nodes} {{key: key}})",
        *_counted(count, names, among, parameters),
        "WITH DISTINCT key, other",
        "RETURN collect([key, other.key]) AS rows",
    ]
    return CypherQuery("\n".join(clauses), parameters.values)


def _counted(count: Count, names: Names, among: Collection[int] | None, parameters: CypherParameters) -> list[str]:
    """Return the clauses that bind `other` to each node that a count counts of `node`."""
    kind = "" if count.rel == ANY else f":{names.relation(names.schema.relation_codes[count.rel])}"
    left, right = {"out": ("-", "->"), "in": ("<-", "-"), None: ("-", "-")}[count.direction]
    code = None if count.to_label == ANY else names.schema.type_codes[count.to_label]
    label = "" if code is None else f":{names.type(code)}"
    walk = f"MATCH (node){left}[{kind}]{right}(other{label})"
    return [walk, *([] if among is None else [f"WHERE other.key IN {parameters.add(sorted(among))}"])]


def compile_edges(
    hop: Hop, plan: Plan, names: Names, field: str, keys: Sequence[int], among: Collection[int]
) -> CypherQuery:
    """Return the statement: its only row is a list of rows, each a key that T takes with the values of an edge's field.

    The edges are those of a hop from the key to a node `among`.
    """
    prefix = names.field(field)
    if prefix is None:
        return CypherQuery("RETURN [] AS rows", {})
    parameters = CypherParameters()
    kind = "" if hop.rel == ANY else f":{names.relation(names.schema.relation_codes[hop.rel])}"
    stored = directions(hop, allowed_types(plan, names.schema), names.schema)
    left, right = "-", "-"
    if len(stored) == 1:
        left, right = ("-", "->") if (stored[0] == "out") == (hop.source == plan.target.var) else ("<-", "-")
    where = [f"other.key IN {parameters.add(sorted(among))}", *field_conditions(hop.where, "e", names, parameters)]
    clauses = [
        f"UNWIND {parameters.add(list(keys))} AS key",
        f"MATCH (node:{names.nodes} {{key: key}})",
        f"MATCH (node){left}[e{kind}]{right}(other)",
        f"WHERE {' AND '.join(where)}",
        f"RETURN collect([key, e.{prefix}s, e.{prefix}n]) AS rows",
    ]
    return CypherQuery("\n".join(clauses), parameters.values)
