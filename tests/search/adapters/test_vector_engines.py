"""Every way to look for the nearest vectors, held against numpy: the mapped matrix, pgvector, and the vector engine."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from django.db import connection
from django.test import override_settings
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings

from search.adapters import vectors_memmap, vectors_pgvector
from search.adapters.vectors_diskann import DiskAnnVectors
from search.adapters.vectors_pgvector import PgVectors
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.graph import NodeType, Schema
from search.domain.trace import Limit
from search.ingest import partitions, vector_engine
from search.ingest import vectors as building
from search.models import KnowledgeBase, Snapshot, VectorSet
from tests.vector_server import VectorPostgres

DIMENSIONS, NODES = 96, 1_800
COUNTS = {"common": 1_500, "rare": 300}
SCHEMA = Schema(tuple(NodeType(name, count) for name, count in COUNTS.items()), (), ())
TYPES = np.array([0] * COUNTS["common"] + [1] * COUNTS["rare"], dtype=np.int16)
KINDS = {"name": 1, "chunk": 2}
"""Kind → vectors of each node."""
ENGINES = ("matrix", "pgvector", "pgvectorscale", "two servers")


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


DRAW = np.random.default_rng(3)
CENTRES = DRAW.normal(size=(30, DIMENSIONS))
ROWS = {
    kind: unit(CENTRES[DRAW.integers(0, 30, NODES * parts)] + 0.6 * DRAW.normal(size=(NODES * parts, DIMENSIONS)))
    .astype(np.float16)
    for kind, parts in KINDS.items()
}  # fmt: skip
ROWS["name"][1_321] = ROWS["name"][234]
QUERIES = unit(ROWS["name"][::300].astype(np.float64) + 0.05 * DRAW.normal(size=(6, DIMENSIONS)))


def exact(kind: str, query: NDArray[np.float32], k: int, among: NDArray[np.bool_]) -> list[tuple[int, float]]:
    """Return the k nearest nodes and their cosines by comparing all; a node counts by its best vector."""
    stored = ROWS[kind].astype(np.float64)
    cosines = (stored @ query) / np.linalg.norm(stored, axis=1)
    best = cosines.reshape(NODES, KINDS[kind]).max(axis=1)
    keys = np.flatnonzero(among)
    return [(int(keys[at]), float(best[keys[at]])) for at in np.lexsort((keys, -best[keys]))[:k]]


def filled() -> VectorSet:
    """Return a vector set with these rows in Postgres, without indexes, and with its matrices."""
    base = KnowledgeBase.objects.create(name="engines")
    snapshot = Snapshot.objects.create(knowledge_base=base, nodes=NODES)
    made = VectorSet.objects.create(
        snapshot=snapshot, encoder="test", dimensions=DIMENSIONS, kinds=["name", "document+relations", "chunk"]
    )
    building.create(made.pk)
    register_vector(connection.connection)
    with connection.cursor() as cursor:
        statement = (
            f"COPY search_vector_{made.pk} (vector_set_id, kind, key, part, type, text_hash, embedding) "
            "FROM STDIN (FORMAT BINARY)"
        )
        with cursor.copy(statement) as copy:
            copy.set_types(["int8", "text", "int4", "int2", "int2", "bytea", "halfvec"])
            for kind, parts in KINDS.items():
                for at, row in enumerate(ROWS[kind]):
                    key = at // parts
                    copy.write_row((made.pk, kind, key, at % parts, int(TYPES[key]), b"", HalfVector(row)))
    made.directory.mkdir(parents=True)
    (snapshot.directory / "nodes").mkdir()
    np.save(snapshot.directory / "nodes" / "types.npy", TYPES)
    vectors_memmap.build(made.directory, [ROWS["name"]])
    for kind, parts in KINDS.items():
        keys = np.repeat(np.arange(NODES, dtype=np.int32), parts)
        vectors_memmap.build_kind(made.directory, kind, [(keys, ROWS[kind])])
    return made


@pytest.fixture(scope="module", params=ENGINES)
def built(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[str, VectorSet, str]]:
    """One of the ways, the vectors for it, and the servers of the engine that holds them."""
    addresses = ""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patched:
        made = filled()
        if request.param == "pgvector":
            patched.setattr(building, "HNSW_ABOVE", NODES - 1)
            building.index(made)
        elif request.param != "matrix":
            server: VectorPostgres = request.getfixturevalue("vector_server")
            names = ("one",) if request.param == "pgvectorscale" else ("first", "second")
            addresses = ",".join(server.database(name) for name in names)
            with override_settings(VECTORS_URL=addresses):
                patched.setattr(vector_engine, "IN_MEMORY", NODES - 1)
                vector_engine.fill(made)
            # Only the engine can answer.
            with connection.cursor() as cursor:
                cursor.execute(f"DELETE FROM search_vector_{made.pk}")
        yield request.param, made, addresses
        partitions.drop([f"search_vector_{made.pk}"])
        made.snapshot.knowledge_base.delete()


@pytest.fixture
def index(
    built: tuple[str, VectorSet, str], db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> PgVectors:
    """The vectors, looked for in one of the ways; where it is not the matrix, as in sets of millions of nodes."""
    way, made, settings.VECTORS_URL = built
    if way != "matrix":
        monkeypatch.setattr(vectors_pgvector, "IN_MEMORY", NODES - 1)
        # The rare type is compared whole, everything else is looked up in the index.
        monkeypatch.setattr(vectors_pgvector, "EXACT_BELOW", COUNTS["rare"])
        monkeypatch.setattr(vectors_pgvector, "SCANNED_AT_MOST", 10**12)
    return DiskAnnVectors(made, SCHEMA) if settings.VECTORS_URL else PgVectors(made, SCHEMA)


def test_the_nearest_of_a_rare_type_are_exactly_those_of_a_scan(index: PgVectors) -> None:
    for kind in KINDS:
        for query in QUERIES:
            found = [(one.key, one.score) for one in index.nearest(kind, query, 20, ["rare"])]
            wanted = exact(kind, query, 20, TYPES == 1)
            assert [key for key, _ in found] == [key for key, _ in wanted]
            assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-6)


def test_of_all_types_the_nearest_are_found_with_their_exact_cosines(index: PgVectors) -> None:
    for kind in KINDS:
        shares = []
        for query in QUERIES:
            found = index.nearest(kind, query, 50)
            wanted = dict(exact(kind, query, 50, TYPES >= 0))
            assert len({one.key for one in found}) == 50
            assert found == sorted(found, key=lambda one: (-one.score, one.key))
            for one in found:
                if one.key in wanted:
                    assert one.score == pytest.approx(wanted[one.key], abs=1e-6)
            shares.append(len(wanted.keys() & {one.key for one in found}) / 50)
        assert np.mean(shares) > 0.97


def test_a_filtered_search_of_the_index_returns_as_many_as_asked_for(
    index: PgVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_pgvector, "EXACT_BELOW", 0)
    for query in QUERIES:
        found = index.nearest("name", query, 100, ["rare"])
        wanted = {key for key, _ in exact("name", query, 100, TYPES == 1)}
        assert len(found) == 100
        assert all(TYPES[one.key] == 1 for one in found)
        assert len(wanted & {one.key for one in found}) >= 95


def test_equal_cosines_are_ordered_by_key_and_all_nodes_can_be_asked_for(index: PgVectors) -> None:
    found = index.nearest("name", ROWS["name"][1_321].astype(np.float32), 2)
    assert [one.key for one in found] == [234, 1_321]
    assert len(index.nearest("name", QUERIES[0], NODES + 5)) == NODES
    assert index.nearest("name", QUERIES[0], 0) == []


def test_cosines_of_given_nodes_are_those_of_numpy(index: PgVectors) -> None:
    for kind in KINDS:
        wanted = dict(exact(kind, QUERIES[1], NODES, TYPES >= 0))
        assert index.cosines(QUERIES[1], [7, NODES + 9], kind) == {7: pytest.approx(wanted[7], abs=1e-6)}
        keys, best = index.best_cosines(kind, QUERIES[1:2])
        assert keys.tolist() == list(range(NODES))
        assert best[0] == pytest.approx([wanted[key] for key in range(NODES)], abs=1e-3)


def test_wrong_questions_are_refused_in_the_same_words(index: PgVectors) -> None:
    with pytest.raises(StageError, match="hold no vectors of kind 'field:plot'"):
        index.nearest("field:plot", QUERIES[0], 5)
    with pytest.raises(KeyError):
        index.nearest("name", QUERIES[0], 5, ["nobody"])
    with pytest.raises(ValueError, match="96 dimensions"):
        index.nearest("name", np.ones(3, dtype=np.float32), 1)
    with pytest.raises(DeadlineExceeded):
        index.nearest("name", QUERIES[0], 5, limit=Limit(ends=time.monotonic()))
    with pytest.raises(SearchCancelled):
        index.nearest("name", QUERIES[0], 5, limit=Limit(cancelled=lambda: True))
