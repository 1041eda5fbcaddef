"""Writes a snapshot as a bundle; importing the bundle gives an equal snapshot."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

import orjson
from django.db import connection
from psycopg import sql

from search.domain.graph import Field, Schema
from search.domain.run_context import Progress, silent
from search.ingest.parts import EXPORT_EDGES, EXPORT_NODES
from search.models import Snapshot
from search.models.partitions import partition

KEYS_A_BLOCK = 5_000
"""Keys that one query reads."""


def export_bundle(
    folder: Path, snapshot: Snapshot, name: str, about: Mapping[str, Any], progress: Progress = silent
) -> None:
    """Write `kb.json`, `nodes.jsonl.gz` and a file of edges into an existing folder.

    `about` holds the title, domain and other descriptive entries of `kb.json`. Edges are written to `edges.tsv.gz`. If
    any edge has properties they are written to `edges.jsonl.gz` instead, because a TSV cell cannot distinguish a number
    from a text.
    """
    schema = snapshot.schema
    (folder / "kb.json").write_bytes(orjson.dumps(_manifest(schema, name, about), option=orjson.OPT_INDENT_2) + b"\n")
    with _gzip(folder / "nodes.jsonl.gz") as file:
        ids = _write_nodes(file, snapshot, schema, progress)
    relations = [relation.name for relation in schema.relations]
    if _has_properties(snapshot):
        with _gzip(folder / "edges.jsonl.gz") as file:
            for source, relation, target, properties in _edges(snapshot, progress):
                ends = {"source": ids[source], "relation": relations[relation], "target": ids[target]}
                file.write(_with(orjson.dumps(ends), "properties", properties))
        return
    with _gzip(folder / "edges.tsv.gz") as file:
        file.write(b"source\trelation\ttarget\n")
        for source, relation, target, _ in _edges(snapshot, progress):
            cells = (ids[source], relations[relation], ids[target])
            file.write(("\t".join(map(_cell, cells)) + "\n").encode())


def _gzip(path: Path) -> IO[bytes]:
    # With a fixed time stamp in the header, equal content gives equal bytes.
    return cast(IO[bytes], gzip.GzipFile(path, "wb", compresslevel=6, mtime=0))


def _manifest(schema: Schema, name: str, about: Mapping[str, Any]) -> dict[str, Any]:
    types = {
        node_type.name: {
            "count": node_type.count,
            "answerable": node_type.answerable,
            "aliases": list(node_type.aliases),
            "description": node_type.description,
            "hidden": node_type.hidden,
            "fields": {field.name: _declaration(field) for field in node_type.fields},
        }
        for node_type in schema.node_types
    }
    # An import takes relations in the order of their first entry, so entries follow the order of relations.
    entries = sorted(schema.relation_types, key=lambda entry: schema.relation_codes[entry.relation])
    relation_types = [
        {
            "source": entry.source,
            "relation": entry.relation,
            "target": entry.target,
            "count": entry.count,
            "description": schema.relation(entry.relation).description,
            "inverse": schema.relation(entry.relation).inverse,
            "aliases": list(schema.relation(entry.relation).aliases),
        }
        for entry in entries
    ]
    given = {key: value for key, value in about.items() if value}
    return {"name": name, **given, "node_types": types, "relation_types": relation_types}


def _declaration(field: Field) -> int | dict[str, Any]:
    """Return a field's entry in `kb.json`.

    A declared field keeps its kind. An inferred field has its coverage only, so that the next import infers its kind
    again.
    """
    if field.inferred:
        return field.coverage
    unit = {"unit": field.unit} if field.unit else {}
    return {"type": field.kind, "list": field.many, "coverage": field.coverage, **unit}


def _write_nodes(file: IO[bytes], snapshot: Snapshot, schema: Schema, progress: Progress) -> list[str]:
    """Write the nodes in the order of their keys and return their ids in the same order."""
    types = [node_type.name for node_type in schema.node_types]
    statement = sql.SQL(
        "SELECT id, type, name, aliases, url, fields::text FROM {} WHERE key >= %s AND key < %s ORDER BY key"
    ).format(sql.Identifier(partition("search_node", snapshot.pk)))
    ids: list[str] = []
    for rows in _blocks(statement, snapshot.nodes):
        for id_, code, name, aliases, url, fields in rows:
            node = {"id": id_, "type": types[code], "name": name}
            if aliases:
                node["aliases"] = aliases
            if url:
                node["url"] = url
            file.write(_with(orjson.dumps(node), "fields", fields))
            ids.append(id_)
        progress(EXPORT_NODES, len(ids), snapshot.nodes)
    return ids


def _edges(snapshot: Snapshot, progress: Progress) -> Iterator[tuple[int, int, int, str | None]]:
    statement = sql.SQL(
        "SELECT source, relation, target, properties::text FROM {} WHERE source >= %s AND source < %s "
        "ORDER BY source, relation, target"
    ).format(sql.Identifier(partition("search_edge", snapshot.pk)))
    done = 0
    for rows in _blocks(statement, snapshot.nodes):
        yield from rows
        done += len(rows)
        progress(EXPORT_EDGES, done, snapshot.edges)


def _blocks(statement: sql.Composed, nodes: int) -> Iterator[list[tuple[Any, ...]]]:
    for begin in range(0, nodes, KEYS_A_BLOCK):
        with connection.cursor() as cursor:
            cursor.execute(statement, [begin, begin + KEYS_A_BLOCK])
            rows = cursor.fetchall()
        yield rows


def _has_properties(snapshot: Snapshot) -> bool:
    statement = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE properties IS NOT NULL)")
    with connection.cursor() as cursor:
        cursor.execute(statement.format(sql.Identifier(partition("search_edge", snapshot.pk))))
        row = cursor.fetchone()
    return bool(row and row[0])


def _with(written: bytes, key: str, value: str | None) -> bytes:
    """Add a key to a non-empty JSON object and end the line; `value` is JSON text exactly as Postgres returns it."""
    if value is None:
        return written + b"\n"
    return written[:-1] + b',"' + key.encode() + b'":' + value.encode() + b"}\n"


def _cell(text: str) -> str:
    """Return a text as a cell of Python's `excel-tab` dialect."""
    if any(mark in text for mark in '\t\n\r"'):
        return '"' + text.replace('"', '""') + '"'
    return text
