"""Edges as columns of numbers: collected row by row, then sorted, freed of doubles and counted, all at once."""

from __future__ import annotations

import mmap
import tempfile
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from search.domain.graph import Relation, RelationType


@dataclass(frozen=True)
class Edges:
    """The edges of a snapshot, one position an edge, sorted by (source, relation, target), each there once.

    `source` and `target` are keys, `relation` codes. `properties` is None where no edge has any; otherwise
    `property_at[i]:property_end[i]` is the stretch of it that holds the JSON of edge i, empty where it has none.
    """

    source: NDArray[np.int32]
    relation: NDArray[np.int16]
    target: NDArray[np.int32]
    doubles: int = 0
    property_at: NDArray[np.int64] | None = None
    property_end: NDArray[np.int64] | None = None
    properties: mmap.mmap | None = None

    def __len__(self) -> int:
        return len(self.source)

    def property_of(self, position: int) -> bytes:
        """Return the JSON of an edge's properties, empty where it has none."""
        if self.properties is None or self.property_at is None or self.property_end is None:
            return b""
        return self.properties[self.property_at[position] : self.property_end[position]]


class EdgeCollector:
    """Takes edges in any order: their ends by position among the nodes read, the relation by name.

    Properties wait in a temporary file, so that memory holds some 10 bytes an edge.
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
        """How many relations there are so far."""
        return len(self._known)

    def add_known(self, source: int | None, relation: str, target: int | None) -> bool:
        """Take an edge without properties if its ends are there and its relation came before; return whether it did."""
        code = self._codes.get(relation)
        if code is None or source is None or target is None:
            return False
        self._source.append(source)
        self._relation.append(code)
        self._target.append(target)
        return True

    def add(self, source: int, relation: str, target: int, properties: Mapping[str, Any] | None) -> None:
        """Take one edge."""
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
        """Return the edges by key, and the relations that have any, in the order they were declared or came.

        `key_of` maps a position among the nodes read to the node's key. The collector is empty afterwards. Of doubles
        the first one stays.
        """
        relation = np.frombuffer(self._relation, np.uint16).astype(np.int32)
        used = np.bincount(relation, minlength=len(self._known)) > 0
        code_of = (np.cumsum(used) - 1).astype(np.int32)
        relation = code_of[relation]
        source = key_of[np.frombuffer(self._source, np.int32)]
        target = key_of[np.frombuffer(self._target, np.int32)]
        count = len(source)
        self._source, self._relation, self._target = array("i"), array("H"), array("i")
        order = _order(source, relation, target, max(1, nodes), max(1, int(used.sum())))
        edges = Edges(
            source[order],
            relation[order].astype(np.int16),
            target[order],
            count - len(order),
            *self._finish_properties(order, count),
        )
        return edges, tuple(r for r, is_used in zip(self._known, used, strict=True) if is_used)

    def _finish_properties(
        self, order: NDArray[np.int64], count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], mmap.mmap] | tuple[()]:
        if not self._spooled:
            self._spool.close()
            return ()
        at, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
        rows = np.frombuffer(self._rows, np.int64)
        at[rows], end[rows] = np.frombuffer(self._at, np.int64), np.frombuffer(self._end, np.int64)
        self._spool.flush()
        content = mmap.mmap(self._spool.fileno(), 0, access=mmap.ACCESS_READ)
        self._spool.close()
        return at[order], end[order], content


def _order(
    source: NDArray[np.int32], relation: NDArray[np.int32], target: NDArray[np.int32], nodes: int, relations: int
) -> NDArray[np.int64]:
    """Return the positions of the edges sorted by (source, relation, target), of equal ones the first alone."""
    if nodes * relations * nodes < 1 << 63:
        combined = source.astype(np.int64)
        combined *= relations
        combined += relation
        combined *= nodes
        combined += target
        order = np.argsort(combined, kind="stable")
        combined = combined[order]
        first = np.empty(len(order), np.bool_)
        first[:1] = True
        np.not_equal(combined[1:], combined[:-1], out=first[1:])
        return order[first]
    order = np.lexsort((target, relation, source))
    columns = [column[order] for column in (source, relation, target)]
    first = np.ones(len(order), np.bool_)
    first[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return order[first]


def count_relation_types(
    edges: Edges, type_of: NDArray[np.int16], types: tuple[str, ...], relations: tuple[str, ...]
) -> tuple[RelationType, ...]:
    """Return how many edges each relation has between each two node types, by the codes of these three.

    `type_of` holds the type code of each key.
    """
    if not len(edges):
        return ()
    combined = type_of[edges.source].astype(np.int64)
    combined *= len(relations)
    combined += edges.relation
    combined *= len(types)
    combined += type_of[edges.target]
    codes, counts = np.unique(combined, return_counts=True)
    rest, target = np.divmod(codes, len(types))
    source, relation = np.divmod(rest, len(relations))
    return tuple(
        RelationType(types[s], relations[r], types[t], int(count))
        for s, r, t, count in zip(source, relation, target, counts, strict=True)
    )
