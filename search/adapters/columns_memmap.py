"""The fields of nodes as columns in memory-mapped files: conditions and orders without a request to a database.

Each field has its rows sorted by key, one for each value of a node: the key, the value as a number, a hash of the value
as it is written, and the place of a text in a table of all texts in bytewise order. A second order of the rows, by
hash, finds the nodes with a value. A field is *whole* if the files hold every value of it without loss; of another one
(long texts, very large numbers) they only hold enough for a planner's trial.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters.string_table import StringTable, write_strings
from search.domain.graph import FieldValue, Node, Schema
from search.domain.ordering import Value
from search.domain.plan import Filter
from search.domain.plan.parts import NEGATED
from search.domain.values import as_number
from search.interfaces.arrays import Keys
from search.spreading import ranges

MANIFEST = "columns.json"
LONGEST_VALUE = 80
"""Most characters of a text that is kept as a value; of a longer one only its presence is."""
MOST_TEXTS = 100_000
"""Most different values of a field of texts that is whole; fields of keywords and dates may have any number."""
LARGEST = 2**53
"""Numbers below this one are floats without loss."""
NUMBER, PART = -1, -2
"""In the place of a text: the row holds a number; the row holds a part of a list of places."""
_PARTS = re.compile(r"\s*[,;/|]\s+|\s+\|\s+")
_COMPARE = {"=": np.equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def code_of(value: object) -> int:
    """Return the hash of a value as it is written."""
    return int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=8).digest(), "little")


class _Column:
    """The rows of one field while they are read. `texts` are the different texts, None if the field is not whole."""

    def __init__(self, *, dated: bool, most: float) -> None:
        self.keys, self.numbers, self.hashes, self.places = array("i"), array("d"), array("Q"), array("i")
        self.texts: dict[str, int] | None = {}
        self._dated = dated
        self._most = most

    def add(self, key: int, value: FieldValue) -> None:
        for item in value if isinstance(value, list) else [value]:
            number = as_number(item) if self._dated or not isinstance(item, str) else math.nan
            short = len(str(item)) <= LONGEST_VALUE
            self._row(key, number, code_of(item) if short else 0, self._place(item, short=short))
            if isinstance(item, str) and short and len(pieces := _PARTS.split(item)) > 1:
                for piece in dict.fromkeys(pieces):
                    self._row(key, math.nan, code_of(f"~{piece}"), PART)

    def _place(self, item: str | int | float, *, short: bool) -> int:
        if isinstance(item, str):
            if self.texts is not None and short and (item in self.texts or len(self.texts) < self._most):
                return self.texts.setdefault(item, len(self.texts))
            self.texts = None
        elif not abs(item) < LARGEST:
            self.texts = None
        return NUMBER

    def _row(self, key: int, number: float, code: int, place: int) -> None:
        self.keys.append(key)
        self.numbers.append(number)
        self.hashes.append(code)
        self.places.append(place)


def build(directory: Path, schema: Schema, nodes: Iterable[Node]) -> None:
    """Write the columns of these nodes, which come in the order of their keys, into the existing folder `directory`."""
    columns = {
        (kind.name, one.name): _Column(dated=one.kind == "date", most=MOST_TEXTS if one.kind == "text" else math.inf)
        for kind in schema.node_types
        for one in kind.fields
    }
    for node in nodes:
        for name, value in node.fields.items():
            if (column := columns.get((node.type, name))) is not None:
                column.add(node.key, value)
    texts = sorted({text for column in columns.values() for text in column.texts or ()}, key=str.encode)
    place_of = {text: place for place, text in enumerate(texts)}
    fields: list[tuple[str, str, int, int, bool, bool]] = []
    places, by_hash, at = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)], 0
    for (label, name), column in columns.items():
        single = bool(len(column.keys)) and bool((np.diff(np.frombuffer(column.keys, np.int32)) > 0).all())
        fields.append((label, name, at, at + len(column.keys), column.texts is not None, single))
        own = np.frombuffer(column.places, np.int32)
        # A place below 0, which is no text, stays what it is.
        renamed = np.array([*(place_of[text] for text in column.texts or ()), PART, NUMBER], dtype=np.int32)
        places.append(renamed[own] if column.texts is not None else own)
        by_hash.append(at + np.argsort(np.frombuffer(column.hashes, np.uint64), kind="stable"))
        at += len(column.keys)
    order = np.concatenate(by_hash)
    keys = _joined([column.keys for column in columns.values()], np.int32)
    np.save(directory / "keys.npy", keys)
    np.save(directory / "numbers.npy", _joined([column.numbers for column in columns.values()], np.float64))
    np.save(directory / "hashes.npy", _joined([column.hashes for column in columns.values()], np.uint64)[order])
    np.save(directory / "by_hash.npy", keys[order])
    np.save(directory / "places.npy", np.concatenate(places))
    write_strings(directory / "texts", texts)
    lower = sorted(range(len(texts)), key=[text.lower() for text in texts].__getitem__)
    np.save(directory / "by_lower_case.npy", np.array(lower, dtype=np.int32))
    (directory / MANIFEST).write_text(json.dumps(fields, ensure_ascii=False))


def _joined(arrays: Iterable[array[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=dtype), *(np.frombuffer(one, dtype) for one in arrays)])


@dataclass(frozen=True)
class MemmapColumns:
    """The files that `build` wrote, opened on first use; threads share them. Without files no node has any field."""

    directory: Path
    schema: Schema

    def having(self, label: str, field: str) -> Keys:
        """Return the sorted keys of the nodes of a type that have a field."""
        first, last = self._span(label, field)
        return np.unique(self._keys[first:last])

    def numbers(self, label: str, field: str) -> tuple[Keys, NDArray[np.float64]]:
        """Return the keys and numbers of a field, sorted by key; a node with several has several rows."""
        first, last = self._span(label, field)
        keys, numbers = self._keys[first:last], self._numbers[first:last]
        there = ~np.isnan(numbers)
        return keys[there], numbers[there]

    def equal(self, label: str, field: str, value: object, *, part: bool = False) -> Keys:
        """Return the sorted keys of the nodes with a value, or with a list of places of which it is a part."""
        first, last = self._span(label, field)
        found = [self._with(first, last, code_of(value))]
        if part:
            found.append(self._with(first, last, code_of(f"~{value}")))
        return np.unique(np.concatenate(found))

    def whole(self, label: str, field: str) -> bool:
        """Return whether the files hold all values of a field, so that `meeting` and `firsts` are exact."""
        return self._known and (label, field) not in self._lossy

    def meeting(self, label: str, keys: Keys, condition: Filter) -> NDArray[np.bool_]:
        """Return which of these nodes of a type meet a condition on a whole field, as `filtering.meets` says it."""
        owner, rows = self._rows(label, condition.field, keys)
        op = NEGATED.get(condition.op, condition.op)
        met = np.zeros(len(keys), dtype=bool)
        met[owner[self._fitting(op, condition.value, self._numbers[rows], self._places[rows])]] = True
        return met if op == condition.op else ~met

    def values(self, label: str, field: str, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.complex128]]:
        """Return the values of a whole field of these nodes of a type, and for each the position of its node.

        Values are encoded so that complex numbers sort as the values do: 0 and the number, or 1 and the place of the
        text.
        """
        owner, rows = self._rows(label, field, keys)
        places = self._places[rows]
        values = np.empty(len(rows), dtype=np.complex128)
        values.real, values.imag = places >= 0, np.where(places >= 0, places, self._numbers[rows])
        kept = places != PART
        return owner[kept], values[kept]

    def firsts(self, label: str, field: str, keys: Keys, *, last: bool) -> NDArray[np.complex128]:
        """Return of each node the value of a whole field that comes first, or last, in ascending order.

        It is encoded as in `values`, and not a number for a node without the field.
        """
        owner, values = self.values(label, field, keys)
        if len(owner) > 1 and (owner[1:] == owner[:-1]).any():
            order = np.lexsort((values, owner))
            owner, values = owner[order], values[order]
            ends = owner[1:] != owner[:-1]
            chosen = np.append(ends, True) if last else np.append(True, ends)
            owner, values = owner[chosen], values[chosen]
        found = np.full(len(keys), complex(math.nan, math.nan))
        found[owner] = values
        return found

    def read(self, values: NDArray[np.complex128]) -> list[Value]:
        """Return the numbers and texts that `values` encoded; whole numbers are ints."""
        texts = values.real == 1
        numbers = values.imag.tolist()
        found: list[Value] = [int(one) if one.is_integer() else one for one in numbers]
        places = np.flatnonzero(texts)
        for at, text in zip(places.tolist(), self._texts.many(values.imag[places].astype(np.int64)), strict=True):
            found[at] = text
        return found

    def _fitting(
        self, op: str, value: Any, numbers: NDArray[np.float64], places: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Return which rows hold a value that an operator compares so with the value of a condition."""
        if op == "exists":
            return places != PART
        if op == "in":
            found = np.zeros(len(places), dtype=bool)
            for one in value:
                found |= self._fitting("=", one, numbers, places)
            return found
        if op == "between":
            low, high = value
            return self._fitting(">=", low, numbers, places) & self._fitting("<=", high, numbers, places)
        if isinstance(value, str):
            return self._fitting_text(op, value, places)
        if isinstance(value, int):
            # No column holds a number as large, so that every larger one compares as this one does.
            value = max(-LARGEST, min(value, LARGEST))
        fitting: NDArray[np.bool_] = (places == NUMBER) & _COMPARE[op](numbers, value)
        return fitting

    def _fitting_text(self, op: str, value: str, places: NDArray[np.int32]) -> NDArray[np.bool_]:
        wanted = value.lower()
        if op == "contains":
            distinct = np.unique(places[places >= 0])
            found = [wanted in text.lower() for text in self._texts.many(distinct)]
            return np.isin(places, distinct[np.array(found, dtype=bool)])
        every = range(len(self._texts))
        if op == "=":

            def lower_case(at: int) -> str:
                return self._texts[self._by_lower_case[at]].lower()

            first, last = (search(every, wanted, key=lower_case) for search in (bisect_left, bisect_right))
            return np.isin(places, self._by_lower_case[first:last])
        search = bisect_left if op in ("<", ">=") else bisect_right
        bound = search(every, value.encode(), key=self._texts.raw)
        return (places >= 0) & (places < bound) if op in ("<", "<=") else places >= bound

    def _rows(self, label: str, field: str, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of some nodes, and for each the position of its node."""
        start, end = self._span(label, field)
        own = self._keys[start:end]
        first = np.searchsorted(own, keys)
        if (label, field) in self._single:
            owner = np.flatnonzero(own[np.minimum(first, end - start - 1)] == keys)
            return owner, start + first[owner]
        several = np.searchsorted(own, keys, "right") - first
        return np.repeat(np.arange(len(keys)), several), start + ranges(first, several)

    def _with(self, first: int, last: int, code: int) -> NDArray[Any]:
        hashes = self._hashes[first:last]
        wanted = np.uint64(code)
        low, high = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        return np.asarray(self._by_hash[first + int(low) : first + int(high)])

    def _span(self, label: str, field: str) -> tuple[int, int]:
        return self._fields.get((label, field), (0, 0))

    @cached_property
    def _manifest(self) -> list[list[Any]]:
        path = self.directory / MANIFEST
        found: list[list[Any]] = json.loads(path.read_text()) if path.is_file() else []
        return found

    @cached_property
    def _fields(self) -> dict[tuple[str, str], tuple[int, int]]:
        return {(label, name): (first, last) for label, name, first, last, *_ in self._manifest}

    @cached_property
    def _lossy(self) -> frozenset[tuple[str, str]]:
        return frozenset((label, name) for label, name, _, _, *more in self._manifest if not all(more[:1]))

    @cached_property
    def _single(self) -> frozenset[tuple[str, str]]:
        """The fields of which no node has several rows."""
        return frozenset((label, name) for label, name, _, _, *more in self._manifest if more[1:] == [True])

    @cached_property
    def _known(self) -> bool:
        """Whether the files say of a field if it is whole; those of releases indexed before do not."""
        return (self.directory / "places.npy").is_file()

    @cached_property
    def _keys(self) -> NDArray[np.int32]:
        return self._open("keys.npy")

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return self._open("numbers.npy")

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return self._open("places.npy")

    @cached_property
    def _texts(self) -> StringTable:
        return StringTable.open(self.directory / "texts")

    @cached_property
    def _by_lower_case(self) -> NDArray[np.int32]:
        return self._open("by_lower_case.npy")

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
        return found.view(np.ndarray)
