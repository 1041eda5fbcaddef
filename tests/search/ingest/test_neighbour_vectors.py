"""Means of neighbours' vectors against sums written out by hand, node by node."""

from __future__ import annotations

import numpy as np
import pytest

from search.domain.graph import NodeType, Relation, Schema
from search.ingest.neighbour_vectors import blocks, links, means

EDGES = ((0, 1), (1, 2), (1, 2), (2, 1), (3, 1), (3, 3), (4, 4))
"""A hub 1 with the neighbours 0, 2 and 3, joined to 2 three times; loops at 3 and 4; 5 stands alone."""
DOCUMENTS = np.eye(6, dtype=np.float16)


class Joined:
    """The two arrays of `Adjacency.whole` for EDGES."""

    schema = Schema((NodeType("thing", 6),), (Relation("joins"),), ())
    size = 6

    def whole(self, direction: str) -> tuple[np.ndarray, np.ndarray]:
        pairs = sorted(EDGES if direction == "out" else [(b, a) for a, b in EDGES])
        starts = np.searchsorted([a for a, _ in pairs], np.arange(7))
        return starts.astype(np.int64), np.array([b for _, b in pairs], dtype=np.int32)


@pytest.fixture(scope="module")
def found() -> dict[str, np.ndarray]:
    return means(DOCUMENTS, links(Joined()))  # type: ignore[arg-type]


def test_parallel_edges_count_once_and_loops_not_at_all(found: dict[str, np.ndarray]) -> None:
    third = 1 / 3
    expected = [[0, 1, 0, 0, 0, 0], [third, 0, third, third, 0, 0], *[[0, 1, 0, 0, 0, 0]] * 2, [0] * 6, [0] * 6]
    np.testing.assert_allclose(found["neighbours"], expected, atol=1e-6)


def test_two_hops_never_come_back_to_the_node_itself(found: dict[str, np.ndarray]) -> None:
    half = 1 / 2
    # The hub's neighbours lead nowhere but back to it, so it has no vector at two hops.
    expected = [[0, 0, half, half, 0, 0], [0] * 6, [half, 0, 0, half, 0, 0], [half, 0, half, 0, 0, 0], [0] * 6, [0] * 6]
    np.testing.assert_allclose(found["neighbours2"], expected, atol=1e-6)


def test_only_nodes_with_a_mean_are_written_and_their_rows_have_unit_length(found: dict[str, np.ndarray]) -> None:
    (block,) = blocks(found["neighbours"])
    assert block[0].tolist() == [0, 1, 2, 3]
    assert np.linalg.norm(block[1].astype(np.float32), axis=1) == pytest.approx(1, abs=1e-3)
    (block,) = blocks(found["neighbours2"])
    assert block[0].tolist() == [0, 2, 3]
