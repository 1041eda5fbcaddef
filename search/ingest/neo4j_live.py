"""Writes the graph of a live Neo4j as a bundle, so that both passes of the import read the same content."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import orjson
import zstandard

from search.domain.run_context import Progress, silent
from search.ingest.faults import BundleError
from search.ingest.fields import scalar
from search.ingest.parts import READ_EDGES, READ_NODES

NAMES = ("name", "title", "label", "displayName", "display_name", "fullName", "caption")
"""Properties that may hold a node's name; the first one that is a text is taken."""
NEWS = 1_000
"""Rows between two reports of the progress."""


class GraphReader(Protocol):
    """A database whose whole graph can be streamed."""

    def counts(self) -> tuple[int, int]:
        """Return the numbers of nodes and edges."""
        ...

    def nodes(self) -> Iterator[tuple[str, list[str], Mapping[str, Any]]]:
        """Yield id, labels and properties of each node."""
        ...

    def edges(self) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
        """Yield source, relation, target and properties of each edge."""
        ...


@dataclass(frozen=True)
class LabelMapping:
    """How a labelled graph becomes a knowledge base.

    `types` and `relations` rename labels and relationship types. A node takes the first of its labels that `types`
    lists, otherwise the alphabetically first. `names` are the properties that may hold the name.
    """

    name: str
    types: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = NAMES

    def type_of(self, labels: list[str]) -> str:
        """Return the node type for the labels of a node."""
        listed = (label for label in self.types if label in labels)
        chosen = next(listed, "") or min(labels, default="node")
        return self.types.get(chosen, chosen)


def fetch(reader: GraphReader, mapping: LabelMapping, folder: Path, progress: Progress = silent) -> Path:
    """Write the graph as a bundle into `folder`, which is replaced if it exists, and return the folder.

    The folder appears when it is complete, so that an import that was interrupted either finds all of it or nothing.
    """
    partial = folder.with_name(f"{folder.name}.partial")
    for old in (partial, folder):
        shutil.rmtree(old, ignore_errors=True)
    partial.mkdir(parents=True)
    nodes, edges = reader.counts()
    types: dict[str, None] = {}

    def node(row: tuple[str, list[str], Mapping[str, Any]]) -> dict[str, Any]:
        found = _node(row, mapping)
        types.setdefault(found["type"])
        return found

    _write(partial / "nodes.jsonl.zst", map(node, reader.nodes()), lambda n: progress(READ_NODES, n, nodes))
    if not types:
        raise BundleError("The database holds no entities that can be imported.")
    written = (_edge(row, mapping) for row in reader.edges())
    _write(partial / "edges.jsonl.zst", written, lambda n: progress(READ_EDGES, n, edges))
    kb = {"name": mapping.name, "source": "Neo4j", "node_types": {name: {} for name in types}}
    (partial / "kb.json").write_bytes(orjson.dumps(kb))
    return partial.rename(folder)


def _write(path: Path, rows: Iterator[dict[str, Any]], told: Callable[[int], None]) -> None:
    with path.open("wb") as file, zstandard.ZstdCompressor(level=3).stream_writer(file) as packed:
        done = 0
        for done, row in enumerate(rows, 1):
            packed.write(orjson.dumps(row) + b"\n")
            if done % NEWS == 0:
                told(done)
        told(done)


def _node(row: tuple[str, list[str], Mapping[str, Any]], mapping: LabelMapping) -> dict[str, Any]:
    id_, labels, properties = row
    named = next((key for key in mapping.names if isinstance(text := properties.get(key), str) and text.strip()), "")
    fields = {key: fitted for key, value in properties.items() if key != named and (fitted := plain(value)) is not None}
    return {"id": id_, "type": mapping.type_of(labels), "name": properties.get(named, id_), "fields": fields}


def _edge(row: tuple[str, str, str, Mapping[str, Any]], mapping: LabelMapping) -> dict[str, Any]:
    source, relation, target, properties = row
    edge: dict[str, Any] = {"source": source, "relation": mapping.relations.get(relation, relation), "target": target}
    if given := {key: fitted for key, value in properties.items() if (fitted := plain(value)) is not None}:
        edge["properties"] = given
    return edge


def plain(value: Any) -> Any:
    """Return a property as JSON holds it: times in ISO 8601, points as texts; None for bytes, NaN and NULL."""
    if hasattr(value, "srid"):
        return f"POINT({' '.join(map(str, value))})"
    if hasattr(value, "iso_format"):
        return value.iso_format()
    if isinstance(value, list):
        return [item for part in value if (item := plain(part)) is not None]
    if value is None or (isinstance(value, bytes | bytearray | float) and scalar(value) is None):
        return None
    found = scalar(value)
    return str(value) if found is None else found
