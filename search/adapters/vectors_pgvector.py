"""Nearest neighbours with pgvector: HNSW for large sets, an exact scan for small types.

In a set that is not large, all vectors of a kind are compared in its mapped matrix instead. This is exact, and up to
`IN_MEMORY` nodes it takes less time than a request to Postgres. Cosines of given nodes come from the same matrices.
Folders of an earlier version hold only the documents' matrix; the other kinds are then read from Postgres.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from search.adapters.postgres_reading import read
from search.adapters.vectors_memmap import DocumentRows, KindVectors, VectorFolder
from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.domain.vector_kinds import COMPUTED, IN_MEMORY, MOST_INDEXED_DIMENSIONS, SEVERAL, WHOLE
from search.interfaces import Keys, KindMatrix, VectorKind, Vectors
from search.models import VectorSet
from search.models.partitions import partition
from search.models.timeouts import present_limit

STAGE = "vectors"
EXACT_BELOW = 5_000
"""Up to this number of vectors all are compared: that takes milliseconds and is exact."""
SCANNED_AT_MOST = 10_000
"""If a filtered search in the index is expected to visit more vectors than this, the type is scanned instead."""
BACKGROUNDS_KEPT = 16
"""Most samples whose vectors are kept in memory; one has 1.5 MB for 1,000 documents of 384 dimensions."""
MOST_EF_SEARCH = 1_000
TO_THE_END: dict[str, str | int] = {
    "hnsw.iterative_scan": "relaxed_order", "hnsw.max_scan_tuples": 2**31 - 1, "hnsw.scan_mem_multiplier": 64,
}  # fmt: skip
"""Settings of a filtered search in the index. By default it ends after 20,000 vectors, and returns what it found by
then: nearly nothing of a type whose nodes are all far from the question."""
PARTS = 4
"""Times as many stretches as nodes are fetched: a document has several."""

# Cosines are recomputed in single precision, so that they do not depend on how the node was found.
_COSINE = "greatest(-1, least(1, 1 - (embedding::vector({dimensions}) <=> {exact}::vector({dimensions}))))"
_HALVES = "embedding::halfvec({dimensions}) <=> {exact}::halfvec({dimensions})"
NEAREST = """
WITH near AS MATERIALIZED (
    SELECT key, embedding FROM {table} WHERE kind = {kind} {typed}
    ORDER BY {distance} LIMIT {fetch}
)
SELECT key, max({cosine}) AS cosine FROM near GROUP BY key ORDER BY cosine DESC, key LIMIT {k}"""
EXACT = """
WITH typed AS MATERIALIZED (SELECT key, embedding FROM {table} WHERE kind = {kind} {typed})
SELECT key, max({cosine}) AS cosine FROM typed GROUP BY key ORDER BY cosine DESC, key LIMIT {k}"""
_GIVEN = """
SELECT key, max({cosine}) AS cosine FROM {table} WHERE kind = {kind} AND key = ANY({keys}) GROUP BY key"""
# Multiplying by a large odd number modulo 2^32 scatters the keys: a sample that is the same every time.
_SAMPLE = """
SELECT key FROM {table} WHERE kind = {kind} AND type = {type}
ORDER BY key::bigint * 2654435761 %% 4294967296, key LIMIT {k}"""


def typed_as(codes: Sequence[int]) -> sql.Composable:
    """Return the condition that a vector's node has a type with one of these codes; none for every type."""
    return sql.SQL("AND type = ANY({})").format(sql.Literal(list(codes))) if codes else sql.SQL("")


def fetched(kind: VectorKind, k: int) -> int:
    """Return how many vectors are fetched from an index for k nodes; their exact cosines decide."""
    return (k + k // 4 + 8) * (PARTS if kind in SEVERAL else 1)


class PgVectors:
    """The vectors of one vector set (interfaces.VectorIndex)."""

    backend = "pgvector"

    def __init__(self, vector_set: VectorSet, schema: Schema, ef_search: int = 200) -> None:
        self._vector_set = int(vector_set.pk)
        self._named = str(vector_set)
        self._encoded = frozenset(vector_set.kinds)
        self._dimensions = int(vector_set.dimensions)
        self._schema = schema
        self._ef_search = ef_search
        self._total = sum(node_type.count for node_type in schema.node_types)
        self._matrices = VectorFolder(vector_set.directory, self._dimensions)
        self._types_file = vector_set.snapshot.directory / "nodes" / "types.npy"
        self._samples: dict[tuple[str, int], list[int]] = {}
        self._backgrounds: dict[tuple[str, int], DocumentRows] = {}
        self._sampling = threading.Lock()

    def nearest(
        self, kind: VectorKind, vector: Vectors, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        """Return the k nodes of the given types (none: all) with the highest cosine, best first, ties by key.

        A node with several vectors of the kind counts by the best. Fewer than k nodes come back only if no more nodes
        of the types have a vector of the kind. KeyError for a type that the schema does not have; a permanent
        StageError for a kind that the vector set does not have.
        """
        self._check(kind)
        if k < 1:
            return []
        codes = sorted({self._schema.type_codes[label] for label in labels})
        if self._total <= IN_MEMORY and kind in self._matrices and (not codes or self._types is not None):
            return self._scanned(self._matrices[kind], vector, k, codes, limit)
        return self._looked_up(kind, vector, k, codes, exact=self._is_exact(labels, k), limit=limit)

    def _looked_up(
        self, kind: VectorKind, vector: Vectors, k: int, codes: Sequence[int], *, exact: bool, limit: Limit | None
    ) -> list[Candidate]:
        """Return the k nearest nodes of the types with these codes (none: all) from the database.

        With `exact` all vectors of the types are compared, otherwise the index is searched first.
        """
        typed = typed_as(codes)
        if not exact:
            settings = TO_THE_END | {"hnsw.ef_search": min(MOST_EF_SEARCH, max(self._ef_search, k))}
            fetch = sql.Literal(fetched(kind, k))
            statement = self._compose(
                NEAREST, kind, vector, typed=typed, k=sql.Literal(k), fetch=fetch, distance=_HALVES
            )
            found = read(STAGE, statement, limit=limit, settings=settings)
            if len(found) == k:
                return list(map(Candidate._make, found))
        # Too few came from the index: its scan ran out of memory, or several vectors of one node took the places.
        statement = self._compose(EXACT, kind, vector, typed=typed, k=sql.Literal(k))
        return list(map(Candidate._make, read(STAGE, statement, limit=limit)))

    def _scanned(
        self, matrix: KindVectors, vector: Vectors, k: int, codes: Sequence[int], limit: Limit | None
    ) -> list[Candidate]:
        """Return the k nearest nodes of the types with these codes (none: all) by comparing all in the matrix."""
        # Here, because a web process may import this module and must not load torch.
        from search.neural.scan import products

        self._check_dimensions(vector)
        (limit or present_limit()).check(STAGE)
        among = np.isin(self._types, codes) if codes and self._types is not None else None
        return list(map(Candidate._make, matrix.nearest(vector, k, products, among)))

    def cosines(self, vector: Vectors, keys: Sequence[int], kind: VectorKind = WHOLE) -> dict[int, float]:
        """Return the cosine of each key's vector of a kind, the best of several, from the mapped matrix of the kind.

        A key without a vector of the kind is left out. A permanent StageError for a kind that there is not.
        """
        self._check(kind)
        if kind in self._matrices:
            return self._matrices[kind].cosines(vector, keys)
        wanted = sql.Literal([int(key) for key in keys])
        return dict(read(STAGE, self._compose(_GIVEN, kind, vector, keys=wanted))) if len(keys) else {}

    @property
    def kinds(self) -> frozenset[VectorKind]:
        """The kinds of vectors that there are, computed ones included."""
        return self._encoded | {kind for kind in COMPUTED if kind in self._matrices}

    def matrix(self, kind: VectorKind) -> KindMatrix:
        """Return all vectors of a kind. Raises a permanent StageError if the vector set has no matrix of it."""
        self._check(kind)
        if kind not in self._matrices:
            reason = f"the {self._named} have no matrix of kind {kind!r}; `index_kb` writes it"
            raise StageError(STAGE, reason, permanent=True)
        return self._matrices[kind].matrix()

    def best_cosines(self, kind: VectorKind, vectors: Vectors) -> tuple[Keys, Vectors]:
        """Return the keys with a vector of a kind, and each node's best cosine with each of these vectors.

        Raises a permanent StageError if the vector set has no matrix of the kind.
        """
        from search.neural.scan import products

        self.matrix(kind)
        return self._matrices[kind].best(vectors, products)

    def sample(self, label: str, n: int = 1000, limit: Limit | None = None) -> list[int]:
        """Return up to n keys of a type, always the same ones, in the order of keys."""
        known = self._samples.get((label, n))
        if known is None:
            statement = sql.SQL(_SAMPLE).format(
                table=self._table, kind=sql.Literal("name"), type=sql.Literal(self._schema.type_codes[label]),
                k=sql.Literal(n),
            )  # fmt: skip
            known = sorted(key for (key,) in read(STAGE, statement, limit=limit))
            with self._sampling:
                self._samples[label, n] = known
        return known

    def background(self, vector: Vectors, label: str, n: int = 1000, limit: Limit | None = None) -> Vectors:
        """Return the cosines of a vector and the documents of a type's sample."""
        known = self._backgrounds.get((label, n))
        if known is None:
            known = self._matrices.documents.rows(np.array(self.sample(label, n, limit), dtype=np.int64))
            with self._sampling:
                self._backgrounds[label, n] = known
                while len(self._backgrounds) > BACKGROUNDS_KEPT:
                    self._backgrounds.pop(next(iter(self._backgrounds)))
        return known.cosines(vector)

    def _check(self, kind: VectorKind) -> None:
        """Refuse a kind that was not built."""
        if kind in self._encoded or (kind in COMPUTED and kind in self._matrices):
            return
        there = ", ".join(sorted(self.kinds))
        how = "`index_kb`" if kind in COMPUTED else "`index_kb --kind`"
        reason = f"the {self._named} hold no vectors of kind {kind!r}; they hold: {there}. {how} adds it"
        raise StageError(STAGE, reason, permanent=True)

    def _is_exact(self, labels: Sequence[str], k: int) -> bool:
        """Return whether to compare all vectors of the types instead of searching the index."""
        if self._dimensions > MOST_INDEXED_DIMENSIONS:
            return True
        count = sum(self._schema.node_type(label).count for label in set(labels)) if labels else self._total
        return count <= EXACT_BELOW or k * self._total > SCANNED_AT_MOST * count

    def _compose(
        self,
        statement: str,
        kind: VectorKind,
        vector: Vectors,
        *,
        table: sql.Identifier | None = None,
        distance: str = "",
        **parts: sql.Composable,
    ) -> sql.Composed:
        """Return the statement with its values; the kind is a literal, so that a partial index can be chosen by it.

        `table` is the set's own unless another is given; `distance` is what an index orders by.
        """
        self._check_dimensions(vector)
        values: Any = ",".join(map(repr, vector.tolist()))
        common = {"dimensions": sql.Literal(self._dimensions), "exact": sql.Literal(f"[{values}]")}
        parts |= {name: sql.SQL(text).format(**common) for name, text in (("cosine", _COSINE), ("distance", distance))}
        return sql.SQL(statement).format(table=table or self._table, kind=sql.Literal(kind), **common, **parts)

    def _check_dimensions(self, vector: Vectors) -> None:
        if vector.shape != (self._dimensions,):
            raise ValueError(f"The vector set has {self._dimensions} dimensions, not {vector.shape}.")

    @cached_property
    def _types(self) -> NDArray[np.int16] | None:
        """Type code of each key, or None if the snapshot's index files are not there."""
        try:
            return np.load(self._types_file, mmap_mode="r").view(np.ndarray)
        except FileNotFoundError:
            return None

    @property
    def _table(self) -> sql.Identifier:
        return sql.Identifier(partition("search_vector", self._vector_set))
