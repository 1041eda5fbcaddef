"""Retrieval by chunks against an oracle that compares them one by one, and documents without relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from search.adapters.vectors_memmap import KindVectors, build_kind
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.question import Question
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.domain.vector_kinds import CHUNK, DOCUMENT, PASSAGE, WHOLE
from search.interfaces import KindMatrix
from search.stages import retrieve_chunks
from search.stages.retrieve import NO_PLAIN_DOCUMENTS, Dense
from search.stages.retrieve_chunks import Chunks
from tests.fakes import HashEncoder, MemoryVectors

ENCODER = HashEncoder(dimensions=8)
ASKED = Question("who?")


class ChunkVectors:
    """The real matrix of one kind in a folder, and one vector a document for the other kinds."""

    def __init__(self, folder: Any, kind: str, rows: Mapping[int, Sequence[NDArray[np.float32]]]) -> None:
        keys = np.array([key for key in sorted(rows) for _ in rows[key]], dtype=np.int32)
        stacked = [row for key in sorted(rows) for row in rows[key]]
        matrix = np.array(stacked, dtype=np.float16).reshape(len(keys), ENCODER.dimensions)
        build_kind(folder, kind, [(keys, matrix)])
        self.kinds = frozenset({kind, WHOLE})
        self._kind = kind
        self._opened = KindVectors(folder / "kind-0.f2", ENCODER.dimensions, folder / "kind-0-keys.npy")

    def matrix(self, kind: str) -> KindMatrix:
        assert kind == self._kind
        return self._opened.matrix()

    def nearest(
        self, kind: str, vector: Any, k: int, labels: Sequence[str] = (), limit: Limit | None = None
    ) -> list[Candidate]:
        assert kind == self._kind
        found = self._opened.nearest(vector, k, lambda rows, one: np.asarray(rows, dtype=np.float32) @ one)
        return [Candidate(key, score) for key, score in found]


def drawn(counts: Sequence[int], seed: int) -> dict[int, list[NDArray[np.float32]]]:
    """Return as many unit-length vectors for each key as its count says; a count of 0 leaves the key out."""
    source = np.random.default_rng(seed)
    rows: dict[int, list[NDArray[np.float32]]] = {}
    for key, count in enumerate(counts):
        vectors = source.normal(size=(count, ENCODER.dimensions))
        if count:
            rows[key] = list((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32))
    return rows


def oracle(rows: Mapping[int, Sequence[NDArray[np.float32]]], pool: str) -> dict[int, float]:
    """Return the pooled cosine of each key, chunk by chunk in double precision."""
    asked = ENCODER.vector(ASKED.text).astype(np.float64)
    cosines = {
        key: [float(row @ asked / np.linalg.norm(row)) for row in np.array(own, dtype=np.float16).astype(np.float64)]
        for key, own in rows.items()
    }
    return {key: max(own) if pool == "max" else sum(own) / len(own) for key, own in cosines.items()}


@pytest.mark.parametrize("pool", ["max", "mean"])
@given(
    counts=st.lists(st.integers(0, 5), min_size=1, max_size=30), seed=st.integers(0, 1_000), depth=st.integers(1, 40)
)
def test_documents_are_ranked_by_their_best_chunk_or_by_the_mean_of_all(
    tmp_path_factory: pytest.TempPathFactory, pool: str, counts: list[int], seed: int, depth: int
) -> None:
    rows = drawn(counts, seed)
    vectors = ChunkVectors(tmp_path_factory.mktemp("chunks"), CHUNK, rows)
    found = Chunks(ENCODER, vectors, pool=pool, depth=depth)(ASKED, Limit()).ranking  # type: ignore[arg-type]
    known = oracle(rows, pool)
    expected = sorted(known, key=lambda key: (-known[key], key))[:depth]
    assert [found.scores[key] for key in found.keys] == pytest.approx([known[key] for key in expected], abs=1e-5)
    assert len(found) == min(depth, len(rows))


def test_the_mean_reads_the_vectors_in_blocks(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = drawn([3, 1, 4, 1, 5, 2], 7)
    vectors = ChunkVectors(tmp_path, CHUNK, rows)
    whole = Chunks(ENCODER, vectors, pool="mean")(ASKED, Limit()).ranking  # type: ignore[arg-type]
    monkeypatch.setattr(retrieve_chunks, "ROWS_AT_ONCE", 2)
    blocks = Chunks(ENCODER, vectors, pool="mean")(ASKED, Limit()).ranking  # type: ignore[arg-type]
    assert blocks.keys == whole.keys
    assert blocks.scores == pytest.approx(whole.scores, abs=1e-6)


def test_level_means_are_cut_by_key(tmp_path: Any) -> None:
    row = ENCODER.vector("who?")
    vectors = ChunkVectors(tmp_path, CHUNK, {key: [row] for key in range(6)})
    found = Chunks(ENCODER, vectors, pool="mean", depth=2)(ASKED, Limit()).ranking  # type: ignore[arg-type]
    assert found.keys == (0, 1)


def test_passages_are_another_kind_of_chunks(tmp_path: Any) -> None:
    vectors = ChunkVectors(tmp_path, PASSAGE, drawn([2, 2], 1))
    assert len(Chunks(ENCODER, vectors, kind=PASSAGE)(ASKED, Limit()).ranking) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize("pool", ["max", "mean"])
def test_without_chunks_whole_documents_are_compared_and_the_command_is_named(pool: str) -> None:
    documents = {key: ENCODER.vector(f"document {key}") for key in range(4)}
    vectors = MemoryVectors({WHOLE: documents})
    found = Chunks(ENCODER, vectors, pool=pool)(ASKED, Limit())
    assert isinstance(found, Fusion)
    assert found.ranking.keys == Dense(ENCODER, vectors)(ASKED, Limit()).ranking.keys
    assert found.status == "degraded"
    assert "`index_kb NAME --kind chunk` makes them" in found.detail


def test_without_any_vectors_it_fails_with_a_sentence() -> None:
    with pytest.raises(StageError, match="has no vectors") as failed:
        Chunks(ENCODER, MemoryVectors({}))(ASKED, Limit())
    assert failed.value.permanent


def test_documents_are_compared_without_relations_where_there_are_such_vectors() -> None:
    near, far = ENCODER.vector(ASKED.text), -ENCODER.vector(ASKED.text)
    vectors = MemoryVectors({WHOLE: {0: near, 1: far}, DOCUMENT: {0: far, 1: near}})
    assert Dense(ENCODER, vectors)(ASKED, Limit()).ranking.keys == (0, 1)
    plain = Dense(ENCODER, vectors, relations=False)(ASKED, Limit())
    assert plain.ranking.keys == (1, 0)
    assert not isinstance(plain, Fusion)


def test_without_such_vectors_relations_are_compared_too_and_that_is_said() -> None:
    vectors = MemoryVectors({WHOLE: {0: ENCODER.vector("a"), 1: ENCODER.vector("b")}})
    plain = Dense(ENCODER, vectors, relations=False)(ASKED, Limit())
    assert isinstance(plain, Fusion)
    assert plain.ranking.keys == Dense(ENCODER, vectors)(ASKED, Limit()).ranking.keys
    assert (plain.status, plain.detail) == ("degraded", NO_PLAIN_DOCUMENTS)
