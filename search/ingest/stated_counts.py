"""Counts that a bundle's `kb.json` states, for the preview of a bundle that is too large to be read as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from search.domain.graph import RelationType
from search.ingest.manifest import MANIFEST_FILE
from search.ingest.sample import Sample


def with_stated_counts(found: Sample, folder: Path) -> Sample:
    """Return the sample with the counts of `kb.json` where it states all of them.

    Files are often sorted by type, so the first rows say little about the types of the rest. The import counts the rows
    itself, whatever `kb.json` states.
    """
    data: Mapping[str, Any] = orjson.loads((folder / MANIFEST_FILE).read_bytes().removeprefix(b"\xef\xbb\xbf"))
    counts: dict[str, Any] = {
        name: given.get("count") for name, given in data["node_types"].items() if isinstance(given, dict)
    }
    if all(isinstance(counts.get(entry.name), int) for entry in found.schema.node_types):
        types = tuple(replace(entry, count=counts[entry.name]) for entry in found.schema.node_types)
        nodes = sum(entry.count for entry in types)
        characters = round(found.characters * nodes / max(1, found.nodes))
        found = replace(found, schema=replace(found.schema, node_types=types), nodes=nodes, characters=characters)
    relations = [entry for entry in data.get("relation_types") or [] if _is_stated(entry)]
    if relations and len(relations) == len(data["relation_types"]):
        pairs = tuple(RelationType(r["source"], r["relation"], r["target"], r["count"]) for r in relations)
        edges = sum(entry.count for entry in pairs)
        found = replace(found, schema=replace(found.schema, relation_types=pairs), edges=edges)
    return found


def _is_stated(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("count"), int) and {"source", "target"} <= entry.keys()
