"""One encoder's vectors of a snapshot, written in committed blocks, so that an interrupted run can continue.

The partition of a vector set is an independent table until its release is made. A block holds consecutive keys and is
written with all its kinds or not at all. The highest key in the table therefore says where to continue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from search import text
from search.domain.graph import Schema
from search.domain.run_context import UNOBSERVED, RunContext
from search.domain.vector_kinds import (
    CHUNK,
    COMPUTED,
    DOCUMENT,
    DROPS,
    MOST_INDEXED_DIMENSIONS,
    NAME,
    PASSAGE,
    PROSE,
    WHOLE,
)
from search.ingest import partitions, vector_engine
from search.ingest.documents import NodeWithNeighbours
from search.ingest.embed import embed
from search.ingest.parts import EMBED, INDEX_VECTORS
from search.ingest.segments import cut_at_drops
from search.ingest.statements import watched
from search.interfaces import Encoder
from search.models import VectorSet
from search.models.knowledge import BuildStatus
from search.models.partitions import partition

HNSW_ABOVE = 5_000
"""Nodes; below that every search compares all vectors, which takes milliseconds, so there is nothing to build."""
_COLUMNS = ("int8", "text", "int4", "int2", "int2", "bytea", "halfvec")

Half = NDArray[np.float16]
BlockSource = Callable[[int], Iterable[list[NodeWithNeighbours[str]]]]
"""Function from a first key to the blocks of nodes from that key on."""


@dataclass(slots=True)
class FillCounts:
    """Counts of one run: texts that were embedded, and vectors that were reused because their text was known."""

    embedded: int = 0
    reused: int = 0


def fill(
    vector_set: VectorSet,
    schema: Schema,
    encoder: Encoder,
    source: BlockSource,
    effort: Sequence[int] | NDArray[np.int64],
    run: RunContext = UNOBSERVED,
) -> FillCounts:
    """Embed the texts of a vector set that have no vectors yet, and return how many were embedded and reused.

    `source` yields the blocks of nodes from a key on. If this encoder has a vector of the same text in any vector set,
    the vector is copied instead of computed. `effort[k]` is the work, in any unit, for the nodes before key k; it has
    one entry more than there are nodes, and progress is counted in it.
    """
    create(vector_set.pk)
    total, first = int(effort[-1]), _next_key(vector_set)
    known = _tables_of(vector_set.encoder)
    filled = FillCounts()
    run.report(EMBED, int(effort[first]), total)
    for block in source(first):
        begin, end = int(effort[block[0].node.key]), int(effort[block[-1].node.key + 1])

        def embedded(share: float, begin: int = begin, end: int = end) -> None:
            run.report(EMBED, begin + int(share * (end - begin)), total)

        def windows(texts: Sequence[str]) -> Half:
            return embed(texts, encoder, lambda share: run.check())

        cut = cut_at_drops([one.node for one in block], windows) if DROPS in vector_set.kinds else []
        rows = list(_texts(block, schema, vector_set.kinds, cut))
        vectors = _vectors([row.text for row in rows], [row.hash for row in rows], encoder, known, filled, embedded)
        with transaction.atomic():
            _write(vector_set, rows, vectors)
        run.report(EMBED, end, total)
    return filled


HASH_INDEX = "CREATE INDEX ON {table} (text_hash)"
LOOK_UPS = {
    "key": "CREATE UNIQUE INDEX IF NOT EXISTS {index} ON {table} (vector_set_id, kind, key, part)",
    "type": "CREATE INDEX IF NOT EXISTS {index} ON {table} (kind, type, key)",
}
"""Indexes of every vector table, by the end of their names."""


def index(vector_set: VectorSet, run: RunContext = UNOBSERVED, *, nearest: bool = True) -> None:
    """Build the missing indexes of a filled vector set: by key, by type, and, with `nearest`, HNSW for each kind."""
    name = partition("search_vector", vector_set.pk)
    large = nearest and vector_set.snapshot.nodes > HNSW_ABOVE and not vector_engine.is_searched(vector_set)
    if large and vector_set.dimensions > MOST_INDEXED_DIMENSIONS:
        run.log(
            f"Vectors of {vector_set.dimensions:,} dimensions get no index, because Postgres indexes at most "
            f"{MOST_INDEXED_DIMENSIONS:,}: every search compares all of them, which is exact and takes longer."
        )
        large = False
    # Nothing looks for the nearest prose: it is compared with documents that were found.
    kinds = [kind for kind in vector_set.kinds if kind != PROSE] if large else []
    total = len(LOOK_UPS) + len(kinds)
    for place, (suffix, statement) in enumerate(LOOK_UPS.items()):
        with watched(run, INDEX_VECTORS, place, total), transaction.atomic():
            _allow_memory()
            _execute(statement, table=name, index=f"{name}_{suffix}")
    for place, kind in enumerate(kinds, len(LOOK_UPS)):
        with watched(run, INDEX_VECTORS, place, total), transaction.atomic():
            _index_kind(vector_set, kind)
    _execute("ANALYZE {table}", table=name)


def index_rows(vector_set: int) -> None:
    """Build the indexes of a table that `create` made without one and that was filled at once, and analyze it."""
    name = partition("search_vector", vector_set)
    _allow_memory()
    _execute(HASH_INDEX, table=name)
    for suffix, statement in LOOK_UPS.items():
        _execute(statement, table=name, index=f"{name}_{suffix}")
    _execute("ANALYZE {table}", table=name)


def _index_kind(vector_set: VectorSet, kind: str) -> None:
    """Build the HNSW index of a kind if it is missing, in the caller's transaction."""
    _allow_memory()
    name = partition("search_vector", vector_set.pk)
    _execute(
        "CREATE INDEX IF NOT EXISTS {index} ON {table} USING hnsw "
        f"((embedding::halfvec({vector_set.dimensions})) halfvec_cosine_ops) WHERE kind = {{value}}",
        table=name, index=f"{name}_{index_suffix(kind)}", value=kind,
    )  # fmt: skip


def _allow_memory() -> None:
    """Give the transaction memory for building an index."""
    _execute("SELECT set_config('maintenance_work_mem', {value}, true)", value=settings.VECTORS_MEMORY)
    # Parallel workers share this memory, and containers usually have less shared memory than that: nobody gets any
    # unasked.
    workers = str(settings.VECTORS_WORKERS)
    _execute("SELECT set_config('max_parallel_maintenance_workers', {value}, true)", value=workers)


def index_suffix(kind: str) -> str:
    """Return how the name of a kind's index ends; the name of a field may be longer than that of an index."""
    if kind in (NAME, DOCUMENT, WHOLE, PROSE, CHUNK, PASSAGE, *COMPUTED):
        return kind.replace("+", "_")
    return f"kind_{hashlib.blake2b(kind.encode(), digest_size=6).hexdigest()}"


def documents(vector_set: VectorSet, nodes_a_block: int = 10_000) -> Iterator[Half]:
    """Yield the document vectors of a filled vector set as (nodes, dimensions) arrays in the order of keys.

    Raises ValueError if a document's vector is missing.
    """
    for first, (_, rows) in zip(
        range(0, vector_set.snapshot.nodes, nodes_a_block), rows_of(vector_set, WHOLE, nodes_a_block), strict=True
    ):
        expected = min(nodes_a_block, vector_set.snapshot.nodes - first)
        if len(rows) != expected:
            raise ValueError(f"{vector_set} has {len(rows)} documents from key {first} on, not {expected}.")
        yield rows


def rows_of(vector_set: VectorSet, kind: str, nodes_a_block: int = 10_000) -> Iterator[tuple[NDArray[np.int32], Half]]:
    """Yield the vectors of a kind as (keys, rows), in the order of keys, for each stretch of keys; it may be empty."""
    statement = sql.SQL(
        "SELECT key, embedding FROM {} WHERE vector_set_id = %s AND kind = %s AND key >= %s AND key < %s "
        "ORDER BY key, part"
    ).format(sql.Identifier(partition("search_vector", vector_set.pk)))
    for first in range(0, vector_set.snapshot.nodes, nodes_a_block):
        with psycopg.Cursor(_driver()) as cursor:
            cursor.execute(statement, [vector_set.pk, kind, first, first + nodes_a_block], binary=True)
            found = cursor.fetchall()
        keys = np.array([key for key, _ in found], dtype=np.int32)
        rows = [embedding.to_numpy() for _, embedding in found]
        yield keys, np.stack(rows) if rows else np.empty((0, vector_set.dimensions), dtype=np.float16)


def add_computed(
    vector_set: VectorSet,
    kind: str,
    blocks: Iterable[tuple[NDArray[np.int32], Half]],
    types: NDArray[np.int16],
    run: RunContext = UNOBSERVED,
) -> None:
    """Write a computed kind into the table of a filled vector set, in place of what it had, and index it if it can be.

    Large sets need it: they are searched by the index. `types` holds the type code of each key.
    """
    name = partition("search_vector", vector_set.pk)
    with transaction.atomic():
        statement = sql.SQL("DELETE FROM {} WHERE kind = %s").format(sql.Identifier(name))
        with connection.cursor() as cursor:
            cursor.execute(statement, [kind])
        for keys, rows in blocks:
            run.check()
            written = [_Row(kind, int(key), 0, int(types[key]), "", at.to_bytes(4)) for at, key in enumerate(keys)]
            _write(vector_set, written, {row.hash: rows[at] for at, row in enumerate(written)})
    if vector_set.dimensions > MOST_INDEXED_DIMENSIONS or vector_engine.is_searched(vector_set):
        return
    with watched(run, INDEX_VECTORS, 0, 1), transaction.atomic():
        _index_kind(vector_set, kind)


def attach(vector_set: VectorSet) -> None:
    """Attach the partition and mark the vector set as ready; call it in the transaction that makes the release."""
    name = partition("search_vector", vector_set.pk)
    _execute("ALTER TABLE search_vector ATTACH PARTITION {table} FOR VALUES IN ({value})",
             table=name, value=vector_set.pk)  # fmt: skip
    _execute("ALTER TABLE {table} DROP CONSTRAINT of_vector_set", table=name)
    vector_set.status = BuildStatus.READY
    vector_set.vectors = _one("SELECT count(*) FROM {table}", table=name)
    vector_set.save(update_fields=["status", "vectors"])


@dataclass(frozen=True, slots=True)
class _Row:
    """One vector to be written: its kind, the node's key and type code, the text and the text's hash."""

    kind: str
    key: int
    part: int
    type: int
    text: str
    hash: bytes


def _texts(
    block: Sequence[NodeWithNeighbours[str]], schema: Schema, kinds: Sequence[str], cut: Sequence[Sequence[str]]
) -> Iterator[_Row]:
    """Yield the texts of each kind; `cut` holds the passages of each node if they are cut at drops."""
    for place, documented in enumerate(block):
        node = documented.node
        for kind in kinds:
            texts = cut[place] if kind == DROPS else text.vector_texts(kind, node, documented.neighbours)
            for part, wording in enumerate(texts):
                digest = hashlib.blake2b(wording.encode(), digest_size=16).digest()
                yield _Row(kind, node.key, part, schema.type_codes[node.type], wording, digest)


def _vectors(
    texts: Sequence[str],
    hashes: Sequence[bytes],
    encoder: Encoder,
    tables: Sequence[str],
    filled: FillCounts,
    told: Callable[[float], None],
) -> dict[bytes, Half]:
    """Return hash → vector for each text: looked up if the text is known, otherwise embedded; update the counts."""
    wanted = dict(zip(hashes, texts, strict=True))
    vectors: dict[bytes, Half] = {}
    for table in tables:
        missing = [digest for digest in wanted if digest not in vectors]
        if missing:
            vectors |= _look_up(table, missing)
    missing = [digest for digest in wanted if digest not in vectors]
    if missing:
        embedded = embed([wanted[digest] for digest in missing], encoder, told)
        vectors |= zip(missing, embedded, strict=True)
    filled.embedded += len(missing)
    filled.reused += len(texts) - len(missing)
    return vectors


def _look_up(table: str, hashes: Sequence[bytes]) -> dict[bytes, Half]:
    """Return the vectors of texts that a table has."""
    statement = sql.SQL("SELECT text_hash, embedding FROM {} WHERE text_hash = ANY(%s)").format(sql.Identifier(table))
    with psycopg.Cursor(_driver()) as cursor:
        try:
            cursor.execute(statement, [list(hashes)], binary=True)
        except psycopg.errors.UndefinedTable:
            # It was dropped with its release or knowledge base since the list of tables was made.
            return {}
        return {bytes(digest): embedding.to_numpy() for digest, embedding in cursor.fetchall()}


def _write(vector_set: VectorSet, rows: Sequence[_Row], vectors: Mapping[bytes, Half]) -> None:
    statement = sql.SQL(
        "COPY {} (vector_set_id, kind, key, part, type, text_hash, embedding) FROM STDIN (FORMAT BINARY)"
    ).format(sql.Identifier(partition("search_vector", vector_set.pk)))
    with psycopg.Cursor(_driver()) as cursor, cursor.copy(statement) as copy:
        copy.set_types(_COLUMNS)
        for row in rows:
            embedding = HalfVector(vectors[row.hash])
            copy.write_row((vector_set.pk, row.kind, row.key, row.part, row.type, row.hash, embedding))


def _driver() -> psycopg.Connection[Any]:
    """Return psycopg's connection set up for binary vectors: passing them as text takes longer than embedding them."""
    connection.ensure_connection()
    driver: psycopg.Connection[Any] = connection.connection
    register_vector(driver)
    return driver


def create(vector_set: int, *, hashed: bool = True) -> None:
    """Create the empty table of the vector set with this id if it is missing.

    Its CHECK lets Postgres attach it without a scan. Its index on hashes serves look-ups while it is filled; without
    `hashed` it has none, because hashes come in no order, and a whole index is built several times as fast afterwards.
    """
    name = partition("search_vector", vector_set)
    with transaction.atomic():
        if name in partitions.existing():
            # One that was begun before there were parts is attached with the others' columns.
            _execute("ALTER TABLE {table} ADD COLUMN IF NOT EXISTS part smallint NOT NULL DEFAULT 0", table=name)
            return
        _execute(
            "CREATE TABLE {table} (LIKE search_vector INCLUDING DEFAULTS INCLUDING STORAGE, "
            "CONSTRAINT of_vector_set CHECK (vector_set_id = {value}))",
            table=name,
            value=vector_set,
        )
        if hashed:
            _execute(HASH_INDEX, table=name)


def _next_key(vector_set: VectorSet) -> int:
    """Return the first key that has no vectors yet."""
    return int(_one("SELECT coalesce(max(key) + 1, 0) FROM {table}", table=partition("search_vector", vector_set.pk)))


def _tables_of(encoder: str) -> list[str]:
    """Return the tables that hold vectors of an encoder, newest first; failed and dropped vector sets have none."""
    names = [
        partition("search_vector", pk) for pk in VectorSet.objects.filter(encoder=encoder).values_list("pk", flat=True)
    ]
    return [name for name in names if _one("SELECT to_regclass({value}) IS NOT NULL", value=name)]


def _compose(statement: str, table: str, index: str, value: int | str | None) -> sql.Composed:
    return sql.SQL(statement).format(table=sql.Identifier(table), index=sql.Identifier(index), value=sql.Literal(value))


def _execute(statement: str, *, table: str = "", index: str = "", value: int | str | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_compose(statement, table, index, value))


def _one(statement: str, *, table: str = "", value: int | str | None = None) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_compose(statement, table, "", value))
        return int(cursor.fetchone()[0])
