"""The values of edges in memory-mapped files beside the graph's adjacency.

Each field of a relation's edges has its rows sorted by edge, one for each value of an edge: the edge as one number that
is made of the keys of its source and its target, and the value, a number or the place of a text in a table of the
distinct ones. Fields of longer texts are left out, and so are fields with whole numbers that a float cannot hold.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters.string_table import StringTable, write_strings
from search.domain.filtering import holds_of_any
from search.domain.graph import FieldValue, Schema
from search.domain.plan import Filter
from search.domain.plan.parts import NEGATED
from search.interfaces.arrays import Keys
from search.spreading import ranges

MANIFEST = "edge_values.json"
LARGEST_WHOLE = 2**53
"""Whole numbers up to this one are floats without loss."""

PropertyRow = tuple[int, int, int, Mapping[str, FieldValue]]
"""Relation code, source, target, and the fields of an edge."""


class _Column:
    """The rows of one field while they are read."""

    def __init__(self, *, numbers: bool) -> None:
        self.edges = array("q")
        self.values: array[Any] = array("d" if numbers else "i")
        self.places: dict[str, int] | None = None if numbers else {}
        self.whole = True

    def add(self, edge: int, value: FieldValue) -> None:
        for item in value if isinstance(value, list) else (value,):
            self.edges.append(edge)
            if self.places is not None:
                self.values.append(self.places.setdefault(str(item), len(self.places)))
            else:
                self.values.append(float(item))
                self.whole = self.whole and (isinstance(item, float) or abs(int(item)) <= LARGEST_WHOLE)


def build(directory: Path, schema: Schema, nodes: int, rows: Iterable[PropertyRow]) -> None:
    """Write the values of these edges into the existing folder `directory`."""
    columns = {
        (code, field.name): _Column(numbers=field.kind == "number")
        for code, relation in enumerate(schema.relations)
        for field in relation.fields
        if field.kind != "text"
    }
    for code, source, target, fields in rows:
        for name, value in fields.items():
            if (column := columns.get((code, name))) is not None:
                column.add(source * nodes + target, value)
    written: list[tuple[int, str, bool]] = []
    for (code, name), column in columns.items():
        if not column.whole:
            continue
        stem = f"edge_values_{len(written)}"
        edges = np.frombuffer(column.edges, np.int64)
        order = np.argsort(edges, kind="stable")
        values = np.frombuffer(column.values, np.float64 if column.places is None else np.int32)
        if column.places is not None:
            # In the order of their lower case, so that a text is found by binary search.
            texts = sorted(column.places, key=str.lower)
            place_of = np.empty(len(texts), dtype=np.int32)
            place_of[[column.places[text] for text in texts]] = np.arange(len(texts), dtype=np.int32)
            values = place_of[values]
            write_strings(directory / f"{stem}_texts", texts)
        np.save(directory / f"{stem}_edges.npy", edges[order])
        np.save(directory / f"{stem}_values.npy", values[order])
        written.append((code, name, column.places is None))
    (directory / MANIFEST).write_text(json.dumps(written, ensure_ascii=False))


@dataclass(frozen=True)
class MemmapEdgeValues:
    """One field of a relation's edges (interfaces.EdgeValues); its files are opened on first use."""

    stem: Path
    nodes: int
    numbers: bool

    def meeting(self, source: Keys, target: Keys, condition: Filter) -> NDArray[np.bool_]:
        """Return which edges, given by both ends in stored direction, meet a condition on the field."""
        owner, rows = self._rows(source, target)
        values = self._values[rows]
        op = NEGATED.get(condition.op, condition.op)
        met = np.zeros(len(source), dtype=bool)
        if op == "exists":
            met[owner] = True
        else:
            distinct, place = np.unique(values, return_inverse=True)
            plain = Filter("", condition.field, op, condition.value)
            fitting = np.array([holds_of_any([one], plain) for one in self._read(distinct)], dtype=bool)
            met[owner[fitting[place]]] = True
        return met if op == condition.op else ~met

    def has(self, text: str) -> bool:
        """Return whether any edge has this text, without regard to case."""
        wanted = text.lower()
        if self.numbers:
            return False
        at = bisect_left(range(len(self._texts)), wanted, key=lambda place: self._texts[place].lower())
        return at < len(self._texts) and self._texts[at].lower() == wanted

    def of(self, source: Keys, target: Keys) -> tuple[NDArray[np.int64], list[int | float | str]]:
        """Return the values of edges, and for each the position of its edge among those given."""
        owner, rows = self._rows(source, target)
        return owner, self._read(self._values[rows])

    def _read(self, values: NDArray[Any]) -> list[Any]:
        if not self.numbers:
            return self._texts.many(values)
        return [int(one) if one.is_integer() else one for one in values.tolist()]

    def _rows(self, source: Keys, target: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of some edges, and for each the position of its edge."""
        wanted = np.asarray(source, dtype=np.int64) * self.nodes + np.asarray(target, dtype=np.int64)
        first = np.searchsorted(self._edges, wanted)
        several = np.searchsorted(self._edges, wanted, "right") - first
        return np.repeat(np.arange(len(wanted)), several), ranges(first, several)

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        return self._open("edges")

    @cached_property
    def _values(self) -> NDArray[Any]:
        return self._open("values")

    @cached_property
    def _texts(self) -> StringTable:
        return StringTable.open(self.stem.with_name(f"{self.stem.name}_texts"))

    def _open(self, part: str) -> NDArray[Any]:
        path = self.stem.with_name(f"{self.stem.name}_{part}.npy")
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return found.view(np.ndarray)


def read(directory: Path, nodes: int) -> dict[tuple[int, str], MemmapEdgeValues]:
    """Return relation code and field → its values, as `build` wrote them; nothing where there are no files."""
    path = directory / MANIFEST
    if not path.is_file():
        return {}
    return {
        (code, name): MemmapEdgeValues(directory / f"edge_values_{at}", nodes, numbers)
        for at, (code, name, numbers) in enumerate(json.loads(path.read_text()))
    }
