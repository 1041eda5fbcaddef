"""Nearest neighbours against an exact scan in numpy, by index and by scan, and what goes wrong in words of a search."""

import time

import numpy as np
import pytest
from django.db import connection
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from search.adapters import vectors_memmap, vectors_pgvector
from search.adapters.vectors_pgvector import PgVectors
from search.domain.errors import DeadlineExceeded, SearchCancelled
from search.domain.graph import NodeType, Schema
from search.domain.run_context import UNOBSERVED, RunContext
from search.domain.trace import Limit
from search.ingest import vectors as building
from search.models import KnowledgeBase, Snapshot, VectorSet
from search.neural.scan import products

DIMENSIONS = 24
NODES = 6_000
COUNTS = {"common": 5_700, "rare": 300}
SCHEMA = Schema(tuple(NodeType(name, count) for name, count in COUNTS.items()), (), ())
TYPES = np.array([0] * COUNTS["common"] + [1] * COUNTS["rare"])


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def drawn() -> np.ndarray:
    """Vectors in clusters, as embeddings are, the same every time; two of them are equal."""
    draw = np.random.default_rng(7)
    centres = draw.normal(size=(40, DIMENSIONS))
    rows = unit(centres[draw.integers(0, 40, NODES)] + 0.6 * draw.normal(size=(NODES, DIMENSIONS)))
    rows[4_321] = rows[1_234]
    return rows


ROWS = drawn()
STORED = ROWS.astype(np.float16).astype(np.float32)
QUERIES = unit(ROWS[::997] + 0.2 * np.random.default_rng(8).normal(size=ROWS[::997].shape))


@pytest.fixture
def vector_set(db: None) -> VectorSet:
    """A vector set of names, filled and indexed."""
    return filled(ROWS, TYPES, SCHEMA)


def filled(rows: np.ndarray, types: np.ndarray, schema: Schema, run: RunContext = UNOBSERVED) -> VectorSet:
    """Return a vector set of names with these rows, indexed."""
    base = KnowledgeBase.objects.create(name="vectors")
    snapshot = Snapshot.objects.create(knowledge_base=base, nodes=len(rows))
    made = VectorSet.objects.create(snapshot=snapshot, encoder="test", dimensions=rows.shape[1])
    building.fill(made, schema, None, lambda first: (), [0])  # type: ignore[arg-type]
    register_vector(connection.connection)
    with connection.cursor() as cursor:
        statement = (
            f"COPY search_vector_{made.pk} (vector_set_id, kind, key, type, text_hash, embedding) "
            "FROM STDIN (FORMAT BINARY)"
        )
        with cursor.copy(statement) as copy:
            copy.set_types(["int8", "text", "int4", "int2", "bytea", "halfvec"])
            for key, row in enumerate(rows):
                copy.write_row((made.pk, "name", key, int(types[key]), b"", HalfVector(row.astype(np.float16))))
    building.index(made, run)
    building.attach(made)
    return made


def exact(query: np.ndarray, k: int, among: np.ndarray, stored: np.ndarray = STORED) -> list[tuple[int, float]]:
    keys = np.flatnonzero(among)
    cosines = (stored[keys] @ query) / np.linalg.norm(stored[keys], axis=1)
    return [(int(keys[at]), float(cosines[at])) for at in np.lexsort((keys, -cosines))[:k]]


def test_the_index_finds_nearly_all_that_a_scan_finds_with_exact_cosines(vector_set: VectorSet) -> None:
    index = PgVectors(vector_set, SCHEMA)
    found_of_all = []
    for query in QUERIES:
        wanted = dict(exact(query, 50, TYPES >= 0))
        found = index.nearest("name", query, 50)
        assert len(found) == 50
        assert [c.key for c in found] == [c.key for c in sorted(found, key=lambda c: (-c.score, c.key))]
        found_of_all.append(len(wanted.keys() & {c.key for c in found}) / 50)
        for candidate in found:
            if candidate.key in wanted:
                assert candidate.score == pytest.approx(wanted[candidate.key], abs=1e-6)
    assert np.mean(found_of_all) > 0.98


def test_the_index_is_what_answers_a_common_type(vector_set: VectorSet) -> None:
    index = PgVectors(vector_set, SCHEMA)
    assert not index._is_exact([], 100)
    assert not index._is_exact(["common"], 100)
    with connection.cursor() as cursor:
        cursor.execute(
            f"EXPLAIN SELECT key FROM search_vector_{vector_set.pk} WHERE kind = 'name' AND type = ANY('{{0}}') "
            f"ORDER BY embedding::halfvec({DIMENSIONS}) <=> '{QUERIES[0].tolist()}'::halfvec({DIMENSIONS}) LIMIT 100"
        )
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert f"search_vector_{vector_set.pk}_name" in plan


def test_a_common_type_is_filtered_while_the_index_is_walked(vector_set: VectorSet) -> None:
    for query in QUERIES:
        found = PgVectors(vector_set, SCHEMA).nearest("name", query, 20, ["common"])
        wanted = exact(query, 20, TYPES == 0)
        assert len({c.key for c in found} & {key for key, _ in wanted}) >= 19
        assert all(TYPES[c.key] == 0 for c in found)


def test_a_rare_type_is_scanned_and_nothing_is_missed(vector_set: VectorSet) -> None:
    index = PgVectors(vector_set, SCHEMA)
    assert index._is_exact(["rare"], 100)
    for query in QUERIES:
        found = [(c.key, c.score) for c in index.nearest("name", query, 30, ["rare"])]
        wanted = exact(query, 30, TYPES == 1)
        assert [key for key, _ in found] == [key for key, _ in wanted]
        assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-6)


def test_equal_cosines_are_ordered_by_key(vector_set: VectorSet) -> None:
    found = PgVectors(vector_set, SCHEMA).nearest("name", ROWS[4_321], 2)
    assert [c.key for c in found] == [1_234, 4_321]
    assert found[0].score == found[1].score


def test_cosines_are_given_for_the_keys_that_have_a_vector(vector_set: VectorSet) -> None:
    vector_set.directory.mkdir(parents=True)
    vectors_memmap.build(vector_set.directory, [ROWS[:4_000].astype(np.float16), ROWS[4_000:].astype(np.float16)])
    index = PgVectors(vector_set, SCHEMA)
    wanted = dict(exact(QUERIES[0], NODES, TYPES >= 0))
    assert index.cosines(QUERIES[0], [3, NODES + 5]) == {3: pytest.approx(wanted[3], abs=1e-6)}
    assert index.cosines(QUERIES[0], range(NODES)) == pytest.approx(wanted, abs=1e-6)
    assert index.cosines(QUERIES[0], []) == {}


def written(vector_set: VectorSet) -> PgVectors:
    """The vectors with the matrix of documents, whose rows are the vectors of the names."""
    vector_set.directory.mkdir(parents=True)
    vectors_memmap.build(vector_set.directory, [ROWS.astype(np.float16)])
    return PgVectors(vector_set, SCHEMA)


def test_documents_are_scanned_in_memory_and_nothing_is_missed(vector_set: VectorSet) -> None:
    index = written(vector_set)
    for query in QUERIES:
        found = index.nearest("document+relations", query, 50)
        wanted = exact(query, 50, TYPES >= 0)
        assert [c.key for c in found] == [key for key, _ in wanted]
        assert [c.score for c in found] == pytest.approx([score for _, score in wanted], abs=1e-6)
    assert [c.key for c in index.nearest("document+relations", ROWS[4_321], 2)] == [1_234, 4_321]
    assert len(index.nearest("document+relations", QUERIES[0], NODES + 5)) == NODES
    with pytest.raises(DeadlineExceeded):
        index.nearest("document+relations", QUERIES[0], 5, limit=Limit(ends=time.monotonic()))
    with pytest.raises(ValueError, match="24 dimensions"):
        index.nearest("document+relations", np.ones(3, dtype=np.float32), 1)


def test_more_documents_than_are_scanned_in_memory_are_looked_up_in_postgres(
    vector_set: VectorSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_pgvector, "IN_MEMORY", NODES - 1)
    # Postgres holds no vectors of documents here.
    assert written(vector_set).nearest("document+relations", QUERIES[0], 5) == []


def test_the_rough_products_err_less_than_the_margin_allows() -> None:
    rough = products(ROWS.astype(np.float16), QUERIES[0])
    assert 2 * np.abs(rough - STORED @ QUERIES[0]).max() < vectors_memmap.MARGIN


def test_the_background_of_a_type_is_the_cosines_of_its_sample(vector_set: VectorSet) -> None:
    index = written(vector_set)
    for query in QUERIES[:2]:
        expected = index.cosines(query, index.sample("rare", 100))
        assert index.background(query, "rare", 100).tolist() == pytest.approx(list(expected.values()), abs=1e-6)


def test_a_sample_of_a_type_is_always_the_same(vector_set: VectorSet) -> None:
    sample = PgVectors(vector_set, SCHEMA).sample("rare", 100)
    assert len(sample) == len(set(sample)) == 100
    assert all(TYPES[key] == 1 for key in sample)
    assert PgVectors(vector_set, SCHEMA).sample("rare", 100) == sample
    assert len(PgVectors(vector_set, SCHEMA).sample("rare")) == COUNTS["rare"]


def test_a_vector_of_other_dimensions_is_an_error(vector_set: VectorSet) -> None:
    with pytest.raises(ValueError, match="24 dimensions"):
        PgVectors(vector_set, SCHEMA).nearest("name", np.ones(3, dtype=np.float32), 1)


def test_a_search_out_of_time_or_cancelled_is_not_started(vector_set: VectorSet) -> None:
    index = PgVectors(vector_set, SCHEMA)
    with pytest.raises(DeadlineExceeded):
        index.nearest("name", QUERIES[0], 5, limit=Limit(ends=time.monotonic()))
    with pytest.raises(SearchCancelled):
        index.nearest("name", QUERIES[0], 5, limit=Limit(cancelled=lambda: True))


def test_what_is_not_indexed_is_always_scanned() -> None:
    assert building.HNSW_ABOVE <= vectors_pgvector.EXACT_BELOW


FAR_NODES, FAR_DIMENSIONS = 24_000, 8
SHARES = {"tenth of a percent": 0.001, "percent": 0.01, "twentieth": 0.05, "half": 0.5}


def test_all_neighbours_of_a_type_are_found_however_rare_it_is_and_however_far_it_lies(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(11)
    types = np.full(FAR_NODES, len(SHARES))
    begin = 0
    for code, share in enumerate(SHARES.values()):
        types[begin : begin + round(FAR_NODES * share)] = code
        begin += round(FAR_NODES * share)
    # Every type lies in a direction of its own; the questions are about the rest, far from all of them.
    rows = unit(6 * np.eye(FAR_DIMENSIONS)[types] + draw.normal(size=(FAR_NODES, FAR_DIMENSIONS)))
    counts = [int(count) for count in np.bincount(types)]
    names = [*SHARES, "rest"]
    schema = Schema(tuple(map(NodeType, names, counts)), (), ())
    made = filled(rows, types, schema)
    # Not even a rare type is scanned: the index answers, as it does for types of a base of a million nodes.
    monkeypatch.setattr(vectors_pgvector, "EXACT_BELOW", 0)
    monkeypatch.setattr(vectors_pgvector, "SCANNED_AT_MOST", 10**12)
    index = PgVectors(made, schema)
    stored = rows.astype(np.float16).astype(np.float32)
    for query in unit(stored[types == len(SHARES)][:3]):
        for code, name in enumerate(SHARES):
            k = min(100, counts[code])
            wanted = exact(query, k, types == code, stored)
            found = index.nearest("name", query, k, [name])
            assert len(found) == k
            assert len({one.key for one in found} & {key for key, _ in wanted}) >= 0.95 * k, name
            # More than there are: all of them.
            if counts[code] < 500:
                everything = index.nearest("name", query, 500, [name])
                assert [one.key for one in everything] == [key for key, _ in exact(query, 500, types == code, stored)]


def test_vectors_too_wide_for_an_index_are_all_compared(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "HNSW_ABOVE", 10)
    monkeypatch.setattr(vectors_pgvector, "EXACT_BELOW", 0)
    rows = unit(np.random.default_rng(5).normal(size=(60, 4_096)))
    types, schema = np.zeros(60, dtype=int), Schema((NodeType("lamp", 60),), (), ())
    told: list[str] = []
    made = filled(rows, types, schema, RunContext(log=told.append))
    assert told == [
        "Vectors of 4,096 dimensions get no index, because Postgres indexes at most 4,000: every search compares all "
        "of them, which is exact and takes longer."
    ]
    stored = rows.astype(np.float16).astype(np.float32)
    found = PgVectors(made, schema).nearest("name", rows[7], 5)
    assert [one.key for one in found] == [key for key, _ in exact(rows[7], 5, types == 0, stored)]
    building.add_computed(made, "neighbours", [(np.arange(60, dtype=np.int32), rows.astype(np.float16))], types)
