"""Streams the nodes of a snapshot, with the names of their neighbours, in blocks of consecutive keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import orjson
from django.db import connection
from numpy.typing import NDArray
from psycopg import sql

from search.domain.graph import FieldValue, Node, Schema
from search.models.node_rows import NODE_COLUMNS, node_of
from search.text import NAMES_PER_RELATION

NODES_A_BLOCK = 1_000
"""Nodes that one query reads."""
ROWS_BETWEEN_CHECKS = 50_000
"""Rows of edges that are read between two checks whether the work must stop."""
_HEADER = len(b"PGCOPY\n\xff\r\n\0") + 8
_EDGE = np.dtype(
    [("columns", ">i2"), ("l0", ">i4"), ("relation", ">i2"), ("l1", ">i4"), ("near", ">i4"), ("l2", ">i4"),
     ("far", ">i4")]
)  # fmt: skip
"""One row of an edge in COPY's binary format: the number of columns, then each column after its length in bytes."""
_ALL_EDGES = "SELECT relation, source, target FROM search_edge WHERE snapshot_id = {snapshot}"
_EDGES_AT = """
SELECT relation, source, target FROM search_edge
WHERE snapshot_id = {snapshot} AND source >= {first} AND source < {last}
UNION ALL
SELECT relation, target, source FROM search_edge
WHERE snapshot_id = {snapshot} AND target >= {first} AND target < {last}"""

Neighbours = dict[str, list[str]]
"""Relation name → names of the node's neighbours over that relation."""


@dataclass(frozen=True, slots=True)
class NodeWithNeighbours:
    """A node with the names of its neighbours, at most `NAMES_PER_RELATION` for each relation."""

    node: Node
    neighbours: Neighbours


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


def references(snapshot_id: int, size: int = 10 * NODES_A_BLOCK) -> Iterator[list[tuple[str, str, int]]]:
    """Yield blocks of (id, name, type code) of all nodes of a snapshot, in the order of keys, `size` nodes each."""
    first = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT id, name, type FROM search_node WHERE snapshot_id = %s AND key >= %s AND key < %s ORDER BY key",
                [snapshot_id, first, first + size],
            )
            rows = cursor.fetchall()
        if not rows:
            return
        yield rows
        first += size


def nodes_with_neighbours(
    snapshot_id: int, schema: Schema, name_of: Callable[[int], str], first: int = 0, size: int = NODES_A_BLOCK
) -> Iterator[list[NodeWithNeighbours]]:
    """Yield blocks of nodes with their neighbours' names.

    `name_of` returns the name of a key. Edges in both directions count as neighbours of the same relation. `first` and
    `size` are as for `nodes`.
    """
    for block in nodes(snapshot_id, schema, first, size):
        near = _neighbours(snapshot_id, schema, name_of, block[0].key, block[-1].key + 1)
        yield [NodeWithNeighbours(node, near.get(node.key, {})) for node in block]


def edges(
    snapshot_id: int, check: Callable[[], None] = lambda: None
) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int32]]:
    """Return all edges of a snapshot as three arrays of equal length: relation codes, source keys, target keys.

    `check` is called now and then; the exception that it raises ends the reading.
    """
    rows = _copied(sql.SQL(_ALL_EDGES).format(snapshot=sql.Literal(snapshot_id)), check)
    return rows["relation"].astype(np.int16), rows["near"].astype(np.int32), rows["far"].astype(np.int32)


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
    snapshot_id: int, schema: Schema, name_of: Callable[[int], str], first: int, last: int
) -> dict[int, Neighbours]:
    """Return key → neighbours for the nodes with keys in [first, last); neighbours are taken in the order of keys."""
    rows = _copied(
        sql.SQL(_EDGES_AT).format(snapshot=sql.Literal(snapshot_id), first=sql.Literal(first), last=sql.Literal(last))
    )
    group = (rows["near"].astype(np.int64) - first) * max(len(schema.relations), 1) + rows["relation"]
    pairs = np.unique(np.stack([group, rows["far"].astype(np.int64)], axis=1), axis=0)
    if not len(pairs):
        return {}
    group, far = pairs.T
    begins = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    place = np.arange(len(group)) - np.repeat(begins, np.diff(np.append(begins, len(group))))
    kept = place < NAMES_PER_RELATION
    found: dict[int, Neighbours] = {}
    for code, neighbour in zip(group[kept].tolist(), far[kept].tolist(), strict=True):
        key, relation = divmod(code, max(len(schema.relations), 1))
        names = found.setdefault(key + first, {}).setdefault(schema.relations[relation].name, [])
        names.append(name_of(neighbour))
    return found


def _copied(query: sql.Composed, check: Callable[[], None] = lambda: None) -> NDArray[np.void]:
    """Return the rows of a query over edges as one array of `_EDGE`, without parsing each row in Python."""
    parts = []
    statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(query)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for place, part in enumerate(copy):
            parts.append(bytes(part))
            if place % ROWS_BETWEEN_CHECKS == 0:
                check()
    data = b"".join(parts)
    return np.frombuffer(data, dtype=_EDGE, offset=_HEADER, count=(len(data) - _HEADER - 2) // _EDGE.itemsize)
