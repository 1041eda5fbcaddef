"""The vectors of a vector set as memory-mapped matrices, one for each kind, for exact cosines and exact scans.

A search needs cosines of nodes that it already has (candidates of the graph, ties, reference samples) five to ten
times. A thousand of them take about 6 ms from Postgres, and less than 1 ms from the matrix.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.domain.vector_kinds import WHOLE
from search.interfaces import KindMatrix, Vectors

MATRIX_FILE = "documents.f2"
KINDS_FILE = "kinds.json"
"""Names the files of the kinds other than the documents: {kind: stem}."""
STORED = np.dtype("<f2")
ROWS_AT_ONCE = 4_096
"""Rows that are converted to single precision at once: a few megabytes, however many nodes are requested."""

Products = Callable[[NDArray[np.float16], Vectors], Vectors]
"""A function: rows, vector → their inner products (`search.neural.scan.products`)."""
Blocks = Iterable[tuple[NDArray[np.int32], NDArray[np.float16]]]
"""Blocks of (keys, rows) in the order of keys; a key is repeated where a node has several vectors."""
MARGIN = 2e-3
"""Upper bound of the difference between the errors of two inner products of unit vectors in half precision."""


def build(directory: Path, rows: Iterable[NDArray[np.float16]]) -> None:
    """Write blocks of the documents' rows, in the order of keys and without gaps, into `directory`."""
    with (directory / MATRIX_FILE).open("wb") as file:
        for block in rows:
            file.write(np.ascontiguousarray(block, dtype=STORED).tobytes())


def build_kind(directory: Path, kind: str, blocks: Blocks) -> None:
    """Write the matrix of another kind into `directory`, and its name into the list of kinds."""
    listed = kinds_in(directory)
    stem = listed.setdefault(kind, f"kind-{len(listed)}")
    keys: list[NDArray[np.int32]] = [np.empty(0, dtype=np.int32)]
    with (directory / f"{stem}.f2").open("wb") as file:
        for own, rows in blocks:
            file.write(np.ascontiguousarray(rows, dtype=STORED).tobytes())
            keys.append(np.asarray(own, dtype=np.int32))
    np.save(directory / f"{stem}-keys.npy", np.concatenate(keys))
    (directory / KINDS_FILE).write_text(json.dumps(listed, ensure_ascii=False))


def kinds_in(directory: Path) -> dict[str, str]:
    """Return kind → stem of its files for every kind but the documents; empty for a folder of an earlier version."""
    try:
        listed: dict[str, str] = json.loads((directory / KINDS_FILE).read_text())
    except FileNotFoundError:
        return {}
    return listed


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """Vectors of some documents, shape (documents, dimensions), and their lengths."""

    rows: Vectors
    lengths: Vectors

    def cosines(self, vector: Vectors) -> Vectors:
        """Return the cosine of each document with a unit-length vector."""
        cosines: Vectors = np.clip(self.rows @ vector / self.lengths, -1.0, 1.0)
        return cosines


class KindVectors:
    """The matrix of one kind. If `keys` is given it holds the key of each row, sorted; else a row's key is its place.

    A node may have no row, or several; then the best of its cosines counts.
    """

    def __init__(self, file: Path, dimensions: int, keys: Path | None = None) -> None:
        self._file = file
        self._dimensions = dimensions
        self._keys_file = keys

    def cosines(self, vector: Vectors, keys: Sequence[int] | NDArray[np.integer]) -> dict[int, float]:
        """Return key → cosine of its vector with a unit-length vector; keys without a vector are left out.

        Raises FileNotFoundError if the matrix has not been built.
        """
        wanted, places = self._places(np.asarray(keys, dtype=np.int64))
        found: dict[int, float] = {}
        for first in range(0, len(places), ROWS_AT_ONCE):
            block = slice(first, first + ROWS_AT_ONCE)
            cosines = self.rows(places[block]).cosines(vector).tolist()
            if not self._repeated:
                found.update(zip(wanted[block].tolist(), cosines, strict=True))
                continue
            for key, cosine in zip(wanted[block].tolist(), cosines, strict=True):
                found[key] = max(cosine, found.get(key, -1.0))
        return found

    def rows(self, places: NDArray[np.integer]) -> DocumentRows:
        """Return the rows at these places in single precision, for several comparisons; the places must exist."""
        rows = self._rows[places].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return DocumentRows(rows, np.maximum(lengths, np.finfo(np.float32).tiny))

    def nearest(
        self, vector: Vectors, k: int, products: Products, among: NDArray[np.bool_] | None = None
    ) -> list[tuple[int, float]]:
        """Return the k keys with the highest cosine and these cosines, by cosine, then key. The result is exact.

        `products` are approximate and find what may be among the best; the cosines of these decide. `among` says for
        each key whether it may be returned (None: every key may).
        """
        rough = products(self._rows, vector)
        keys = self._keys
        if among is not None:
            allowed = np.flatnonzero(among[: len(rough)] if keys is None else among[keys])
            rough, keys = rough[allowed], (allowed if keys is None else keys[allowed]).astype(np.int32)
        if keys is not None and self._repeated and len(keys):
            firsts = np.flatnonzero(np.append(True, np.diff(keys) != 0))
            rough, keys = np.maximum.reduceat(rough, firsts), keys[firsts]
        least = np.partition(rough, -k)[-k] - MARGIN if k < len(rough) else -np.inf
        near = np.flatnonzero(rough >= least)
        cosines = self.cosines(vector, near if keys is None else keys[near])
        return sorted(cosines.items(), key=lambda item: (-item[1], item[0]))[:k]

    def best(self, vectors: Vectors, products: Products) -> tuple[NDArray[np.int32], Vectors]:
        """Return the sorted keys that have rows, and the best product of each key's rows with each vector.

        The second array has the shape (vectors, keys); its values are as accurate as `products`.
        """
        keys = self.matrix().keys
        firsts = np.flatnonzero(np.append(True, np.diff(keys) != 0)) if len(keys) else np.empty(0, dtype=np.int64)
        found = np.empty((len(vectors), len(firsts)), dtype=np.float32)
        for at, vector in enumerate(vectors if len(firsts) else ()):
            rough = products(self._rows, vector)
            found[at] = np.maximum.reduceat(rough, firsts) if self._repeated else rough
        return keys[firsts], found

    def matrix(self) -> KindMatrix:
        """Return the whole matrix with the key of each row."""
        keys = self._keys
        return KindMatrix(np.arange(len(self._rows), dtype=np.int32) if keys is None else keys, self._rows)

    def _places(self, wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the wanted keys that have rows, each as often as it has rows, and the places of these rows."""
        keys = self._keys
        if keys is None:
            wanted = wanted[wanted < len(self._rows)]
            return wanted, wanted
        first, end = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
        counts = end - first
        before = np.cumsum(counts) - counts
        return np.repeat(wanted, counts), np.repeat(first - before, counts) + np.arange(counts.sum())

    @cached_property
    def _rows(self) -> NDArray[np.float16]:
        if not self._file.stat().st_size:
            return np.empty((0, self._dimensions), dtype=np.float16)
        return np.memmap(self._file, dtype=STORED, mode="c").view(np.ndarray).reshape(-1, self._dimensions)

    @cached_property
    def _keys(self) -> NDArray[np.int32] | None:
        return None if self._keys_file is None else np.load(self._keys_file, mmap_mode="r").view(np.ndarray)

    @cached_property
    def _repeated(self) -> bool:
        """Whether a node may have several rows."""
        return self._keys is not None and bool((np.diff(self._keys) == 0).any())


class DocumentVectors(KindVectors):
    """The documents' matrix that `build` wrote; the row of a node is its key."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        super().__init__(directory / MATRIX_FILE, dimensions)


class VectorFolder:
    """The matrices of a vector set's folder, by kind."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        self._directory = directory
        self._dimensions = dimensions
        self._open: dict[str, KindVectors] = {WHOLE: DocumentVectors(directory, dimensions)}

    def __getitem__(self, kind: str) -> KindVectors:
        """Return the matrix of a kind. Raises KeyError if there is none."""
        if kind not in self._open:
            stem = kinds_in(self._directory)[kind]
            keys = self._directory / f"{stem}-keys.npy"
            self._open[kind] = KindVectors(self._directory / f"{stem}.f2", self._dimensions, keys)
        return self._open[kind]

    def __contains__(self, kind: str) -> bool:
        """Return whether there is a matrix of this kind. An index may be upgraded while this process runs."""
        return kind in self._open or kind in kinds_in(self._directory)

    @property
    def documents(self) -> DocumentVectors:
        """The documents' matrix."""
        found = self._open[WHOLE]
        assert isinstance(found, DocumentVectors)
        return found
