"""Signals of nodes themselves, by hand."""

import math
from pathlib import Path

import numpy as np

from search.adapters import adjacency_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.graph import NodeType, Relation, Schema
from search.signals.kind_of_node import node_signals
from search.signals.titles import signal_title, signal_value
from tests.graphs import edge_arrays

SCHEMA = Schema((NodeType("film"), NodeType("person")), (Relation("made by"), Relation("knows")), ())


def test_edges_are_counted_by_relation_and_places_are_among_the_own_type(tmp_path: Path) -> None:
    # 0, 1, 2 are films; 3, 4 are persons.
    edges = np.array([(0, 0, 3), (0, 0, 4), (0, 1, 3), (1, 3, 4), (1, 4, 3), (1, 4, 0)])
    types = np.array([0, 0, 0, 1, 1], dtype=np.int16)
    adjacency_memmap.build(
        tmp_path,
        nodes=5,
        types=types,
        relations=2,
        edges=edge_arrays(source=edges[:, 1], relation=edges[:, 0], target=edges[:, 2]),
    )
    keys = np.array([0, 2, 3, 4], dtype=np.int32)
    found = node_signals(keys, MemmapAdjacency(tmp_path, SCHEMA))
    assert found["is:film"].tolist() == [1, 1, 0, 0]
    assert found["is:person"].tolist() == [0, 0, 1, 1]
    counts = {name: np.expm1(column).round(4).tolist() for name, column in found.items() if name.startswith("edges:")}
    assert counts == {
        "edges:made by:out": [2, 0, 0, 0], "edges:made by:in": [0, 0, 2, 1],
        "edges:knows:out": [0, 0, 1, 2], "edges:knows:in": [1, 0, 1, 1],
    }  # fmt: skip
    # Films have 3, 1 and 0 edges; persons 4 and 4, so the key decides.
    np.testing.assert_allclose(found["degree:place"], [0, math.log(3), 0, math.log(2)], rtol=1e-6)


def test_titles_and_values_are_for_people() -> None:
    assert signal_title("is:gene_protein") == "It is a gene protein"
    assert signal_title("edges:MADE_BY:in") == "Number of its relations “made by”, to it"
    assert signal_title("list:passages/clauses:rank") == "Rank in the list Passages, clause by clause"
    assert signal_title("list:document/dense:score") == "Score in the list Document, by meaning"
    assert signal_title("list:fused:rank") == "Rank in the list Joined list"
    assert signal_title("list:text:rank", {"text": "Document text"}) == "Rank in the list Document text"
    assert signal_title("list:of another site:rank") == "Rank in the list of another site"
    assert signal_value("edges:MADE_BY:in", math.log1p(7)) == "7"
    assert signal_value("degree:place", math.log(3)) == "3"
