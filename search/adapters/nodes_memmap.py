"""Nodes of a release: ids, names and types from memory-mapped files, complete nodes from Postgres."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.adapters.postgres_reading import read
from search.adapters.string_table import StringTable, StringWriter
from search.domain.graph import FieldValue, Node, Schema
from search.domain.trace import Limit
from search.interfaces import Adjacency, Keys
from search.models.node_rows import NODE_COLUMNS, node_of

_WHOLE = f"SELECT {NODE_COLUMNS} FROM search_node WHERE snapshot_id = %s AND key = ANY(%s)"

_FIELD = """SELECT fields -> %s::text FROM search_node
WHERE snapshot_id = %s AND key = ANY(%s) AND fields ? %s::text ORDER BY key"""
MOST_LOOKED_AT = 20_000
"""Nodes that are looked at for the values of a field that few nodes have."""


def build(directory: Path, nodes: Iterable[tuple[str, str, int]]) -> None:
    """Write id, name and type code of each node into `directory`; `nodes` are in the order of keys (bytewise by id)."""
    types = array("h")
    with StringWriter(directory / "ids") as ids, StringWriter(directory / "names") as names:
        for node_id, name, code in nodes:
            ids.add(node_id)
            names.add(name)
            types.append(code)
    np.save(directory / "types.npy", np.frombuffer(types, dtype=np.int16))


class MemmapNodes:
    """The nodes of one snapshot (interfaces.NodeStore)."""

    def __init__(self, snapshot: int, directory: Path, schema: Schema, adjacency: Adjacency) -> None:
        self._snapshot = snapshot
        self._directory = directory
        self._schema = schema
        self._adjacency = adjacency

    def ids(self, keys: Sequence[int]) -> list[str]:
        """Return the id of each key."""
        return self._ids.many(keys)

    def references(self, keys: Sequence[int]) -> list[Node]:
        """Return a node with id, type and name, but without fields, for each key."""
        labels = [self._schema.node_types[code].name for code in self.types(keys).tolist()]
        parts = zip(keys, self._ids.many(keys), labels, self._names.many(keys), strict=True)
        return [Node(int(key), node_id, label, name) for key, node_id, label, name in parts]

    def nodes(self, keys: Sequence[int], limit: Limit | None = None) -> list[Node]:
        """Return whole nodes, in the order of the keys; KeyError where the snapshot has no such key."""
        wanted = [int(key) for key in keys]
        found = {row[0]: node_of(row, self._schema) for row in read("nodes", _WHOLE, [self._snapshot, wanted], limit)}
        return [found[key] for key in wanted]

    def keys(self, ids: Sequence[str]) -> list[int | None]:
        """Return the key of each id, None if the snapshot has no such node."""
        return [self._ids.find(node_id) for node_id in ids]

    def types(self, keys: Sequence[int] | Keys) -> NDArray[np.int16]:
        """Return the type code of each key, shape (keys,)."""
        return self._types[np.asarray(keys, dtype=np.int64)]

    def values(self, label: str, field: str, n: int = 1000) -> list[FieldValue]:
        """Return about n values of a field, from nodes spread evenly over those of a type.

        Of a field that few nodes have, `MOST_LOOKED_AT` nodes are looked at, whatever they give.
        """
        kind = self._schema.node_type(label)
        coverage = next((one.coverage for one in kind.fields if one.name == field), 0)
        own = self._adjacency.of_types([self._schema.type_codes[label]])
        wanted = min(len(own), MOST_LOOKED_AT, math.ceil(n * len(own) / coverage) if coverage else n)
        keys = own[np.linspace(0, len(own), wanted, endpoint=False).astype(np.int64)].tolist()
        rows = read("nodes", _FIELD, [field, self._snapshot, keys, field])
        return [value for (value,) in rows if value is not None]

    def neighbour_names(self, key: int, limit: int = 10) -> dict[str, list[str]]:
        """Return relation name → up to `limit` names of neighbours in either direction, in the order of keys."""
        node = np.array([key], dtype=np.int32)
        near: dict[int, list[Keys]] = {}
        for relation, direction in self._adjacency.has_edges(node):
            near.setdefault(relation, []).append(self._adjacency.neighbours(node, relation, direction)[:limit])
        return {
            self._schema.relations[relation].name: [
                self._names[neighbour] for neighbour in np.unique(np.concatenate(near[relation]))[:limit]
            ]
            for relation in sorted(near)
        }

    @cached_property
    def _ids(self) -> StringTable:
        return StringTable.open(self._directory / "ids")

    @cached_property
    def _names(self) -> StringTable:
        return StringTable.open(self._directory / "names")

    @cached_property
    def _types(self) -> NDArray[np.int16]:
        return np.load(self._directory / "types.npy", mmap_mode="r").view(np.ndarray)
