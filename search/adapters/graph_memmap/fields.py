"""Conditions and orders on fields of nodes of any types, on the columns of a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from search.adapters.graph_matching.found import RankedValues
from search.domain.filtering import NAME
from search.domain.graph import Schema
from search.domain.ordering import Way
from search.domain.plan import Filter
from search.interfaces import Adjacency, Columns, Keys
from search.key_sets import SHARE, distinct, ranked


class MappedFields:
    """The fields of a release's nodes, as far as its columns hold them whole."""

    def __init__(self, schema: Schema, adjacency: Adjacency, columns: Columns) -> None:
        self._schema = schema
        self._adjacency = adjacency
        self._columns = columns

    def hold(self, field: str, types: Iterable[int] | None) -> bool:
        """Return whether the columns hold a field of all nodes of these types (None for all types)."""
        codes = range(len(self._schema.node_types)) if types is None else types
        return field != NAME and all(self._columns.whole(self._schema.node_types[code].name, field) for code in codes)

    def meeting(self, keys: Keys, condition: Filter) -> NDArray[np.bool_]:
        """Return which nodes meet a condition that has a value of its own."""
        nodes = self._adjacency.size
        if len(keys) > SHARE * nodes:
            # Many keys come several times, and sorted ones are found faster.
            some = distinct(keys, nodes)
            every = np.zeros(nodes, dtype=bool)
            every[some] = self._meeting(some, condition)
            return every[keys]
        return self._meeting(keys, condition)

    def _meeting(self, keys: Keys, condition: Filter) -> NDArray[np.bool_]:
        met = np.zeros(len(keys), dtype=bool)
        for label, rows in self._by_type(keys):
            met[rows] = self._columns.meeting(label, keys[rows], condition)
        return met

    def ranked(self, keys: Keys, field: str, way: Way) -> RankedValues:
        """Return the values of a field by which an order compares nodes."""
        values = np.empty(len(keys), dtype=np.complex128)
        for label, rows in self._by_type(keys):
            values[rows] = self._columns.firsts(label, field, keys[rows], last=way == "desc")
        known = ~np.isnan(values)
        there = values[known]
        ranks = np.full(len(keys), -1, dtype=np.int64)
        if len(there) and (there.real == there.real[0]).all():
            # Only numbers, or only texts: they are compared without what tells these apart.
            plain, ranks[known] = ranked(there.imag)
            values = np.empty(len(plain), dtype=np.complex128)
            values.real, values.imag = there.real[0], plain
        else:
            values, ranks[known] = ranked(there)
        return RankedValues(ranks, len(values), lambda some: self._columns.read(values[some]))

    def types_of(self, keys: Keys) -> list[int]:
        """Return the codes of the types that nodes have."""
        codes: list[int] = np.flatnonzero(np.bincount(self._adjacency.types[keys])).tolist()
        return codes

    def _by_type(self, keys: Keys) -> Iterator[tuple[str, NDArray[np.int64] | slice]]:
        """Yield the name of each type, with the positions of its nodes."""
        own = self._adjacency.types[keys]
        codes = self.types_of(keys)
        for code in codes:
            yield self._schema.node_types[code].name, slice(None) if len(codes) == 1 else np.flatnonzero(own == code)
