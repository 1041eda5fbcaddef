"""Similarity edges: thresholds by hand, neighbours held against all pairs in plain Python, going on after a stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from search.domain.graph import Field, Node, NodeType, Schema
from search.domain.run_context import UNOBSERVED, RunCancelled, RunContext
from search.domain.similarity import SimilarSettings, by_degree
from search.domain.trace import Limit
from search.ingest.similar import link as linking
from search.ingest.similar import signals
from search.ingest.similar.best import SimilarFound, best_of
from search.ingest.similar.link import SimilarRows, drawn_pairs, link
from search.ingest.similar.signals import Signal, ValueSignal, VectorSignal
from search.ingest.similar.signals_of_nodes import signals_of, taking_part
from search.interfaces import KindMatrix

TEXTED = (Field("plot", "text"), Field("tags", "keyword", many=True))
SCHEMA = Schema((NodeType("film", fields=TEXTED), NodeType("book", fields=TEXTED)), (), ())
CORNER = [(1.0, 0.0), (1.0, 0.0), (0.6, 0.8), (0.0, 1.0)]
"""Cosines: 0–1 1, 0–2 and 1–2 0.6, 2–3 0.8, 0–3 and 1–3 0; sorted 0, 0, 0.6, 0.6, 0.8, 1."""


class InMemory:
    """Checkpoints that outlive a run (run_context.Checkpoints)."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def save(self, name: str, content: bytes) -> None:
        self.kept[name] = content

    def load(self, name: str) -> bytes | None:
        return self.kept.get(name)


def of_vectors(rows: Sequence[Sequence[float]] | NDArray[np.float64], name: str = "content") -> VectorSignal:
    matrix = np.array(rows, dtype=np.float16)
    return VectorSignal(name, np.arange(len(matrix), dtype=np.int32), matrix, np.arange(len(matrix)))


def of_values(rows: Sequence[set[int]]) -> ValueSignal:
    """A signal of the values of each node; nodes without a value are not known to it."""
    known = np.array([key for key, own in enumerate(rows) if own], dtype=np.int32)
    dense = np.zeros((len(known), 1 + max((value for own in rows for value in own), default=0)), dtype=np.float32)
    for at, key in enumerate(known):
        dense[at, list(rows[key])] = 1
    return ValueSignal("topics", known, csr_array(dense))


def linked(
    several: Sequence[Signal],
    count: int,
    types: Sequence[int] | None = None,
    run: RunContext = UNOBSERVED,
    **chosen: object,
) -> SimilarRows:
    codes = np.array([0] * count if types is None else types, dtype=np.int16)
    return link(several, np.arange(count, dtype=np.int32), codes, SCHEMA, SimilarSettings(**chosen), run)  # type: ignore[arg-type]


def edges(rows: SimilarRows) -> set[tuple[int, int]]:
    return {(int(key), int(far)) for key, own in zip(rows.keys, rows.far, strict=True) for far in own if far >= 0}


@pytest.mark.parametrize(
    ("percentile", "threshold", "expected"),
    [
        (50, 0.6, {(0, 1), (1, 0), (2, 3), (3, 2)}),
        (80, 0.8, {(0, 1), (1, 0)}),
        (90, 0.9, {(0, 1), (1, 0)}),  # halfway between 0.8 and 1
        (100, 1.0, set()),
    ],
)
def test_a_pair_is_linked_above_the_percentile_of_all_pairs(
    percentile: float, threshold: float, expected: set[tuple[int, int]]
) -> None:
    rows = linked([of_vectors(CORNER)], 4, percentile=percentile)
    [told] = rows.thresholds
    assert told.threshold == pytest.approx(threshold, abs=1e-3)
    assert (told.pairs, told.every, told.edges) == (6, True, len(expected))
    assert edges(rows) == expected


def test_any_signal_is_enough() -> None:
    # Shared values: 0 and 3 have the same two, 1 and 2 one of three. Sorted: 0, 0, 0, 0, 1/3, 1; the percentile is 1/6.
    topics = of_values([{1, 2}, {3, 4}, {4, 5}, {1, 2}])
    alone = linked([of_vectors(CORNER)], 4, percentile=70)
    both = linked([of_vectors(CORNER), topics], 4, percentile=70)
    assert edges(both) == edges(alone) | {(0, 3), (3, 0), (1, 2), (2, 1)}
    assert edges(alone) == {(0, 1), (1, 0), (2, 3), (3, 2)}
    assert [one.edges for one in both.thresholds] == [4, 4]
    assert [one.threshold for one in both.thresholds] == pytest.approx([0.7, 1 / 6], abs=1e-3)


def test_a_node_keeps_its_strongest_neighbours_only() -> None:
    # The median of the 15 cosines is that of 6 degrees, which 2 and 8 degrees do not exceed.
    angles = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 90.0])
    rows = linked([of_vectors(np.stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))], axis=1))], 6,
                  percentile=50, neighbours=2)  # fmt: skip
    assert [own.tolist() for own in rows.far[:5]] == [[1, 2], [0, 2], [1, 0], [2, 1], [3, -1]]
    assert (np.diff(rows.strength, axis=1) <= 0).all()
    assert rows.strength.max() <= 1


def oracle(
    matrices: Sequence[NDArray[np.float64]], types: Sequence[int], percentile: float, most: int, across: bool
) -> dict[int, list[int]]:
    """Return key → neighbours, from the whole matrices of similarities (nan: a node has no such signal)."""
    count = len(types)
    best: dict[tuple[int, int], float] = {}
    for matrix in matrices:
        for one in sorted(set(types)):
            for other in sorted(set(types)):
                if one > other or (one != other and not across):
                    continue
                pairs = [(i, j) for i in range(count) for j in range(count)
                         if i != j and types[i] == one and types[j] == other and (one != other or i < j)
                         and not np.isnan(matrix[i, j])]  # fmt: skip
                if not pairs:
                    continue
                threshold = np.percentile([matrix[pair] for pair in pairs], percentile)
                for i, j in pairs:
                    if matrix[i, j] > threshold:
                        strength = float(np.float32((matrix[i, j] - threshold) / (1 - threshold)))
                        for pair in ((i, j), (j, i)):
                            best[pair] = max(best.get(pair, 0.0), strength)
    found: dict[int, list[int]] = {}
    for key in range(count):
        own = sorted((-strength, far) for (near, far), strength in best.items() if near == key)
        found[key] = [far for _, far in own[:most]]
    return found


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_edges_are_those_of_all_pairs(seed: int, across: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "ROWS", 7)
    generator = np.random.default_rng(seed)
    count, types = 60, sorted(generator.integers(0, 2, 60).tolist())
    content, title = (of_vectors(generator.normal(size=(count, 6)), name) for name in ("content", "title"))
    said = [set(generator.integers(0, 12, generator.integers(0, 4)).tolist()) for _ in range(count)]
    matrices = []
    for signal in (content, title):
        rows = signal.matrix.astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        matrices.append((rows @ rows.T).round(6).astype(np.float64))
    jaccard = np.full((count, count), np.nan)
    for i in range(count):
        for j in range(count):
            if said[i] and said[j]:
                jaccard[i, j] = np.float32(round(len(said[i] & said[j]) / len(said[i] | said[j]), 6))
    found = linked([content, title, of_values(said)], count, types, percentile=90, neighbours=4, across=across)
    expected = oracle([*matrices, jaccard], types, 90, 4, across)
    assert {
        int(key): [int(f) for f in own if f >= 0] for key, own in zip(found.keys, found.far, strict=True)
    } == expected
    if not across:
        assert all(types[near] == types[far] for near, far in edges(found))


def test_work_that_was_stopped_goes_on_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "ROWS", 10)
    monkeypatch.setattr(linking, "BLOCKS_A_CHECKPOINT", 2)
    generator = np.random.default_rng(5)
    several: list[Signal] = [of_vectors(generator.normal(size=(100, 6)), name) for name in ("content", "title")]
    whole = linked(several, 100, percentile=80)
    kept, stops = InMemory(), 0
    for patience in (12, 20, 28, 10_000):
        left = iter(range(patience))
        run = RunContext(limit=Limit(cancelled=lambda left=left: next(left, None) is None), checkpoints=kept)  # type: ignore[misc]
        before = dict(kept.kept)
        try:
            resumed = linked(several, 100, run=run, percentile=80)
        except RunCancelled:
            stops += 1
        assert before.items() <= kept.kept.items()
    assert stops >= 2
    assert len(kept.kept) == 10
    for name in ("far", "strength", "signal"):
        assert np.array_equal(getattr(whole, name), getattr(resumed, name))
    assert resumed.thresholds == whole.thresholds


def test_in_a_large_base_cells_find_nearly_all_neighbours_and_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(11)
    centres = generator.normal(size=(40, 16))
    vectors = centres[generator.integers(0, 40, 3_000)] + 0.6 * generator.normal(size=(3_000, 16))
    exact = linked([of_vectors(vectors)], 3_000, neighbours=5)
    monkeypatch.setattr(signals, "EXACT", 100)
    by_cells = linked([of_vectors(vectors)], 3_000, neighbours=5)
    assert len(edges(exact) & edges(by_cells)) / len(edges(exact)) > 0.97
    assert np.array_equal(by_cells.far, linked([of_vectors(vectors)], 3_000, neighbours=5).far)


def test_drawn_pairs_are_seeded_and_never_of_one_node_with_itself() -> None:
    places = np.arange(100)
    near, far, every = drawn_pairs(places, places, 1_000, (1, 2))
    assert (len(near), every) == (1_000, False)
    assert (near != far).all()
    again = drawn_pairs(places, places, 1_000, (1, 2))
    assert np.array_equal(near, again[0])
    assert np.array_equal(far, again[1])
    assert not np.array_equal(near, drawn_pairs(places, places, 1_000, (1, 3))[0])
    near, far, every = drawn_pairs(np.arange(3), np.arange(3), 1_000, (1,))
    assert every
    assert list(zip(near, far, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    near, far, every = drawn_pairs(np.arange(2), np.arange(5, 7), 1_000, (1,))
    assert every
    assert list(zip(near, far, strict=True)) == [(0, 5), (0, 6), (1, 5), (1, 6)]


def test_a_drawn_percentile_is_near_that_of_all_pairs() -> None:
    rows = np.random.default_rng(3).normal(size=(400, 8))
    [every], [drawn] = (linked([of_vectors(rows)], 400, pairs=pairs).thresholds for pairs in (100_000, 20_000))
    assert every.every
    assert not drawn.every
    assert drawn.threshold == pytest.approx(every.threshold, abs=0.02)


def test_equal_similarities_are_kept_in_the_order_of_keys() -> None:
    found = best_of(SimilarFound(np.array([1, 0, 0, 0], np.int32), np.array([9, 7, 3, 5], np.int32),
                          np.array([0.1, 0.5, 0.5, 0.9], np.float32)), 2)  # fmt: skip
    assert list(zip(found.near.tolist(), found.far.tolist(), strict=True)) == [(0, 5), (0, 3), (1, 9)]


def test_nodes_with_enough_text_of_the_chosen_types_take_part() -> None:
    long = "one two three four five six seven eight"
    nodes = [
        Node(0, "a", "film", "A", fields={"plot": long, "tags": ["Noir", "sea"]}),
        Node(1, "b", "film", "B", fields={"plot": "too short", "tags": "noir"}),
        Node(2, "c", "book", "C", fields={"plot": f"{long} nine", "tags": ["noir ", ""]}),
        Node(3, "d", "book", "D", fields={"plot": long}),
    ]
    part = taking_part([nodes[:2], nodes[2:]], SCHEMA, SimilarSettings())
    assert (part.keys.tolist(), part.types.tolist()) == ([0, 2, 3], [0, 1, 1])
    assert part.values.toarray().tolist() == [[1, 1], [1, 0], [0, 0]]
    assert taking_part([nodes], SCHEMA, SimilarSettings(types=("book",))).keys.tolist() == [2, 3]
    assert taking_part([nodes], SCHEMA, SimilarSettings(least_words=1)).keys.tolist() == [0, 1, 2, 3]
    matrix = KindMatrix(np.arange(4, dtype=np.int32), np.eye(4, dtype=np.float16))
    plots = KindMatrix(np.array([0, 3], dtype=np.int32), np.eye(2, dtype=np.float16))
    made = signals_of(part, {"document+relations": matrix, "name": matrix, "field:plot": plots})
    assert [(one.name, one.keys.tolist()) for one in made] == [
        ("content", [0, 2, 3]), ("title", [0, 2, 3]), ("field:plot", [0, 3]), ("topics", [0, 2]),
    ]  # fmt: skip


def test_degrees_are_counted_in_ranges() -> None:
    counted = by_degree([0, 1, 4, 5, 25, 26])
    assert {name: count for name, count in counted.items() if count} == {
        "0": 1,
        "1–4": 2,
        "5–9": 1,
        "20–25": 1,
        "more": 1,
    }
