"""Bases for the tests of synthesised questions: the demo bases and small strange ones, with the real indexes."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import search
from search.adapters import adjacency_memmap, mentions_memmap, text_bm25
from search.domain.graph import Field, Node, NodeType, Relation, RelationType, Schema
from search.text import document
from tests.graphs import Nodes, schema_of, write_adjacency
from tests.oracle import Graph

DEMO = Path(search.__file__).parent / "fixtures" / "demo"
NAMES = ("products", "papers", "biomedical")


@dataclass(frozen=True)
class Tools:
    """Tools over the files of a folder (SynthesisTools)."""

    graph: Graph
    schema: Schema
    adjacency: adjacency_memmap.MemmapAdjacency
    nodes: Nodes
    mentions: mentions_memmap.MemmapMentions
    text: text_bm25.Bm25Index


def tools_of(folder: Path, graph: Graph, schema: Schema | None = None) -> Tools:
    """Build the indexes of a graph in a folder."""
    schema = schema or schema_of(graph)
    for name in ("adjacency", "mentions", "text"):
        (folder / name).mkdir(parents=True)
    types = np.array([schema.type_codes[node.type] for node in graph.nodes], dtype=np.int16)
    write_adjacency(graph, schema, folder / "adjacency")
    names = [(node.key, name, at > 0) for node in graph.nodes for at, name in enumerate((node.name, *node.aliases))]
    mentions_memmap.build(folder / "mentions", names)
    text_bm25.build(
        folder / "text", (text_bm25.Document(document(node)) for node in graph.nodes), types, schema.language
    )
    return Tools(
        graph, schema, adjacency_memmap.MemmapAdjacency(folder / "adjacency", schema), Nodes(graph, schema),
        mentions_memmap.MemmapMentions(folder / "mentions"), text_bm25.Bm25Index(folder / "text", schema),
    )  # fmt: skip


def demo(name: str) -> tuple[Graph, Schema]:
    """Return a demo base, read from its files."""
    told = json.loads((DEMO / name / "kb.json").read_text())
    rows = [json.loads(line) for line in (DEMO / name / "nodes.jsonl").read_text().splitlines()]
    rows.sort(key=lambda row: row["id"].encode())
    nodes = tuple(
        Node(key, row["id"], row["type"], row["name"], tuple(row.get("aliases", ())), fields=row.get("fields", {}))
        for key, row in enumerate(rows)
    )
    keys = {node.id: node.key for node in nodes}
    with (DEMO / name / "edges.tsv").open() as file:
        edges = [(keys[r["source"]], r["relation"], keys[r["target"]]) for r in csv.DictReader(file, delimiter="\t")]
    return Graph(nodes, tuple(edges)), _schema(told)


def _schema(told: Mapping[str, Any]) -> Schema:
    types = tuple(
        NodeType(
            name, one["count"], tuple(_field(field, kind) for field, kind in one["fields"].items()), one["answerable"],
            tuple(one.get("aliases", ())),
        )
        for name, one in told["node_types"].items()
    )  # fmt: skip
    relations: dict[str, Relation] = {}
    for one in told["relation_types"]:
        said = Relation(
            one["relation"], one.get("description", ""), one.get("inverse", ""), tuple(one.get("aliases", ()))
        )
        relations.setdefault(one["relation"], said)
    ends = tuple(RelationType(o["source"], o["relation"], o["target"], o["count"]) for o in told["relation_types"])
    return Schema(types, tuple(relations.values()), ends, told.get("language", "en"))


def _field(name: str, told: Mapping[str, Any]) -> Field:
    return Field(name, told.get("type", "text"), bool(told.get("many")), told.get("count", 0), False)


def base_of(
    nodes: Sequence[tuple[str, str, Mapping[str, Any]]], edges: Sequence[tuple[int, str, int]] = (), *,
    language: str = "en", fields: Mapping[str, str] | None = None,
) -> tuple[Graph, Schema]:  # fmt: skip
    """Return a base of (type, name, fields), with the kinds of its fields; fields without one are texts."""
    graph = Graph(
        tuple(Node(key, f"n{key:04}", kind, name, fields=own) for key, (kind, name, own) in enumerate(nodes)),
        tuple(edges),
    )
    plain, kinds = schema_of(graph), dict(fields or {})
    types = tuple(
        NodeType(one.name, one.count, tuple(Field(f.name, kinds.get(f.name, "text")) for f in one.fields))  # type: ignore[arg-type]
        for one in plain.node_types
    )
    return graph, Schema(types, plain.relations, plain.relation_types, language)
