"""Counts the nodes that nodes are joined with, over the memory-mapped graph."""

from __future__ import annotations

from collections.abc import Collection

from search import joined_nodes
from search.adapters.graph_matching.found import Longs
from search.domain.graph import ANY, DIRECTIONS, Direction, Schema
from search.domain.plan import Count
from search.interfaces import Adjacency
from search.joined_nodes import Steps
from search.key_sets import distinct, places_in


def counts(graph: Adjacency, schema: Schema, count: Count, keys: Longs, among: Longs | None = None) -> Longs:
    """Return for each key the number of different nodes that it is joined with as `count` says; of those `among`."""
    near = distinct(keys, graph.size)
    ends = None if among is None else distinct(among, graph.size)
    numbers = joined_nodes.numbers_of_joined(graph, _steps(schema, count), near, _types(schema, count), ends)
    assert numbers is not None
    found: Longs = numbers[places_in(near, keys, graph.size)]
    return found


def joined(
    graph: Adjacency, schema: Schema, count: Count, keys: Longs, among: Longs | None = None
) -> tuple[Longs, Longs]:
    """Return (keys, nodes): each different node that `count` counts of a key."""
    near = distinct(keys, graph.size)
    ends = None if among is None else distinct(among, graph.size)
    pairs = joined_nodes.joined(graph, _steps(schema, count), near, _types(schema, count), ends)
    assert pairs is not None
    return near[pairs[0]].astype("int64"), pairs[1]


def _steps(schema: Schema, count: Count) -> Steps:
    relations = range(len(schema.relations)) if count.rel == ANY else [schema.relation_codes[count.rel]]
    ways: tuple[Direction, ...] = DIRECTIONS if count.direction is None else (count.direction,)
    return [(relation, way) for relation in relations for way in ways]


def _types(schema: Schema, count: Count) -> Collection[int]:
    return range(len(schema.node_types)) if count.to_label == ANY else [schema.type_codes[count.to_label]]
