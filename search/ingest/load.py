"""The second pass over a bundle: COPY loads the rows into new partitions of a snapshot, which are then indexed.

Each partition is truncated and filled in one transaction. Postgres can then write the rows as frozen: index-only scans
work at once, and no vacuum has to visit the rows later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import orjson
from django.db import connection, transaction
from numpy.typing import NDArray
from psycopg import sql

from search.domain.graph import Field
from search.domain.run_context import UNOBSERVED, Progress, RunContext
from search.ingest import partitions
from search.ingest.edges import Edges
from search.ingest.fields import fit
from search.ingest.parts import INDEX_EDGES, INDEX_NODES, LOAD_EDGES, LOAD_NODES
from search.ingest.validate import CheckedBundle
from search.models.partitions import Partitioned, partition

NODES_A_BLOCK = 2_000
EDGES_A_BLOCK = 100_000
NODE_COLUMNS = ("snapshot_id", "key", "type", "id", "name", "aliases", "url", "fields")
EDGE_COLUMNS = ("snapshot_id", "relation", "source", "target", "source_type", "target_type", "properties")

_BINARY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_BINARY_END = b"\xff\xff"
# One edge without properties in COPY's binary format: the number of columns, then each column after its length.
_EDGE = np.dtype(
    [
        ("columns", ">i2"),
        ("l0", ">i4"), ("snapshot", ">i8"),
        ("l1", ">i4"), ("relation", ">i2"),
        ("l2", ">i4"), ("source", ">i4"),
        ("l3", ">i4"), ("target", ">i4"),
        ("l4", ">i4"), ("source_type", ">i2"),
        ("l5", ">i4"), ("target_type", ">i2"),
        ("l6", ">i4"),
    ]
)  # fmt: skip


def load(checked: CheckedBundle, snapshot_id: int, run: RunContext = UNOBSERVED) -> None:
    """Fill and index the partitions of a snapshot; the caller attaches them.

    A partition that an interrupted call has filled and indexed is kept. The bundle must be the same.
    """
    for table in partitions.TABLES:
        partitions.create(table, snapshot_id)
    if not partitions.is_loaded("search_node", snapshot_id):
        with transaction.atomic():
            blocks = _node_blocks(checked, snapshot_id, run.report)
            _copy("search_node", NODE_COLUMNS, "text", snapshot_id, blocks)
            partitions.index("search_node", snapshot_id, INDEX_NODES, run)
    if not partitions.is_loaded("search_edge", snapshot_id):
        with transaction.atomic():
            run.report(LOAD_EDGES, 0, len(checked.edges))
            blocks = _edge_blocks(checked.edges, checked.type_of, snapshot_id, run.report)
            _copy("search_edge", EDGE_COLUMNS, "binary", snapshot_id, blocks)
            partitions.index("search_edge", snapshot_id, INDEX_EDGES, run)


def _copy(table: Partitioned, columns: tuple[str, ...], form: str, snapshot_id: int, blocks: Iterator[bytes]) -> None:
    name = sql.Identifier(partition(table, snapshot_id))
    statement = sql.SQL("COPY {} ({}) FROM STDIN WITH (FORMAT {}, FREEZE true)").format(
        name, sql.SQL(", ").join(map(sql.Identifier, columns)), sql.SQL(form)
    )
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("TRUNCATE {}").format(name))
        with cursor.copy(statement) as copy:
            for block in blocks:
                copy.write(block)


def _node_blocks(checked: CheckedBundle, snapshot_id: int, progress: Progress) -> Iterator[bytes]:
    lines: list[bytes] = []
    as_they_are = [_as_they_are(fields.values()) for fields in checked.fields]
    for key, node in checked.good_nodes(progress, LOAD_NODES):
        kinds, kept = checked.fields[node.type], as_they_are[node.type]
        fields = {
            name: value if type(value) is str and name in kept else fit(value, kinds[name])
            for name, value in node.fields.items()
        }
        texts = _escape("\0".join((node.id, node.name, _array(node.aliases), node.url)))
        # orjson writes every control character as an escape, so only its backslashes need doubling.
        written = orjson.dumps(fields).replace(b"\\", b"\\\\")
        lines.append(b"%d\t%d\t%d\t%b\t%b\n" % (snapshot_id, key, node.type, texts.encode(), written))
        if len(lines) == NODES_A_BLOCK:
            yield b"".join(lines)
            lines = []
    yield b"".join(lines)


def _as_they_are(fields: Iterable[Field]) -> frozenset[str]:
    """Return the names of the fields whose text values are stored without conversion."""
    return frozenset(field.name for field in fields if field.kind != "number" and not field.many)


def _escape(texts: str) -> str:
    """Return NUL-separated texts as tab-separated columns of COPY's text format; the texts contain no NUL."""
    escaped = texts.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return escaped.replace("\0", "\t")


def _array(items: list[str]) -> str:
    """Return a list of texts as a Postgres array literal."""
    if not items:
        return "{}"
    quoted = (item.replace("\\", "\\\\").replace('"', '\\"') for item in items)
    return "{" + ",".join(f'"{item}"' for item in quoted) + "}"


def _edge_blocks(edges: Edges, type_of: NDArray[np.int16], snapshot_id: int, progress: Progress) -> Iterator[bytes]:
    yield _BINARY_HEADER
    for begin in range(0, len(edges), EDGES_A_BLOCK):
        end = min(begin + EDGES_A_BLOCK, len(edges))
        block = np.empty(end - begin, _EDGE)
        block["columns"] = len(EDGE_COLUMNS)
        for column, size in zip(("l0", "l1", "l2", "l3", "l4", "l5", "l6"), (8, 2, 4, 4, 2, 2, -1), strict=True):
            block[column] = size
        source, target = edges.source[begin:end], edges.target[begin:end]
        block["snapshot"] = snapshot_id
        block["relation"] = edges.relation[begin:end]
        block["source"], block["target"] = source, target
        block["source_type"], block["target_type"] = type_of[source], type_of[target]
        yield block.tobytes() if edges.properties is None else _with_properties(block, edges, begin)
        progress(LOAD_EDGES, end, len(edges))
    yield _BINARY_END


def _with_properties(block: NDArray[np.void], edges: Edges, begin: int) -> bytes:
    rows = memoryview(block.tobytes())
    size = block.dtype.itemsize
    parts: list[bytes | memoryview] = []
    for position in range(len(block)):
        row = rows[position * size : (position + 1) * size]
        properties = edges.property_of(begin + position)
        if properties:
            # Replace the length field of NULL (-1) by a jsonb value: length, version byte 1, text.
            parts += [row[:-4], (len(properties) + 1).to_bytes(4, "big"), b"\x01", properties]
        else:
            parts.append(row)
    return b"".join(parts)
