"""The fields of nodes as columns in memory-mapped files: which nodes have a field, with which numbers and values.

A planner tries conditions and orders on them without a request to a database. Each field has its rows sorted by key,
one for each value of a node: the key, the value as a number, and a hash of the value as it is written. A second order
of the rows, by hash, finds the nodes with a value.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import FieldValue, Node, Schema
from search.domain.values import as_number
from search.interfaces.arrays import Keys

MANIFEST = "columns.json"
LONGEST_VALUE = 80
"""Most characters of a text that is kept as a value; of a longer one only its presence is."""
_PARTS = re.compile(r"\s*[,;/|]\s+|\s+\|\s+")


def code_of(value: object) -> int:
    """Return the hash of a value as it is written."""
    return int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=8).digest(), "little")


def build(directory: Path, schema: Schema, nodes: Iterable[Node]) -> None:
    """Write the columns of these nodes, which come in the order of their keys, into the existing folder `directory`."""
    rows: dict[tuple[str, str], list[tuple[int, float, int]]] = {
        (kind.name, one.name): [] for kind in schema.node_types for one in kind.fields
    }
    dates = {(kind.name, one.name) for kind in schema.node_types for one in kind.fields if one.kind == "date"}
    for node in nodes:
        for name, value in node.fields.items():
            column = rows.get((node.type, name))
            if column is not None:
                column += _rows(node.key, value, dated=(node.type, name) in dates)
    fields: list[tuple[str, str, int, int]] = []
    at = 0
    for (label, name), column in rows.items():
        fields.append((label, name, at, at + len(column)))
        at += len(column)
    every = [row for column in rows.values() for row in column]
    keys = np.array([key for key, _, _ in every], dtype=np.int32)
    hashes = np.array([code for _, _, code in every], dtype=np.uint64)
    order = np.concatenate(
        [first + np.argsort(hashes[first:last], kind="stable").astype(np.int64) for _, _, first, last in fields]
        or [keys.astype(np.int64)]
    )
    np.save(directory / "keys.npy", keys)
    np.save(directory / "numbers.npy", np.array([number for _, number, _ in every], dtype=np.float64))
    np.save(directory / "hashes.npy", hashes[order] if len(order) else hashes)
    np.save(directory / "by_hash.npy", keys[order] if len(order) else keys)
    (directory / MANIFEST).write_text(json.dumps(fields, ensure_ascii=False))


def _rows(key: int, value: FieldValue, *, dated: bool) -> list[tuple[int, float, int]]:
    found = []
    for item in value if isinstance(value, list) else [value]:
        number = as_number(item) if dated or not isinstance(item, str) else math.nan
        short = len(str(item)) <= LONGEST_VALUE
        found.append((key, number, code_of(item) if short else 0))
        if isinstance(item, str) and short and len(pieces := _PARTS.split(item)) > 1:
            found += [(key, math.nan, code_of(f"~{piece}")) for piece in dict.fromkeys(pieces)]
    return found


@dataclass(frozen=True)
class MemmapColumns:
    """The files that `build` wrote, opened on first use; threads share them. Without files no node has any field."""

    directory: Path
    schema: Schema

    def having(self, label: str, field: str) -> Keys:
        """Return the sorted keys of the nodes of a type that have a field."""
        first, last = self._fields.get((label, field), (0, 0))
        return np.unique(self._keys[first:last])

    def numbers(self, label: str, field: str) -> tuple[Keys, NDArray[np.float64]]:
        """Return the keys and numbers of a field, sorted by key; a node with several has several rows."""
        first, last = self._fields.get((label, field), (0, 0))
        keys, numbers = self._keys[first:last], self._numbers[first:last]
        there = ~np.isnan(numbers)
        return keys[there], numbers[there]

    def equal(self, label: str, field: str, value: object, *, part: bool = False) -> Keys:
        """Return the sorted keys of the nodes with a value, or with a list of places of which it is a part."""
        first, last = self._fields.get((label, field), (0, 0))
        found = [self._with(first, last, code_of(value))]
        if part:
            found.append(self._with(first, last, code_of(f"~{value}")))
        return np.unique(np.concatenate(found))

    def _with(self, first: int, last: int, code: int) -> NDArray[Any]:
        hashes = self._hashes[first:last]
        wanted = np.uint64(code)
        low, high = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        return np.asarray(self._by_hash[first + int(low) : first + int(high)])

    @cached_property
    def _fields(self) -> dict[tuple[str, str], tuple[int, int]]:
        path = self.directory / MANIFEST
        if not path.is_file():
            return {}
        return {(label, name): (first, last) for label, name, first, last in json.loads(path.read_text())}

    @cached_property
    def _keys(self) -> NDArray[np.int32]:
        return self._open("keys.npy")

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return self._open("numbers.npy")

    @cached_property
    def _hashes(self) -> NDArray[np.uint64]:
        return self._open("hashes.npy")

    @cached_property
    def _by_hash(self) -> NDArray[np.int32]:
        return self._open("by_hash.npy")

    def _open(self, name: str) -> NDArray[Any]:
        path = self.directory / name
        if not path.is_file():
            return np.empty(0, dtype=np.int32)
        found: NDArray[Any] = np.load(path, mmap_mode="r")
        return found
