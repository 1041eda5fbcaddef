"""Streams the nodes of a snapshot, with the names of their neighbours, in blocks of consecutive keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
import orjson
from django.db import connection
from numpy.typing import NDArray

from search.domain.graph import Direction, FieldValue, Node, Schema
from search.interfaces import Adjacency, Keys
from search.models.node_rows import NODE_COLUMNS, node_of
from search.models.partitions import partition
from search.text import NAMES_PER_RELATION

NODES_A_BLOCK = 1_000
"""Nodes that one query reads."""
EDGES_A_BLOCK = 500_000
"""Edges that one query reads: 5 MB. Each as a row of its own takes five times as long."""
_EDGE = np.dtype([("relation", ">i2"), ("near", ">i4"), ("far", ">i4")])
"""An edge as Postgres sends many of them in one value."""
_EDGES = """
SELECT string_agg(int2send(relation) || int4send({near}) || int4send({far}), ''::bytea) FROM (
  SELECT relation, {near}, {far} FROM {table} WHERE ({near}, relation, {far}) > (%s, %s, %s)
  ORDER BY {near}, relation, {far} LIMIT %s
) AS block"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NodeWithNeighbours(Generic[T]):
    """A node with the names (or keys) of its neighbours by relation, at most `NAMES_PER_RELATION` for each."""

    node: Node
    neighbours: dict[str, list[T]]


def nodes(snapshot_id: int, schema: Schema, first: int = 0, size: int = NODES_A_BLOCK) -> Iterator[list[Node]]:
    """Yield the nodes of a snapshot from key `first` on, in blocks of `size` consecutive keys."""
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {NODE_COLUMNS} FROM search_node WHERE snapshot_id = %s AND key >= %s AND key < %s "
                "ORDER BY key",
                [snapshot_id, first, first + size],
            )
            block = [node_of(row, schema) for row in cursor.fetchall()]
        if not block:
            return
        yield block
        first += size


def references(snapshot_id: int) -> Iterator[list[tuple[str, str, int]]]:
    """Yield blocks of (id, name, type code) of all nodes of a snapshot, in the order of keys."""
    return _rows(snapshot_id, "id, name, type")


def names(snapshot_id: int) -> Iterator[list[tuple[int, str, list[str]]]]:
    """Yield blocks of (key, name, aliases) of all nodes of a snapshot, in the order of keys."""
    return _rows(snapshot_id, "key, name, aliases")


def _rows(snapshot_id: int, columns: str, size: int = 10 * NODES_A_BLOCK) -> Iterator[list[Any]]:
    """Yield columns of all nodes in the order of keys, `size` nodes at a time; their fields are not read."""
    first = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {columns} FROM search_node WHERE snapshot_id = %s AND key >= %s AND key < %s ORDER BY key",
                [snapshot_id, first, first + size],
            )
            rows = cursor.fetchall()
        if not rows:
            return
        yield rows
        first += size


def nodes_with_neighbours(
    snapshot_id: int,
    schema: Schema,
    adjacency: Adjacency,
    told_of: Callable[[Keys], list[T]],
    first: int = 0,
    size: int = NODES_A_BLOCK,
) -> Iterator[list[NodeWithNeighbours[T]]]:
    """Yield blocks of nodes with their neighbours' names, or whatever `told_of` returns for keys.

    Edges in both directions count as neighbours of the same relation. `first` and
    `size` are as for `nodes`.
    """
    for block in nodes(snapshot_id, schema, first, size):
        near = _neighbours(schema, adjacency, told_of, block[0].key, block[-1].key + 1)
        yield [NodeWithNeighbours(node, near.get(node.key, {})) for node in block]


def edges(
    snapshot_id: int, check: Callable[[], None] = lambda: None
) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int32]]:
    """Return all edges of a snapshot as three arrays of equal length: relation codes, source keys, target keys.

    `check` is called now and then; the exception that it raises ends the reading.
    """
    parts = [(np.empty(0, np.int16), np.empty(0, np.int32), np.empty(0, np.int32))]
    relation, source, target = zip(*parts, *edge_blocks(snapshot_id, "out", check), strict=True)
    return np.concatenate(relation), np.concatenate(source), np.concatenate(target)


def edge_blocks(
    snapshot_id: int, direction: Direction, check: Callable[[], None] = lambda: None, size: int = EDGES_A_BLOCK
) -> Iterator[tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int32]]]:
    """Yield relation codes, near and far keys of all edges in blocks, sorted by near key, relation and far key.

    The near key of an edge is its source in the direction `out`. `check` is called before each block; the exception
    that it raises ends the reading.
    """
    near, far = ("source", "target") if direction == "out" else ("target", "source")
    # Asked for itself, the partition is answered from its index alone: the snapshot is not a column of it.
    query = _EDGES.format(table=partition("search_edge", snapshot_id), near=near, far=far)
    last = (-1, -1, -1)
    while True:
        check()
        with connection.cursor() as cursor:
            cursor.execute(query, [*last, size])
            [sent] = cursor.fetchone() or [None]
        if sent is None:
            return
        rows = np.frombuffer(sent, dtype=_EDGE)
        yield rows["relation"].astype(np.int16), rows["near"].astype(np.int32), rows["far"].astype(np.int32)
        last = int(rows["near"][-1]), int(rows["relation"][-1]), int(rows["far"][-1])


def edge_fields(
    snapshot_id: int,
    last: int,
    *,
    first: int = 0,
    size: int = 10 * NODES_A_BLOCK,
    check: Callable[[], None] = lambda: None,
) -> Iterator[tuple[int, int, int, Mapping[str, FieldValue]]]:
    """Yield relation code, source, target and fields of the edges that have fields, by source in [first, last).

    `check` is called now and then; the exception that it raises ends the reading.
    """
    for begin in range(first, last, size):
        check()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT relation, source, target, properties::text FROM search_edge WHERE snapshot_id = %s "
                "AND source >= %s AND source < %s AND properties IS NOT NULL ORDER BY source",
                [snapshot_id, begin, min(begin + size, last)],
            )
            for relation, source, target, written in cursor.fetchall():
                yield relation, source, target, orjson.loads(written)


def _neighbours(
    schema: Schema, adjacency: Adjacency, told_of: Callable[[Keys], list[T]], first: int, last: int
) -> dict[int, dict[str, list[T]]]:
    """Return key → neighbours for the nodes with keys in [first, last); neighbours are taken in the order of keys."""
    owners, relations, far = adjacency.first_of(first, last, NAMES_PER_RELATION)
    told = told_of(far)
    begins = np.flatnonzero((np.diff(owners, prepend=-1) != 0) | (np.diff(relations, prepend=-1) != 0))
    found: dict[int, dict[str, list[T]]] = {}
    groups = zip(owners[begins].tolist(), relations[begins].tolist(), strict=True)
    for (owner, relation), (begin, end) in zip(groups, pairwise([*begins.tolist(), len(far)]), strict=True):
        found.setdefault(owner, {})[schema.relations[relation].name] = told[begin:end]
    return found
