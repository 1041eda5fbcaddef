"""The signals of the neighbourhood, against loops over a small graph."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.adapters import adjacency_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.text_bm25 import Bm25Index, Document, build
from search.domain.graph import NodeType, Relation, Schema
from search.domain.question import Question
from search.language.entities import Entity
from search.signals.lists import Head
from search.signals.neighbours import MOST_EDGES, Near, near, neighbour_signals
from search.signals.words import word_signals
from tests.graphs import edge_arrays

NODES = 8
SCHEMA = Schema((NodeType("film"),), (Relation("a"), Relation("b")), ())
EDGES = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, 1), st.integers(0, NODES - 1)), max_size=20, unique=True
)


def graph(folder: Path, edges: list[tuple[int, int, int]], nodes: int = NODES) -> MemmapAdjacency:
    folder.mkdir(parents=True, exist_ok=True)
    columns = np.array(edges, dtype=np.int32).reshape(-1, 3)
    adjacency_memmap.build(
        folder,
        nodes=nodes,
        types=np.zeros(nodes, np.int16),
        relations=2,
        edges=edge_arrays(source=columns[:, 0], relation=columns[:, 1], target=columns[:, 2]),
    )
    return MemmapAdjacency(folder, SCHEMA)


def head(name: str, scores: dict[int, float]) -> Head:
    keys = np.array(list(scores), dtype=np.int32)
    return Head(name, keys, np.array(list(scores.values()), np.float32), np.zeros(len(keys), np.int16))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=EDGES, named=st.sets(st.integers(0, NODES - 1), max_size=3))
def test_neighbours_of_neighbours_count_as_in_a_loop(
    tmp_path: Path, edges: list[tuple[int, int, int]], named: set[int]
) -> None:
    adjacency = graph(tmp_path, edges)
    around: dict[int, list[int]] = defaultdict(list)
    for source, _, target in edges:
        around[source].append(target)
        around[target].append(source)
    entities = [Entity(0, 1, "x", (key,), 0.5) for key in sorted(named)]
    listed = {0: 3.0, 1: 2.0, 2: 1.0}
    keys = np.arange(NODES, dtype=np.int32)
    columns = neighbour_signals(entities, [head("bm25", listed)], keys, near(keys, adjacency), adjacency)
    weight = {"named": dict.fromkeys(named, 0.5), "words": {0: 1.0, 1: 0.55, 2: 0.1}}
    for kind, seeds in weight.items():
        for key in range(NODES):
            mine = around[key]
            assert columns[f"{kind}:best at 1 hop"][key] == pytest.approx(
                max((seeds.get(n, 0.0) for n in mine), default=0)
            )
            assert columns[f"{kind}:sum at 1 hop"][key] == pytest.approx(sum(seeds.get(n, 0.0) for n in mine))
            two = [(n, s) for n in mine for s in around[n]]
            assert columns[f"{kind}:best at 2 hops"][key] == pytest.approx(
                max((seeds.get(s, 0.0) for _, s in two), default=0)
            )
            hubs = sum(seeds.get(s, 0) / math.sqrt(len(around[s])) / math.log2(2 + len(around[n])) for n, s in two)
            assert columns[f"{kind}:sum at 2 hops"][key] == pytest.approx(hubs, rel=1e-4, abs=1e-6)
    for key in range(NODES):
        one = named & set(around[key])
        both = one | {s for n in around[key] for s in around[n] if s in named}
        assert columns["names at 1 hop"][key] == len(one)
        assert columns["names at 2 hops"][key] == len(both)
        assert columns["degree"][key] == pytest.approx(math.log1p(len(around[key])))
        assert columns["named:itself"][key] == pytest.approx(0.5 if key in named else 0)


def test_of_a_hub_edges_at_equal_distances_are_read(tmp_path: Path) -> None:
    leaves = 10 * MOST_EDGES
    adjacency = graph(tmp_path, [(0, 0, 1 + at) for at in range(leaves)], nodes=leaves + 1)
    found = near(np.array([0, 5], dtype=np.int32), adjacency)
    assert found.degrees.tolist() == [leaves, 1]
    assert found.far[:MOST_EDGES].tolist() == list(range(1, leaves + 1, 10))
    assert found.far[MOST_EDGES:].tolist() == [0]


def test_the_words_of_a_question_are_covered_by_a_document_and_its_neighbours(tmp_path: Path) -> None:
    texts = ["amber road", "birch", "clay", "amber birch birch"]
    build(tmp_path, map(Document, texts), np.zeros(4, np.int16))
    index = Bm25Index(tmp_path, SCHEMA)
    keys = np.array([0, 2], dtype=np.int32)
    around = Near(np.array([0, 2, 2]), np.array([1, 3], dtype=np.int32), np.array([2, 0]))
    columns = word_signals(Question("amber birch clay zebra"), keys, around, index)
    by_key = {one.key: one.score for one in index.search("amber birch clay zebra", 4)}
    assert columns["words:score"].tolist() == pytest.approx([by_key[0], by_key[2]], rel=1e-5)
    assert columns["words:best score at 1 hop"].tolist() == pytest.approx([max(by_key[1], by_key[3]), 0], rel=1e-5)
    idf = {word: math.log(1 + (4 - n + 0.5) / (n + 0.5)) for word, n in {"amber": 2, "birch": 2, "clay": 1}.items()}
    total = sum(idf.values())
    assert columns["words:covered"].tolist() == pytest.approx([idf["amber"] / total, idf["clay"] / total], rel=1e-5)
    near_both = [(idf["amber"] + idf["birch"]) / total, 0]
    assert columns["words:covered by neighbours"].tolist() == pytest.approx(near_both, rel=1e-5)
    assert columns["words:covered by both"].tolist() == pytest.approx([near_both[0], idf["clay"] / total], rel=1e-5)
    assert word_signals(Question("zebra"), keys, around, index) == {}
