"""Writes small bundles in any format, and reads back what an import made of them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import zstandard
from django.db import connection

from search.models import Snapshot
from search.models.partitions import partition

Rows = Sequence[Mapping[str, Any]]

TYPES = {"film": {"fields": {"plot": 2}}, "person": {}}
PLOT = "A road through the amber forest, which nobody has walked."
NODES: Rows = (
    {"id": "f2", "type": "film", "name": "Amber Road", "fields": {"plot": PLOT, "year": 1999}},
    {"id": "p1", "type": "person", "name": "Ada Holm", "fields": {}},
    {"id": "f1", "type": "film", "name": "Birch Street", "fields": {"year": 2011}},
)
EDGES: Rows = (
    {"source": "f2", "relation": "DIRECTED_BY", "target": "p1"},
    {"source": "f1", "relation": "DIRECTED_BY", "target": "p1"},
)


def write(
    folder: Path,
    nodes: Rows = NODES,
    edges: Rows = EDGES,
    *,
    name: str = "films",
    form: str = "jsonl",
    compression: str = "",
    **manifest: Any,
) -> Path:
    """Write a bundle into a new folder and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kb.json").write_text(json.dumps({"name": name, "node_types": TYPES} | manifest))
    if form != "jsonl":
        columns = [key for key in ("id", "type", "name") if any(key in node for node in nodes)]
        fields = list(dict.fromkeys(field for node in nodes for field in node.get("fields", {})))
        nodes = [{**{c: n.get(c) for c in columns}, **{f: n["fields"].get(f) for f in fields}} for n in nodes]
    for stem, rows in (("nodes", nodes), ("edges", edges)):
        _write_file(folder / f"{stem}.{form}{compression}", rows, form, compression)
    return folder


def _write_file(path: Path, rows: Rows, form: str, compression: str) -> None:
    if form == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), path)
        return
    content = lines(rows) if form == "jsonl" else table(rows, "excel" if form == "csv" else "excel-tab")
    packs: dict[str, Callable[[bytes], bytes]] = {
        "": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress,
    }  # fmt: skip
    path.write_bytes(packs[compression](content))


def lines(rows: Rows) -> bytes:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(rows: Rows, dialect: str) -> bytes:
    """Return rows as a table with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), dialect=dialect, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def nodes_of(snapshot: Snapshot | int) -> list[tuple[Any, ...]]:
    """Return key, id, type code, name, aliases, url and fields of a snapshot's nodes, by key."""
    return _rows("SELECT key, id, type, name, aliases, url, fields FROM {} ORDER BY key", "search_node", snapshot)


def edges_of(snapshot: Snapshot | int) -> list[tuple[Any, ...]]:
    """Return source, relation, target, the types of both ends and the properties of a snapshot's edges, sorted."""
    columns = "source, relation, target, source_type, target_type, properties"
    return _rows(f"SELECT {columns} FROM {{}} ORDER BY source, relation, target", "search_edge", snapshot)


def _rows(statement: str, name: Any, snapshot: Snapshot | int) -> list[tuple[Any, ...]]:
    number = snapshot if isinstance(snapshot, int) else snapshot.pk
    with connection.cursor() as cursor:
        cursor.execute(statement.format(partition(name, number)))
        names = [column.name for column in cursor.description]
        return [
            tuple(
                json.loads(value) if name in JSON and value else value for name, value in zip(names, row, strict=True)
            )
            for row in cursor.fetchall()
        ]


JSON = frozenset(("fields", "properties"))
