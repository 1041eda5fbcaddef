"""Neighbourhoods against sums over every node and word, written as loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from search.adapters import adjacency_memmap, text_bm25
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.adapters.text_bm25 import Bm25Index
from search.domain.graph import NodeType, Relation, Schema
from search.fields.neighbourhood import neighbourhood_scores
from tests.graphs import edge_arrays

TEXTS = ("amber road", "birch street lamp", "ann amber", "lamp lamp", "quiet", "road street amber")
EDGES = ((0, 1), (1, 2), (1, 2), (3, 1), (5, 3))
SCHEMA = Schema((NodeType("thing", 6),), (Relation("joins"),), ())


def test_each_word_counts_once_by_its_best_place_among_a_node_and_its_neighbours(tmp_path: Path) -> None:
    for part in ("text", "graph"):
        (tmp_path / part).mkdir()
    types = np.zeros(6, dtype=np.int16)
    text_bm25.build(tmp_path / "text", map(text_bm25.Document, TEXTS), types)
    source, target = np.array(EDGES).T
    adjacency_memmap.build(
        tmp_path / "graph",
        nodes=6,
        types=types,
        relations=1,
        edges=edge_arrays(source=source, relation=np.zeros(5, dtype=np.int64), target=target),
    )
    text = Bm25Index(tmp_path / "text", SCHEMA)
    near: dict[int, set[int]] = {key: set() for key in range(6)}
    for a, b in EDGES:
        near[a].add(b)
        near[b].add(a)
    words = [{c.key: c.score for c in text.search(word, 6)} for word in ("amber", "lamp", "street")]
    expected = [sum(max(word.get(o, 0) for o in {key, *near[key]}) for word in words) for key in range(6)]
    best = [max((expected[other] for other in near[key]), default=0) for key in range(6)]
    # A word that is said twice, and one that is nowhere, change nothing.
    whole, neighbours = neighbourhood_scores(
        "the amber lamp in a street of lamps and zebras", text, MemmapAdjacency(tmp_path / "graph", SCHEMA)
    )
    np.testing.assert_allclose(whole, expected, rtol=1e-6)
    np.testing.assert_allclose(neighbours, best, rtol=1e-6)
    assert expected[4] == best[4] == 0
