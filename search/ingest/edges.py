"""Edges as arrays of numbers: collected row by row, then sorted, deduplicated and counted in whole-array operations."""

from __future__ import annotations

import mmap
import tempfile
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from search.domain.graph import Field, Relation, RelationType
from search.ingest.fields import FieldKinds, fit

EDGES_A_BLOCK = 1_000_000
"""Edges whose ends are looked up at once."""


@dataclass(frozen=True)
class Edges:
    """The distinct edges of a snapshot as parallel arrays, sorted by (source, relation, target).

    `source` and `target` hold keys, `relation` holds relation codes. `doubles` is the number of duplicates that were
    removed. `properties` is None if no edge has properties. Otherwise the JSON of edge i is
    `properties[property_at[i]:property_end[i]]`, which is empty if edge i has none. `fields` are those of each relation
    by its code, by name.
    """

    source: NDArray[np.int32]
    relation: NDArray[np.int16]
    target: NDArray[np.int32]
    doubles: int = 0
    property_at: NDArray[np.int64] | None = None
    property_end: NDArray[np.int64] | None = None
    properties: mmap.mmap | None = None
    fields: tuple[Mapping[str, Field], ...] = ()

    def __len__(self) -> int:
        return len(self.source)

    def infer_fields(self, relations: int) -> list[tuple[Field, ...]]:
        """Return the fields of each relation's edges, by name, with the kinds that their values have."""
        kinds: list[dict[str, FieldKinds]] = [{} for _ in range(relations)]
        if self.property_at is not None and self.property_end is not None:
            for position in np.flatnonzero(self.property_end > self.property_at):
                own = kinds[self.relation[position]]
                for name, value in orjson.loads(self._written(int(position))).items():
                    own.setdefault(name, FieldKinds()).observe(value)
        return [tuple(kind.field(name) for name, kind in sorted(own.items())) for own in kinds]

    def property_of(self, position: int) -> bytes:
        """Return the JSON of the properties of the edge at `position`, or empty bytes if it has none.

        Values are converted to the kinds of their fields.
        """
        written = self._written(position)
        if not written:
            return b""
        fields = self.fields[self.relation[position]]
        return orjson.dumps({name: fit(value, fields[name]) for name, value in orjson.loads(written).items()})

    def _written(self, position: int) -> bytes:
        """Return the JSON of an edge's properties as it was read, or empty bytes if it has none."""
        if self.properties is None or self.property_at is None or self.property_end is None:
            return b""
        return self.properties[self.property_at[position] : self.property_end[position]]


class EdgeCollector:
    """Collects edges in any order: the ends as positions among the nodes read, the relation by name.

    Properties are written to a temporary file, so that memory holds about 10 bytes for each edge.
    """

    def __init__(self, relations: tuple[Relation, ...]) -> None:
        self._known = list(relations)
        self._codes = {relation.name: code for code, relation in enumerate(relations)}
        self._source = array("i")
        self._relation = array("H")
        self._target = array("i")
        self._rows = array("q")
        self._at = array("q")
        self._end = array("q")
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115
        self._spooled = 0

    def __len__(self) -> int:
        return len(self._source)

    @property
    def relations(self) -> int:
        """Number of different relations so far, declared ones included."""
        return len(self._known)

    def add_known(self, source: int | None, relation: str, target: int | None) -> bool:
        """Add an edge without properties if both ends and the relation are known; return whether it was added."""
        code = self._codes.get(relation)
        if code is None or source is None or target is None:
            return False
        self._source.append(source)
        self._relation.append(code)
        self._target.append(target)
        return True

    def add(self, source: int, relation: str, target: int, properties: Mapping[str, Any] | None) -> None:
        """Add one edge; a relation that is new gets the next code."""
        code = self._codes.get(relation)
        if code is None:
            code = self._codes[relation] = len(self._known)
            self._known.append(Relation(relation))
        if properties:
            self._spool_properties(properties)
        self._source.append(source)
        self._relation.append(code)
        self._target.append(target)

    def _spool_properties(self, properties: Mapping[str, Any]) -> None:
        written = orjson.dumps(properties)
        self._rows.append(len(self._source))
        self._at.append(self._spooled)
        self._spool.write(written)
        self._spooled += len(written)
        self._end.append(self._spooled)

    def finish(self, key_of: NDArray[np.int32], nodes: int) -> tuple[Edges, tuple[Relation, ...]]:
        """Return the edges by key, and the relations that have at least one edge, in the order of their first mention.

        `key_of` maps a position among the nodes read to the node's key; `nodes` is the number of nodes. Of duplicate
        edges the first is kept. The collector is empty afterwards.
        """
        used = np.bincount(np.frombuffer(self._relation, np.uint16), minlength=len(self._known)) > 0
        code_of = (np.cumsum(used) - 1).astype(np.int32)
        if not self._spooled and (max(1, nodes) ** 2) * max(1, int(used.sum())) < 1 << 63:
            edges = self._finish_numbers(key_of, code_of, max(1, nodes), max(1, int(used.sum())))
        else:
            edges = self._finish_properties(key_of, code_of)
        relations = tuple(
            replace(one, fields=own)
            for one, own in zip(compress(self._known, used), edges.infer_fields(int(used.sum())), strict=True)
        )
        return replace(edges, fields=tuple({field.name: field for field in one.fields} for one in relations)), relations

    def _finish_numbers(
        self, key_of: NDArray[np.int32], code_of: NDArray[np.int32], nodes: int, relations: int
    ) -> Edges:
        """Return the edges without properties: each is one number, so that one array is sorted in its place."""
        self._spool.close()
        count = len(self._source)
        combined = np.empty(count, np.int64)
        read = [np.frombuffer(part, part.typecode) for part in (self._source, self._relation, self._target)]
        for block in _blocks(count):
            source, relation, target = (part[block] for part in read)
            combined[block] = (key_of[source].astype(np.int64) * relations + code_of[relation]) * nodes + key_of[target]
        del read
        self._source, self._relation, self._target = array("i"), array("H"), array("i")
        combined.sort()
        fresh = np.ones(count, np.bool_)
        np.not_equal(combined[1:], combined[:-1], out=fresh[1:])
        if not fresh.all():
            combined = combined[fresh]
        kept = len(combined)
        edges = Edges(np.empty(kept, np.int32), np.empty(kept, np.int16), np.empty(kept, np.int32), count - kept)
        for block in _blocks(len(combined)):
            rest, edges.target[block] = np.divmod(combined[block], nodes)
            edges.source[block], edges.relation[block] = np.divmod(rest, relations)
        return edges

    def _finish_properties(self, key_of: NDArray[np.int32], code_of: NDArray[np.int32]) -> Edges:
        """Return the edges with their properties; of duplicates, the first is kept with its own."""
        relation = code_of[np.frombuffer(self._relation, np.uint16)]
        source = key_of[np.frombuffer(self._source, np.int32)]
        target = key_of[np.frombuffer(self._target, np.int32)]
        count = len(source)
        self._source, self._relation, self._target = array("i"), array("H"), array("i")
        order = np.lexsort((target, relation, source))
        columns = [column[order] for column in (source, relation, target)]
        fresh = np.ones(count, np.bool_)
        fresh[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
        kept = order[fresh]
        edges = Edges(source[kept], relation[kept].astype(np.int16), target[kept], count - len(kept))
        if not self._spooled:
            self._spool.close()
            return edges
        at, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
        rows = np.frombuffer(self._rows, np.int64)
        at[rows], end[rows] = np.frombuffer(self._at, np.int64), np.frombuffer(self._end, np.int64)
        self._spool.flush()
        content = mmap.mmap(self._spool.fileno(), 0, access=mmap.ACCESS_READ)
        self._spool.close()
        return replace(edges, property_at=at[kept], property_end=end[kept], properties=content)


def _blocks(count: int) -> list[slice]:
    return [slice(first, first + EDGES_A_BLOCK) for first in range(0, count, EDGES_A_BLOCK)]


def count_relation_types(
    edges: Edges, type_of: NDArray[np.int16], types: tuple[str, ...], relations: tuple[str, ...]
) -> tuple[RelationType, ...]:
    """Return the number of edges of each relation between each pair of node types.

    `type_of` holds the type code of each key. `types` and `relations` hold names in the order of their codes.
    """
    if not len(edges):
        return ()
    found = Counter[int]()
    for block in _blocks(len(edges)):
        combined = type_of[edges.source[block]].astype(np.int64) * len(relations) + edges.relation[block]
        codes, counts = np.unique(combined * len(types) + type_of[edges.target[block]], return_counts=True)
        found.update(dict(zip(codes.tolist(), counts.tolist(), strict=True)))
    kinds = []
    for code, count in sorted(found.items()):
        rest, target = divmod(code, len(types))
        source, relation = divmod(rest, len(relations))
        kinds.append(RelationType(types[source], relations[relation], types[target], count))
    return tuple(kinds)
